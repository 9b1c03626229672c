-- Which device records are there, where do they lie on both axes, and to which call do they belong?
--
-- A time of the device's own clock is on the host's axis only where its band allows it, and then with a half-width; a time
-- that the vendor converted has no known half-width.
--
-- @run_id           the run
-- @interval_id      row of `level3_device`
-- @process_id  the process
-- @device           the device
-- @queue            its queue or stream
-- @kind             kernel, copy, fill, ...; `span` is the stretch between two timing events
-- @name             name of the kernel, or the kind of copy
-- @call_id          the call that it belongs to; NULL where none is known
-- @made_by          how that is known: `correlation id`, `event handle`, `queue order`, `time window`
-- @step_id          the step in which that call began
-- @clock            `device` where its times are of the device's own clock; NULL where the vendor converted them
-- @own_start_ns     when it began, by the device's own clock, ns; NULL where the vendor converted it
-- @start_ns         when it began, on the host's axis, ns; NULL where it could not be brought there
-- @start_bound_ns   half-width, ns; NULL where it is not known
-- @end_ns           when it ended, on the host's axis, ns
-- @end_bound_ns     half-width, ns; NULL where it is not known
-- @duration_ns      how long it took, by the clock that stamped it, ns; NULL where it has no end
-- @bytes            bytes moved or filled
SELECT d.run_id, d.id AS interval_id, d.process_id, d.device, d.queue, d.kind, d.name, l.call_id, l.made_by, c.step_id, d.clock,
       CASE WHEN d.clock IS NOT NULL THEN d.start_ns END AS own_start_ns,
       CASE WHEN d.clock IS NULL THEN d.start_ns ELSE h.start_ns END AS start_ns, h.start_bound_ns,
       CASE WHEN d.clock IS NULL THEN d.end_ns ELSE h.end_ns END AS end_ns, h.end_bound_ns,
       d.end_ns - d.start_ns AS duration_ns, d.bytes
FROM level3_device d
LEFT JOIN device_on_host h ON h.interval_id = d.id
LEFT JOIN link l ON l.interval_id = d.id
LEFT JOIN level4_edge c ON c.id = l.call_id
