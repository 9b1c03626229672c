-- How many device records of each kind have a call, and how many have none?
--
-- A stretch between two timing events (`span`) belongs to no call by its nature.
--
-- @run_id    the run
-- @kind      kernel, copy, fill, wait, span, ...
-- @clock     `device` where their times are of the device's own clock; NULL where the vendor converted them
-- @records   device records, counted
-- @linked    of these, records that belong to a call, counted
-- @off_axis  of these, records with no time on the host's axis, counted
SELECT d.run_id, d.kind, d.clock, count(*) AS records, count(l.interval_id) AS linked,
       sum(CASE WHEN d.clock IS NULL THEN d.start_ns ELSE h.start_ns END IS NULL) AS off_axis
FROM level3_device d
LEFT JOIN device_on_host h ON h.interval_id = d.id
LEFT JOIN link l ON l.interval_id = d.id
GROUP BY d.run_id, d.kind, d.clock
