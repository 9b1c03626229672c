-- How long after its call began did each device interval begin?
--
-- The two times come from two clocks; the conversion is the vendor's unless the page says otherwise. A negative delay
-- is kept as it is: it is smaller than the clock's bound, or the bound is unknown. Times that are on the device's own
-- clock are left out: no host time may be compared with them (see `device_delay`).
--
-- @run_id    the run
-- @kind      kernel, copy or fill
-- @name      name of the call
-- @delay_ns  start of the interval minus start of the call, ns
SELECT l.run_id, d.kind, c.name, d.start_ns - c.start_ns AS delay_ns
FROM link l
JOIN level4_edge c ON c.id = l.call_id
JOIN level3_device d ON d.id = l.interval_id
WHERE d.start_ns IS NOT NULL AND c.start_ns IS NOT NULL AND d.clock IS NULL
