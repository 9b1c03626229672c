-- What may the numbers of a run be used for?
--
-- The rules are here and nowhere else. Speed is stated only from level off on a proof host. A run at level off on any
-- other host may be compared with a run under the same load. Every other run carries structure: it was looked at
-- while it ran. An excluded run is used for nothing.
--
-- @run_id     the run
-- @level      capture level, by name
-- @role       role of its host
-- @use        `speed`, `comparison under the same load`, `structure` or `nothing`
-- @because    why, in words
SELECT r.id AS run_id,
       CASE r.level WHEN 0 THEN 'off' WHEN 1 THEN 'runner' WHEN 2 THEN 'host' WHEN 3 THEN 'device' ELSE 'edge' END AS level,
       coalesce(h.role, 'unknown') AS role,
       CASE WHEN x.run_name IS NOT NULL THEN 'nothing'
            WHEN r.level <> 0 THEN 'structure'
            WHEN r.declared = 0 OR r.host_id IS NULL OR h.role = 'unknown' THEN 'structure'
            WHEN h.role = 'proof' THEN 'speed'
            ELSE 'comparison under the same load' END AS use,
       CASE WHEN x.run_name IS NOT NULL THEN 'excluded on ' || x.date || ': ' || x.because
            WHEN r.level <> 0 THEN 'captured while it ran (level '
                || CASE r.level WHEN 1 THEN 'runner' WHEN 2 THEN 'host' WHEN 3 THEN 'device' ELSE 'edge' END
                || '): its times are not speed'
            WHEN r.declared = 0 OR r.host_id IS NULL OR h.role = 'unknown'
                THEN 'no capture.toml declares its host and role: nothing is known of the machine it ran on'
            WHEN h.role = 'proof' THEN 'level off on a proof host'
            ELSE 'level off on a dev host: compare with runs under the same load, state no speed' END AS because
FROM run r
LEFT JOIN host h ON h.id = r.host_id
LEFT JOIN exclusion x ON x.run_name = r.name
