-- Which runtime calls were made from the first on that put work on a queue?
--
-- What comes before it is the start of the program.
--
-- @run_id    the run
-- @call_id   row of `level4_edge`
-- @thread    its thread
-- @source    vendor or shim
-- @name      name of the call
-- @kind      launch, copy, fill, graph replay, wait or other
-- @start_ns  when it began, ns
-- @end_ns    when it ended, ns; NULL where it never returned
-- @nested    1 inside another recorded call of its thread
SELECT run_id, call_id, thread, source, name, kind, start_ns, end_ns, nested
-- a window, not a group: SQLite hands a filter by run down through partitions, and stops at a group
FROM (SELECT run_id, id AS call_id, thread, source, name, kind, start_ns, end_ns, nested,
             min(CASE WHEN kind IN ('launch', 'copy', 'fill', 'graph replay') THEN start_ns END)
                 OVER (PARTITION BY run_id) AS first_ns
      FROM level4_edge)
WHERE start_ns >= first_ns
