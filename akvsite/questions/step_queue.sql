-- What ran on each queue in each step?
--
-- Records belong to the step in which their call began. A span between two timing events is no record of what ran.
--
-- @run_id      the run
-- @step_id     the step; NULL where the call is not known, or began outside every step
-- @process_id  the process
-- @device      the device
-- @clock       `device` where its times are the device's own clock, not converted; else NULL
-- @queue       the queue or stream
-- @kind        kernel, copy, fill, ...
-- @intervals   device records, counted
-- @sum_ns      durations added up, ns
SELECT d.run_id, c.step_id, d.process_id, d.device, d.clock, d.queue, d.kind, count(*) AS intervals, sum(d.end_ns - d.start_ns) AS sum_ns
FROM level3_device d
LEFT JOIN link k ON k.interval_id = d.id
LEFT JOIN level4_edge c ON c.id = k.call_id
WHERE d.kind <> 'span'
GROUP BY d.run_id, c.step_id, d.process_id, d.device, d.clock, d.queue, d.kind
