-- Which runtime calls are on record?
--
-- A call that both the recorder and the vendor's tracer have is two rows (see `row_same_call`).
--
-- @run_id       the run
-- @call_id      row of `level4_edge`
-- @process_id  the process
-- @source       vendor or shim
-- @kind         launch, copy, fill, graph replay, wait or other
-- @name         name of the call
-- @ran          name of the kernel that it ran, where the file names it
-- @thread       its thread
-- @queue        the queue or stream that it named
-- @step_id      the step in which it began; NULL outside every step
-- @start_ns     when it began, ns
-- @duration_ns  how long it took, ns; NULL where it never returned
-- @open         1 where it never returned
-- @blocking     1 where its caller asked it to block
-- @nested       1 inside another recorded call of its thread
-- @bytes        bytes asked for
-- @result       its result code
-- @intervals    device records that belong to it, counted
-- @no_record    where it is expected to have a device record and has none: what is known of the reason, as in `call_alone`
-- @waits        events that it waited for, counted
SELECT c.run_id, c.id AS call_id, c.process_id, c.source, c.kind, c.name, c.object_name AS ran, c.thread, c.queue, c.step_id, c.start_ns,
       c.end_ns - c.start_ns AS duration_ns, c.open, c.blocking, c.nested, c.bytes, c.result,
       (SELECT count(*) FROM link l WHERE l.call_id = c.id) AS intervals,
       -- no other call is expected to have one: it is not looked for
       CASE WHEN c.kind IN ('launch', 'copy', 'fill', 'graph replay') THEN (SELECT a.because FROM _call_alone a WHERE a.call_id = c.id) END AS no_record,
       (SELECT count(*) FROM edge_wait w WHERE w.call_id = c.id) AS waits
FROM level4_edge c
