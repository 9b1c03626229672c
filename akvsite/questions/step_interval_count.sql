-- How many device records belong to each step, by their call?
--
-- @run_id     the run
-- @step_id    the step
-- @number     its number
-- @name       its name
-- @warm_up    1 where it is declared as warm-up
-- @start_ns   when it began on the host, ns
-- @intervals  device records, counted
SELECT c.run_id, s.id AS step_id, s.number, s.name, s.warm_up, s.start_ns, count(*) AS intervals
FROM level4_edge c
JOIN link l ON l.call_id = c.id
JOIN step s ON s.id = c.step_id
GROUP BY c.run_id, s.id
