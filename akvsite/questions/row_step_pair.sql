-- Which steps of two sources are the same iteration?
--
-- By their number, in the files of one process, and only where the two overlap in time. A number that a source gave more
-- than once is of no one step.
--
-- @run_id    the run
-- @step_id   the step of the first source: the engine's own where it has one
-- @other_id  the step of the other source
SELECT run_id, step_id, other_id
FROM step_pair
WHERE at_once = 1
