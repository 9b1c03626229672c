-- Which steps does the run have?
--
-- One row each, also those without an end and those that draw an iteration a second time.
--
-- @run_id       the run
-- @step_id      row of `step`
-- @process_id   the process
-- @process      its process: rank or pid, and the name that it has
-- @number       number of the step
-- @name         its name, as captured
-- @kind         decode, prefill, mixed, profiler or other
-- @batch        requests in the batch
-- @source       who drew its boundaries
-- @warm_up      1 where it is declared as warm-up, and so cut from every number
-- @nested       1 where it lies inside another step of the same source
-- @start_ns     when it began, ns
-- @duration_ns  how long it took, ns; NULL where it has no end
SELECT s.run_id, s.id AS step_id, s.process_id,
       CASE WHEN p.rank IS NULL THEN 'pid ' || p.pid ELSE 'rank ' || p.rank END || coalesce(', ' || p.name, '') AS process,
       s.number, s.name, s.kind, s.batch, s.source, s.warm_up, s.nested, s.start_ns, s.end_ns - s.start_ns AS duration_ns
FROM step s
JOIN process p ON p.id = s.process_id
