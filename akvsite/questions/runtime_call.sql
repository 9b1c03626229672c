-- Which runtime calls were made, in which thread and step?
--
-- @run_id      the run
-- @call_id     row of `level4_edge`
-- @process_id  the process
-- @thread      its thread
-- @source      vendor or shim
-- @name        name of the call
-- @kind        launch, copy, fill, graph replay, wait or other
-- @start_ns    when it began, ns
-- @end_ns      when it ended, ns; NULL where it never returned
-- @open        1 where it never returned
-- @nested      1 inside another recorded call of its thread
-- @step_id     the step in which it began; NULL outside every step
SELECT run_id, id AS call_id, process_id, thread, source, name, kind, start_ns, end_ns, open, nested, step_id
FROM level4_edge
WHERE start_ns IS NOT NULL
