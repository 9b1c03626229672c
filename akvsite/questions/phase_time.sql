-- How long did each runner phase take in each step?
--
-- A phase belongs to the step in which it began, and is cut at the step's end; phases of several threads may overlap.
--
-- @run_id       the run
-- @step_id      the step; NULL outside every step
-- @name         the phase
-- @ns           sum inside the step, ns
SELECT f.run_id, f.step_id, f.name, sum(min(f.end_ns, coalesce(s.end_ns, f.end_ns)) - f.start_ns) AS ns
FROM level1_runner f
LEFT JOIN step s ON s.id = f.step_id
WHERE f.end_ns IS NOT NULL AND coalesce(s.warm_up, 0) = 0
GROUP BY f.run_id, f.step_id, f.name
