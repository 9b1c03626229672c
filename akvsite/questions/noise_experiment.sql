-- Which experiments ran the same thing twice, and so tell how quiet a host was?
--
-- An A/A experiment with capture off. One that is excluded, that a withdrawn claim stands on, or whose runs made
-- different outputs, is none. The newest comes first.
--
-- @run_id      the experiment, a run of the store
-- @experiment  its name
-- @host        public name of its host
-- @role        role of its host
-- @engine      what ran, in the words of the capture
-- @started     when it was made
-- @place       1 for the newest of its host
SELECT r.id AS run_id, r.name AS experiment, h.name AS host, h.role, r.engine, r.started,
       row_number() OVER (PARTITION BY h.name ORDER BY r.started DESC, r.name DESC) AS place
FROM run r
JOIN host h ON h.id = r.host_id
JOIN run_use u ON u.run_id = r.id AND u.use <> 'nothing'
WHERE r.level = 0
  AND EXISTS (
      SELECT 1 FROM run_fact f
      WHERE f.run_id = r.id AND f.part = 'capture' AND f.key = 'experiment' AND f.value = 'aa')
  AND NOT EXISTS (SELECT 1 FROM stamp s WHERE s.name = r.name AND s.kind IN ('run', 'control'))
  AND NOT EXISTS (
      SELECT 1 FROM run_fact f
      WHERE f.run_id = r.id AND f.part = 'capture' AND f.key = 'outputs' AND f.value LIKE 'DIFFER%')
