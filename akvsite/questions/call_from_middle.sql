-- Which runtime calls were made from the middle one on of those that put work on a queue?
--
-- The first ones are the start of a program, in which kernels are built.
--
-- @run_id    the run
-- @call_id   row of `level4_edge`
-- @process_id the process
-- @thread    its thread
-- @source    vendor or shim
-- @name      name of the call
-- @kind      launch, copy, fill, graph replay, wait or other
-- @start_ns  when it began, ns
-- @end_ns    when it ended, ns; NULL where it never returned
-- @nested    1 inside another recorded call of its thread
SELECT run_id, call_id, process_id, thread, source, name, kind, start_ns, end_ns, nested
-- windows, not groups: SQLite hands a filter by run down through partitions, and stops at a group
FROM (SELECT run_id, call_id, process_id, thread, source, name, kind, start_ns, end_ns, nested,
             min(CASE WHEN works AND 2 * place >= among THEN start_ns END) OVER (PARTITION BY run_id) AS middle_ns
      FROM (SELECT run_id, call_id, process_id, thread, source, name, kind, start_ns, end_ns, nested, works,
                   row_number() OVER (PARTITION BY run_id, works ORDER BY start_ns, call_id) AS place,
                   count(*) OVER (PARTITION BY run_id, works) AS among
            FROM (SELECT run_id, id AS call_id, process_id, thread, source, name, kind, start_ns, end_ns, nested,
                         start_ns IS NOT NULL AND kind IN ('launch', 'copy', 'fill', 'graph replay') AS works
                  FROM level4_edge)))
WHERE start_ns >= middle_ns
