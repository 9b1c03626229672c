-- Which experiment tells what looking on cost a run?
--
-- A probe experiment of the same engine (the run may say more of it behind the same words) with the level of the run
-- among its own: all that both contracts say of the engine's arguments is the same, but for how long it ran (`requests`,
-- `seed`); at level device the same looked at the device, in whichever steps; host and devices have the same names where
-- both captures name them; at level edge timing events were treated alike. An experiment that is excluded, that a
-- withdrawn claim stands on, or whose runs made different tokens, is none. The newest comes first.
--
-- @run_id         the run
-- @run            its name
-- @level          its level
-- @experiment_id  the experiment, a run of the store
-- @experiment     its name
-- @started        when it was made
-- @place          1 for the newest of them
-- @of             how many there are for this run, counted
SELECT r.id AS run_id, r.name AS run, u.level, e.id AS experiment_id, e.name AS experiment, e.started,
       row_number() OVER (PARTITION BY r.id ORDER BY e.started DESC, e.name DESC) AS place,
       count(*) OVER (PARTITION BY r.id) AS of
FROM run r
JOIN run_use u ON u.run_id = r.id
JOIN run e ON e.id <> r.id AND substr(r.engine, 1, length(e.engine)) = e.engine
JOIN run_use v ON v.run_id = e.id AND v.use <> 'nothing'
LEFT JOIN host rh ON rh.id = r.host_id
LEFT JOIN host eh ON eh.id = e.host_id
WHERE r.level > 0
  AND NOT EXISTS (SELECT 1 FROM run_fact f WHERE f.run_id = r.id AND f.part = 'capture' AND f.key = 'experiment')
  AND EXISTS (
      SELECT 1 FROM run_fact f
      WHERE f.run_id = e.id AND f.part = 'capture' AND f.key = 'experiment' AND f.value = 'probe')
  AND EXISTS (SELECT 1 FROM trial t WHERE t.run_id = e.id AND t.treatment = u.level)
  AND EXISTS (SELECT 1 FROM _engine_fact s WHERE s.run_id = e.id)
  AND NOT EXISTS (
      SELECT 1 FROM _engine_fact a
      WHERE a.run_id = e.id AND NOT EXISTS (
          SELECT 1 FROM run_fact o
          WHERE o.run_id = r.id AND o.part = 'contract' AND o.key = a.key AND o.value = a.value))
  AND NOT EXISTS (
      SELECT 1 FROM _engine_fact a
      WHERE a.run_id = r.id AND NOT (u.level = 'device' AND a.key IN ('engine.device_records', 'engine.profile_steps')) AND NOT EXISTS (
          SELECT 1 FROM run_fact o
          WHERE o.run_id = e.id AND o.part = 'contract' AND o.key = a.key AND o.value = a.value))
  AND (u.level <> 'device' OR coalesce(
      (SELECT f.value FROM run_fact f WHERE f.run_id = r.id AND f.part = 'contract' AND f.key = 'engine.device_records'),
      'none') = coalesce(
      (SELECT f.value FROM run_fact f WHERE f.run_id = e.id AND f.part = 'capture' AND f.key = 'shared.device_records'),
      'none'))
  AND coalesce(rh.name = eh.name, 1)
  AND NOT EXISTS (
      SELECT 1 FROM run_fact a JOIN run_fact o ON o.part = a.part AND o.key = a.key AND o.value <> a.value
      WHERE a.run_id = r.id AND o.run_id = e.id AND a.part = 'device' AND a.key LIKE '%.name')
  AND (u.level <> 'edge' OR r.timing = e.timing)
  AND NOT EXISTS (SELECT 1 FROM stamp s WHERE s.name = e.name AND s.kind IN ('run', 'control'))
  AND NOT EXISTS (
      SELECT 1 FROM run_fact f
      WHERE f.run_id = e.id AND f.part = 'capture' AND f.key = 'outputs' AND f.value LIKE 'DIFFER%')
