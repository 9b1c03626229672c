-- Which is the last run before a run that was made under the same load?
--
-- Of the same host, at the same level, of the same engine and workload, and of the same use: what else differs between the two
-- contracts is what the candidate is about, and is named where they are compared. A capture that states the day alone is
-- taken for earlier than those of later days, and for no earlier than others of its own day. An excluded run is none.
--
-- @run_id         the run
-- @run            its name
-- @other_id       the last run before it under the same load
-- @other          its name
-- @other_started  when that was captured
-- @because        what was compared of the two loads, in words
-- @tolerance      within what two loads count as the same, in words
SELECT v.run_id, v.run, v.other_id, v.other, v.other_started, v.because, v.tolerance
FROM (
    SELECT s.run_id, s.run, s.other_id, s.other, o.started AS other_started, s.because, s.tolerance,
           row_number() OVER (PARTITION BY s.run_id ORDER BY julianday(o.started) DESC, o.name DESC) AS place
    FROM run r
    JOIN run_use u ON u.run_id = r.id
    JOIN run o ON o.host_id = r.host_id AND o.id <> r.id AND o.level = r.level AND o.engine = r.engine
    JOIN run_use w ON w.run_id = o.id AND w.use = u.use
    JOIN same_load s ON s.run_id = r.id AND s.other_id = o.id
    WHERE u.use <> 'nothing' AND s.same = 1
      AND CASE WHEN length(r.started) = 10 OR length(o.started) = 10 THEN date(o.started) < date(r.started)
               ELSE julianday(o.started) < julianday(r.started) END
      AND EXISTS (
          SELECT 1 FROM run_fact a
          JOIN run_fact b ON b.run_id = o.id AND b.part = 'contract' AND b.key = 'workload' AND b.value = a.value
          WHERE a.run_id = r.id AND a.part = 'contract' AND a.key = 'workload')
) v
WHERE v.place = 1
