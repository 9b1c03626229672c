-- Which experiments about the instrument itself were made on each host?
--
-- Those that are excluded by a dated note are not among them. The newest comes first.
--
-- @run_id      the experiment, a run of the store
-- @experiment  its name
-- @what        its kind, such as `probe` or `tracer`
-- @host        public name of its host; NULL where it states none
-- @role        role of its host
-- @engine      what ran, in the words of the capture
-- @started     when it was made
-- @place       1 for the newest of its host and kind
SELECT run_id, experiment, what, host, role, engine, started,
       row_number() OVER (PARTITION BY host, what ORDER BY started DESC, experiment DESC) AS place
FROM (
    SELECT r.id AS run_id, r.name AS experiment, h.name AS host, u.role, r.engine, r.started,
           (SELECT max(f.value) FROM run_fact f WHERE f.run_id = r.id AND f.part = 'capture' AND f.key = 'experiment') AS what
    FROM run r
    JOIN run_use u ON u.run_id = r.id AND u.use <> 'nothing'
    LEFT JOIN host h ON h.id = r.host_id
    WHERE EXISTS (SELECT 1 FROM trial t WHERE t.run_id = r.id)
)
WHERE what IS NOT NULL
