-- How long did each step take?
--
-- A step without an end has no duration; it is listed and counts for nothing. Engines may draw one iteration twice, one
-- annotation inside another: the inner one is marked and left out of numbers, so that no iteration counts twice.
--
-- @run_id       the run
-- @process_id   the process
-- @rank         its rank, where known
-- @step_id      the step
-- @number       its number
-- @name         its name
-- @kind         decode, prefill, mixed, profiler or other
-- @batch        requests in the batch
-- @source       who drew its boundaries
-- @warm_up      1 where it is declared as warm-up
-- @nested       1 where it lies inside another step of the same source
-- @start_ns     when it began, ns
-- @end_ns       when it ended, ns
-- @duration_ns  how long it took, ns
SELECT s.run_id, s.process_id, p.rank, s.id AS step_id, s.number, s.name, s.kind, s.batch, s.source, s.warm_up,
       s.nested, s.start_ns, s.end_ns, s.end_ns - s.start_ns AS duration_ns
FROM step s
JOIN process p ON p.id = s.process_id
