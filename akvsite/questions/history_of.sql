-- Which archived runs are named as the history of a run, and are they of its host, level and contract?
--
-- One row for each other run of its history. A run that may be used for something else, such as one that was looked at whatever
-- it declares, is unlike. Facts of the contract count as unlike where one of the two does not state
-- them, or states another value.
--
-- @run_id    the run
-- @history   name of the history
-- @note      what its maker says about it
-- @place     place of the other run in it
-- @other     name of the other run
-- @other_id  the other run; NULL where the store does not have it
-- @unlike    the first thing in which the two differ; NULL where nothing does
SELECT r.id AS run_id, h.name AS history, h.note, o.place, o.run_name AS other, t.id AS other_id,
       CASE WHEN t.id IS NULL THEN 'it is not in the store'
            WHEN EXISTS (SELECT 1 FROM exclusion e WHERE e.run_name = t.name) THEN 'it is excluded by a note'
            WHEN t.host_id IS NOT r.host_id OR t.host_id IS NULL THEN 'its host'
            WHEN t.level <> r.level THEN 'its level'
            WHEN (SELECT u.use FROM run_use u WHERE u.run_id = t.id) <> (
                SELECT nullif(u.use, 'nothing') FROM run_use u WHERE u.run_id = r.id)
                THEN 'what its numbers may be used for'
            WHEN t.timing <> r.timing THEN 'its timing events'
            WHEN t.warm_up_steps IS NOT r.warm_up_steps THEN 'its warm-up'
            ELSE (SELECT 'its ' || min(key) FROM (
                      SELECT key, value, run_id FROM run_fact WHERE part = 'contract' AND run_id IN (r.id, t.id)
                      GROUP BY key, value HAVING count(DISTINCT run_id) < 2)) END AS unlike
FROM history_run m
JOIN run r ON r.name = m.run_name
JOIN history h ON h.name = m.history
JOIN history_run o ON o.history = h.name AND o.run_name <> m.run_name
LEFT JOIN run t ON t.name = o.run_name
