-- Which intervals lay on the device's queues?
--
-- Spans between two timing events are not among them: work and waiting lie in a span alike.
--
-- @run_id       the run
-- @interval_id  row of `level3_device`
-- @process_id      the process
-- @device       the device
-- @clock        `device` where its times are the device's own clock, not converted; else NULL
-- @queue        its queue or stream
-- @kind         kernel, copy, fill, ...
-- @name         name of the kernel, or the kind of copy
-- @start_ns     when it began, ns
-- @end_ns       when it ended, ns
-- @duration_ns  how long it took, ns
-- @bytes        bytes moved, where recorded
-- @step_id      the step whose call launched it, by the link between them; NULL where unknown
SELECT d.run_id, d.id AS interval_id, d.process_id, d.device, d.clock, d.queue, d.kind, d.name, d.start_ns, d.end_ns,
       d.end_ns - d.start_ns AS duration_ns, d.bytes, c.step_id
FROM level3_device d
LEFT JOIN link l ON l.interval_id = d.id
LEFT JOIN level4_edge c ON c.id = l.call_id
WHERE d.kind <> 'span'
