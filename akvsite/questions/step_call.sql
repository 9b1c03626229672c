-- Which runtime calls were made in each step, by name, and for how long was the host inside them?
--
-- Each call counts once for each tool that recorded it; rows of two sources are never added up: they may be the same calls
-- (see `call_both`). A call belongs to the step in which it began.
--
-- @run_id        the run
-- @step_id       the step; NULL outside every step
-- @source        vendor or shim
-- @name          name of the call
-- @kind          launch, copy, fill, graph replay, wait or other
-- @calls         calls, counted
-- @unended       of these, calls without an end on record, counted; they are in no sum
-- @nested_calls  of these, calls inside another recorded call, whose time holds theirs, counted
-- @host_ns       time inside them, added up, ns
SELECT run_id, step_id, source, name, kind, count(*) AS calls, sum(end_ns IS NULL) AS unended,
       coalesce(sum(nested), 0) AS nested_calls, coalesce(sum(end_ns - start_ns), 0) AS host_ns
FROM level4_edge
GROUP BY run_id, step_id, source, name, kind
