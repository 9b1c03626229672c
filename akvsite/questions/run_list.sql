-- Which runs are in the store, and what does each hold?
--
-- @run_id       the run
-- @name         its name
-- @level        capture level, by name
-- @host         public name of its host
-- @role         role of its host
-- @engine       the engine, in the words of the capture
-- @started      when it was captured
-- @use          what its numbers may be used for, see `run_use`
-- @steps        steps, warm-up included
-- @requests     requests
-- @tokens       tokens or stream chunks
-- @phases       rows of level 1
-- @host_rows    rows of level 2
-- @intervals    rows of level 3
-- @calls        runtime calls; one that two tools recorded counts once
-- @trials       timed repetitions of an experiment
-- @files        files read
-- @quarantined  records in the quarantine
-- @excluded     1 where the run is excluded by a dated note
SELECT r.id AS run_id, r.name, u.level, h.name AS host, u.role, r.engine, r.started, u.use,
       (SELECT count(*) FROM step s WHERE s.run_id = r.id AND s.nested = 0) AS steps,
       (SELECT count(*) FROM request q WHERE q.run_id = r.id) AS requests,
       (SELECT count(*) FROM token t WHERE t.run_id = r.id) AS tokens,
       (SELECT count(*) FROM level1_runner f WHERE f.run_id = r.id) AS phases,
       (SELECT count(*) FROM level2_host t WHERE t.run_id = r.id) AS host_rows,
       (SELECT count(*) FROM level3_device d WHERE d.run_id = r.id) AS intervals,
       (SELECT count(*) FROM level4_edge c WHERE c.run_id = r.id)
           - (SELECT count(*) FROM same_call p WHERE p.run_id = r.id) AS calls,
       (SELECT count(*) FROM trial t WHERE t.run_id = r.id) AS trials,
       (SELECT count(*) FROM ingest i WHERE i.run_id = r.id) AS files,
       (SELECT count(*) FROM quarantine q JOIN ingest i ON i.id = q.ingest_id WHERE i.run_id = r.id) AS quarantined,
       u.use = 'nothing' AS excluded
FROM run r
JOIN run_use u ON u.run_id = r.id
LEFT JOIN host h ON h.id = r.host_id
