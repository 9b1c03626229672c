-- Which timed trials does an experiment have?
--
-- @run_id       the run
-- @trial_id     row of `trial`
-- @process_id  the process
-- @arm          what was timed
-- @treatment    how it was run
-- @repeat       number of the repeat, in the order in which they were run
-- @number       place inside the repeat
-- @duration_ns  wall-clock time, ns
SELECT run_id, id AS trial_id, process_id, arm, treatment, repeat, number, duration_ns
FROM trial
