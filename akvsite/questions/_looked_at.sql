-- Which sign does a run carry that it was looked at while it ran, whatever level it declares?
--
-- The first sign of these: a profiler that its capture names as its tool; steps that only a probe or a profiler draws; rows of a
-- level above off, or that come out of one (device milestones of tokens, samples of clocks and of memory); files of a tool that
-- looks on; what a capture writes of its own recorders; an experiment, or a timed command, of a level above off; a switch that
-- lets a runtime write down its calls; an engine that was told to record device times.
--
-- @run_id  the run
-- @sign    the sign, in words; NULL where there is none
SELECT r.id AS run_id,
       CASE WHEN EXISTS (
                SELECT 1 FROM run_fact f
                WHERE f.run_id = r.id AND f.part = 'capture'
                  AND (f.key IN ('tool', 'tools', 'profiler') OR f.key LIKE 'tool.%' OR f.key LIKE 'tools.%')
                  AND (f.value LIKE '%prof%' OR f.value LIKE '%kineto%' OR f.value LIKE '%nsight%'
                       OR f.value LIKE '%nsys%' OR f.value LIKE 'ncu%' OR f.value LIKE '%cupti%'
                       OR f.value LIKE '%trace%' OR f.value LIKE '%tracing%' OR f.value LIKE '%vtune%'
                       OR f.value LIKE '%py-spy%' OR f.value LIKE '%scalene%' OR f.value LIKE '%ebpf%'
                       OR f.value LIKE 'perf' OR f.value LIKE 'perf %')) THEN 'its capture names a profiler as its tool'
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
                  AND (f.key GLOB 'edge.*' OR f.key GLOB 'probe.*' OR f.key GLOB 'memory_sampling*'
                       OR f.key = 'experiment' AND f.value IN ('probe', 'tracer')))
                THEN 'its capture tells of recorders of its own'
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
                       OR f.key IN ('environment.ZE_ENABLE_TRACING_LAYER', 'environment.ZET_ENABLE_PROGRAM_INSTRUMENTATION')
                           AND f.value LIKE '%1%'
                       OR f.key IN ('environment.CUDA_INJECTION64_PATH', 'environment.NVTX_INJECTION64_PATH',
                                    'environment.HSA_TOOLS_LIB') AND f.value <> ''
                       OR f.key = 'environment.LD_PRELOAD' AND f.value LIKE '%libakv_%'))
                THEN 'a tracer was switched on in its environment'
            WHEN EXISTS (
                SELECT 1 FROM run_fact f
                WHERE f.run_id = r.id AND f.part = 'contract' AND f.key IN ('engine.device_records', 'engine.profile_steps')
                  AND f.value NOT IN ('', 'none'))
                THEN 'its engine was told to record device times' END AS sign
FROM run r
