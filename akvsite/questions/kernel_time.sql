-- Which kernels, copies and fills took the device's time?
--
-- @run_id       the run
-- @clock        `device` where its times are the device's own clock, not converted; else NULL
-- @kind         kernel, copy or fill
-- @name         name of the kernel, or the kind of copy
-- @intervals    device records, counted
-- @sum_ns       durations added up over all queues, ns
-- @bytes        bytes moved, where recorded
-- @linked       device records that a call is associated with, counted
SELECT d.run_id, d.clock, d.kind, d.name, count(*) AS intervals, sum(d.end_ns - d.start_ns) AS sum_ns, sum(d.bytes) AS bytes,
       count(l.interval_id) AS linked
FROM level3_device d
LEFT JOIN link l ON l.interval_id = d.id
WHERE d.end_ns IS NOT NULL AND d.kind <> 'span'
GROUP BY d.run_id, d.clock, d.kind, d.name
