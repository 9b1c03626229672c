-- What may the numbers of a run be used for?
--
-- The rules are here and nowhere else. Speed is stated only from level off on a proof host, with timing events off, a
-- stated contract, and steps that no profiler drew. A run at level off that lacks one of these may be compared with a
-- run under the same load. Every other run carries structure: it was looked at while it ran, which a profiler named as
-- its tool, or steps that only a profiler sees (`profiler step`, `engine annotation`), say as well as its level does.
-- An excluded run is used for nothing.
--
-- @run_id     the run
-- @level      capture level, by name
-- @role       role of its host
-- @use        `speed`, `comparison under the same load`, `structure` or `nothing`
-- @because    why, in words
SELECT v.run_id, v.level, v.role,
       CASE v.found WHEN 'excluded' THEN 'nothing'
            WHEN 'level' THEN 'structure'
            WHEN 'undeclared' THEN 'structure'
            WHEN 'tool' THEN 'structure'
            WHEN 'steps' THEN 'structure'
            WHEN 'speed' THEN 'speed'
            ELSE 'comparison under the same load' END AS use,
       CASE v.found WHEN 'excluded' THEN 'excluded on ' || v.date || ': ' || v.excluded_because
            WHEN 'level' THEN 'captured while it ran (level ' || v.level || '): its times are not speed'
            WHEN 'undeclared'
                THEN 'no capture.toml declares its host and role: nothing is known of the machine it ran on'
            WHEN 'tool' THEN 'its capture names a profiler as its tool: its times are not speed'
            WHEN 'steps' THEN 'its steps were drawn by a profiler: its times are not speed'
            WHEN 'dev' THEN 'level off on a dev host: compare with runs under the same load, state no speed'
            WHEN 'timing on' THEN 'timing events on: compare with runs under the same load, state no speed'
            WHEN 'timing' THEN 'timing events are `' || v.timing
                || '`, not stated to be off: compare with runs under the same load, state no speed'
            WHEN 'contract' THEN 'the contract is not stated: compare with runs under the same load, state no speed'
            ELSE 'level off on a proof host' END AS because
FROM (
    SELECT r.id AS run_id,
           CASE r.level WHEN 0 THEN 'off' WHEN 1 THEN 'runner' WHEN 2 THEN 'host' WHEN 3 THEN 'device' ELSE 'edge' END AS level,
           coalesce(h.role, 'unknown') AS role, r.timing, x.date, x.because AS excluded_because,
           CASE WHEN x.run_name IS NOT NULL THEN 'excluded'
                WHEN r.level <> 0 THEN 'level'
                WHEN r.declared = 0 OR r.host_id IS NULL OR h.role = 'unknown' THEN 'undeclared'
                WHEN EXISTS (
                    SELECT 1 FROM run_fact f
                    WHERE f.run_id = r.id AND f.part = 'capture'
                      AND (f.key IN ('tool', 'tools', 'profiler') OR f.key LIKE 'tool.%' OR f.key LIKE 'tools.%')
                      AND (f.value LIKE '%prof%' OR f.value LIKE '%kineto%' OR f.value LIKE '%nsight%'
                           OR f.value LIKE '%nsys%' OR f.value LIKE 'ncu%' OR f.value LIKE '%cupti%'
                           OR f.value LIKE '%trace%' OR f.value LIKE '%tracing%' OR f.value LIKE '%vtune%'
                           OR f.value LIKE '%py-spy%' OR f.value LIKE '%scalene%' OR f.value LIKE '%ebpf%'
                           OR f.value LIKE 'perf' OR f.value LIKE 'perf %')) THEN 'tool'
                WHEN EXISTS (
                    SELECT 1 FROM step s
                    WHERE s.run_id = r.id
                      AND (s.source IN ('profiler step', 'engine annotation') OR s.kind = 'profiler')) THEN 'steps'
                WHEN h.role <> 'proof' THEN 'dev'
                WHEN r.timing = 'on' THEN 'timing on'
                WHEN r.timing <> 'off' THEN 'timing'
                WHEN NOT EXISTS (
                    SELECT 1 FROM run_fact f
                    WHERE f.run_id = r.id AND f.part = 'contract' AND trim(f.value) <> '') THEN 'contract'
                ELSE 'speed' END AS found
    FROM run r
    LEFT JOIN host h ON h.id = r.host_id
    LEFT JOIN exclusion x ON x.run_name = r.name
) v
