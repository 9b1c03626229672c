-- How long did each runtime call take on the host?
--
-- @run_id       the run
-- @source       vendor or shim
-- @name         name of the call
-- @kind         launch, copy, fill, graph replay, wait or other
-- @thread       its thread
-- @start_ns     when it began, ns
-- @duration_ns  how long it took, ns
SELECT run_id, source, name, kind, thread, start_ns, end_ns - start_ns AS duration_ns
FROM level4_edge
WHERE end_ns IS NOT NULL
