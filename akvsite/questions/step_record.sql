-- Which device records belong to each step, by kind and name?
--
-- By their call: a record belongs to the step in which its call began, whenever the device came to it. Rows of two tools may
-- be the same work. Spans between timing events are no records of what ran.
--
-- @run_id     the run
-- @step_id    the step; NULL where the call lies in none, or no call is known
-- @source     whose call it belongs to, vendor or shim; NULL where no call is known
-- @kind       kernel, copy, fill, ...
-- @name       name of the kernel, or the kind of copy
-- @intervals  device records, counted
-- @unended    of these, records without an end, counted; they are in no sum
-- @sum_ns     durations added up over all queues, ns
SELECT d.run_id, c.step_id, c.source, d.kind, d.name, count(*) AS intervals,
       sum(d.end_ns IS NULL) AS unended, coalesce(sum(d.end_ns - d.start_ns), 0) AS sum_ns
FROM level3_device d
LEFT JOIN link l ON l.interval_id = d.id
LEFT JOIN level4_edge c ON c.id = l.call_id
WHERE d.kind <> 'span'
GROUP BY d.run_id, c.step_id, c.source, d.kind, d.name
