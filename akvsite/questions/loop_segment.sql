-- How long did each segment of each run of an experiment take?
--
-- @run_id       the run: one experiment
-- @process_id   the fresh process in which it ran; their numbers rise in the order in which they were run
-- @treatment    how it was run
-- @block        the block that holds each treatment once, from 0
-- @arm          what was timed
-- @number       the segment, from 0
-- @duration_ns  its time, ns
SELECT run_id, process_id, treatment, repeat AS block, arm, number, duration_ns
FROM trial
