-- How long did each arm of an experiment take in each repeat, by the wall clock?
--
-- @run_id     the run
-- @treatment  how the arm was run
-- @arm        what was timed
-- @repeat     the repeat
-- @trials     timed repetitions, counted
-- @mean_ns    their mean, ns
SELECT run_id, treatment, arm, repeat, count(*) AS trials, avg(duration_ns) AS mean_ns
FROM trial
GROUP BY run_id, treatment, arm, repeat
