-- In which steps did a runtime call begin?
--
-- @run_id   the run
-- @step_id  the step
SELECT DISTINCT run_id, step_id
FROM level4_edge
WHERE step_id IS NOT NULL
