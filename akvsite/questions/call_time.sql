-- How long did each runtime call take on the host?
--
-- A call that never returned has no duration, see `open_call`.
--
-- @run_id       the run
-- @call_id      row of `level4_edge`
-- @source       vendor or shim
-- @name         name of the call
-- @kind         launch, copy, fill, graph replay, wait or other
-- @thread       its thread
-- @start_ns     when it began, ns
-- @duration_ns  how long it took, ns
SELECT run_id, id AS call_id, source, name, kind, thread, start_ns, end_ns - start_ns AS duration_ns
FROM level4_edge
WHERE end_ns IS NOT NULL AND start_ns IS NOT NULL
