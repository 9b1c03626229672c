-- How long after its call began did each device interval begin?
--
-- The two times come from two clocks. A time that was brought to the host's axis here has a bound, by which the delay may
-- be wrong either way; one that the vendor converted has none that is known. A negative delay is kept as it is: it lies
-- within the bound, or the bound is unknown. Times whose clock could not be brought to the host's axis are left out: no
-- host time may be compared with them (see `device_delay`).
--
-- @run_id    the run
-- @kind      kernel, copy or fill
-- @name      name of the call
-- @call_id   row of `level4_edge`
-- @called_ns start of the call, ns
-- @delay_ns  start of the interval minus start of the call, ns
-- @bound_ns  half-width of what the clocks leave open, ns; NULL where it is not known
-- @clock     `device` where the device's own clock was converted here; else NULL
SELECT l.run_id, d.kind, c.name, l.call_id, c.start_ns AS called_ns,
       CASE WHEN d.clock IS NULL THEN d.start_ns ELSE h.start_ns END - c.start_ns AS delay_ns,
       h.start_bound_ns AS bound_ns, d.clock
FROM link l
JOIN level4_edge c ON c.id = l.call_id
JOIN level3_device d ON d.id = l.interval_id
LEFT JOIN device_on_host h ON h.interval_id = d.id
WHERE c.start_ns IS NOT NULL AND d.start_ns IS NOT NULL AND (d.clock IS NULL OR h.start_ns IS NOT NULL)
