-- Which queues did each device have, and what ran on them?
--
-- A span between two timing events does not count as what ran.
--
-- @run_id      the run
-- @process_id  the process
-- @device      the device
-- @clock       `device` where its times are the device's own clock, not converted; else NULL
-- @queue       the queue or stream
-- @kind        kernel, copy, fill, ...
-- @intervals   device records, counted
-- @sum_ns      durations added up, ns
-- @bytes       bytes moved or filled, where recorded
SELECT run_id, process_id, device, clock, queue, kind, count(*) AS intervals, sum(end_ns - start_ns) AS sum_ns, sum(bytes) AS bytes
FROM level3_device
WHERE kind <> 'span'
GROUP BY run_id, process_id, device, clock, queue, kind
