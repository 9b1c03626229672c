-- Which sign does a run carry that it was looked at while it ran, whatever level it declares?
--
-- The first sign of these: a profiler that its capture names as its tool, or says that it was on; steps that only a probe or
-- a profiler draws; rows of a level above off, or that come out of one (device milestones of tokens, samples of clocks and of
-- memory); files of a tool that looks on; what a capture writes of its own recorders; an experiment, or a timed command, of a
-- level above off; a switch that lets a runtime write down its calls, or a tracer's library that was preloaded (the recorder
-- refuses the same before a run, `akvsite/record/software.py`); an engine that was told to record device times.
--
-- @run_id  the run
-- @sign    the sign, in words; NULL where there is none
WITH looker(pattern) AS (
    -- Part of a word, or, of what is short, a word of its own: `time.perf_counter_ns` reads a clock.
    VALUES ('%prof%'), ('%trace%'), ('%tracing%'), ('%kineto%'), ('%nsight%'), ('%nsys%'), ('%cupti%'), ('%xpti%'), ('%libpti%'),
    ('%vtune%'), ('%advisor%'), ('%py spy%'), ('%pyspy%'), ('%scalene%'), ('%bpf%'), ('%perfetto%'), ('%omniperf%'),
    ('%valgrind%'), ('%vgpreload%'), ('%callgrind%'), ('%cachegrind%'), ('%massif%'), ('%helgrind%'), ('%heaptrack%'),
    ('%likwid%'), ('%score p%'), ('%scorep%'), ('%memray%'), ('%pyinstrument%'), ('%yappi%'), ('%hpctoolkit%'), ('%lttng%'),
    ('%systemtap%'), ('%libtau%'), ('%libpapi%'),
    ('% perf %'), ('% ncu %'), ('% tau %'), ('% austin %'), ('% tracy %'), ('% papi %'), ('% pti %'), ('% extrae %'),
    ('% caliper %')
)
SELECT r.id AS run_id,
       CASE WHEN EXISTS (
                SELECT 1 FROM run_fact f
                WHERE f.run_id = r.id AND f.part = 'capture'
                  AND (lower(f.key) IN ('tool', 'tools', 'profiler', 'profiling', 'tracer', 'tracing')
                       OR f.key LIKE 'tool.%' OR f.key LIKE 'tools.%' OR f.key LIKE 'profiler.%'
                       OR f.key LIKE 'profiling.%' OR f.key LIKE 'tracer.%' OR f.key LIKE 'tracing.%')
                  AND (lower(f.key) NOT LIKE 'tool%' AND lower(trim(f.value)) NOT IN ('', '0', 'off', 'false', 'no', 'none')
                       OR EXISTS (
                           SELECT 1 FROM looker w
                           WHERE ' ' || replace(replace(replace(replace(replace(lower(f.value), '-', ' '), ',', ' '), '(', ' '), ')',
                                                        ' '), '/', ' ') || ' ' LIKE w.pattern)))
                THEN 'its capture names a profiler as its tool'
            WHEN EXISTS (
                SELECT 1 FROM step s
                WHERE s.run_id = r.id AND (s.source NOT IN ('engine counter', 'client') OR s.kind = 'profiler'))
                THEN 'its steps were drawn by a probe or a profiler'
            WHEN EXISTS (SELECT 1 FROM level1_runner t WHERE t.run_id = r.id) THEN 'it holds rows of level runner'
            WHEN EXISTS (SELECT 1 FROM level2_host t WHERE t.run_id = r.id) THEN 'it holds rows of level host'
            WHEN EXISTS (SELECT 1 FROM level3_device t WHERE t.run_id = r.id)
                OR EXISTS (SELECT 1 FROM clock_sample t WHERE t.run_id = r.id)
                OR EXISTS (SELECT 1 FROM clock_bound t WHERE t.run_id = r.id)
                OR EXISTS (
                    SELECT 1 FROM token t
                    WHERE t.run_id = r.id AND coalesce(t.device_first_ns, t.device_last_ns, t.device_bound_ns) IS NOT NULL)
                THEN 'it holds times of level device'
            WHEN EXISTS (SELECT 1 FROM level4_edge t WHERE t.run_id = r.id)
                OR EXISTS (SELECT 1 FROM edge_wait t WHERE t.run_id = r.id)
                OR EXISTS (SELECT 1 FROM seen t WHERE t.run_id = r.id)
                OR EXISTS (SELECT 1 FROM link t WHERE t.run_id = r.id)
                OR EXISTS (SELECT 1 FROM same_call t WHERE t.run_id = r.id) THEN 'it holds calls of level edge'
            WHEN EXISTS (SELECT 1 FROM memory_event t WHERE t.run_id = r.id)
                OR EXISTS (SELECT 1 FROM memory_segment t WHERE t.run_id = r.id)
                OR EXISTS (SELECT 1 FROM memory_block t WHERE t.run_id = r.id)
                OR EXISTS (SELECT 1 FROM memory_sample t WHERE t.run_id = r.id)
                THEN 'its memory was recorded'
            WHEN EXISTS (
                SELECT 1 FROM ingest i
                WHERE i.run_id = r.id AND i.format NOT IN ('capture.toml', 'level file', 'akvlog', 'vllm_bench'))
                THEN 'it has a file of a tool that looks on'
            WHEN EXISTS (
                SELECT 1 FROM run_fact f
                WHERE f.run_id = r.id AND f.part = 'capture'
                  AND (f.key GLOB 'edge.*' OR f.key GLOB 'probe.*' OR f.key GLOB 'memory_sampling*' OR f.key = 'tracers_switched_on'
                       OR f.key = 'experiment' AND f.value IN ('probe', 'tracer')))
                THEN 'its capture tells of recorders of its own, or that a tracer was switched on around it'
            WHEN EXISTS (
                SELECT 1 FROM trial t
                WHERE t.run_id = r.id
                  AND (t.treatment IN ('runner', 'host', 'device', 'edge')
                       OR t.treatment LIKE 'capture at level %' AND t.treatment <> 'capture at level off'))
                THEN 'its repetitions were timed at a level above off'
            WHEN EXISTS (
                SELECT 1 FROM run_fact f
                WHERE f.run_id = r.id AND f.part = 'software'
                  AND (f.key = 'environment.UR_ENABLE_LAYERS' AND f.value LIKE '%tracing%'
                       OR f.key IN ('environment.SYCL_UR_TRACE', 'environment.SYCL_PI_TRACE') AND f.value GLOB '*[1-9-]*'
                       OR f.key = 'environment.XPTI_TRACE_ENABLE' AND (f.value LIKE '%1%' OR f.value LIKE '%true%')
                       OR f.key IN ('environment.ZE_ENABLE_TRACING_LAYER', 'environment.ZET_ENABLE_API_TRACING_EXP',
                                    'environment.ZET_ENABLE_PROGRAM_INSTRUMENTATION', 'environment.COMPUTE_PROFILE',
                                    'environment.CUDA_PROFILE') AND f.value LIKE '%1%'
                       OR f.key IN ('environment.CUDA_INJECTION32_PATH', 'environment.CUDA_INJECTION64_PATH',
                                    'environment.NVTX_INJECTION32_PATH', 'environment.NVTX_INJECTION64_PATH',
                                    'environment.HSA_TOOLS_LIB', 'environment.ROCP_TOOL_LIB', 'environment.ROCP_TOOL_LIBRARIES',
                                    'environment.ROCPROFILER_LIBRARY_PATH', 'environment.OMP_TOOL_LIBRARIES',
                                    'environment.INTEL_LIBITTNOTIFY64', 'environment.INTEL_JIT_PROFILER64',
                                    'environment.NSYS_PROFILING_SESSION_ID', 'environment.LD_AUDIT', 'environment.LD_PROFILE')
                           AND f.value <> ''
                       OR f.key = 'environment.AKV_LEVEL'
                           AND (f.value LIKE '%runner%' OR f.value LIKE '%host%' OR f.value LIKE '%device%'
                                OR f.value LIKE '%edge%')
                       OR f.key = 'environment.LD_PRELOAD'
                           AND (f.value LIKE '%akv%' OR f.value LIKE '%inject%'
                                OR EXISTS (SELECT 1 FROM looker w WHERE f.value LIKE w.pattern))))
                THEN 'a tracer was switched on in its environment'
            WHEN EXISTS (
                SELECT 1 FROM run_fact f
                WHERE f.run_id = r.id AND f.part = 'contract' AND f.key IN ('engine.device_records', 'engine.profile_steps')
                  AND f.value NOT IN ('', 'none'))
                THEN 'its engine was told to record device times' END AS sign
FROM run r
