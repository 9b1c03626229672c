-- Where did no device record lie, between the first and the last of each device?
--
-- A gap in the records is a gap in the device's work only where every launch has its records (see `coverage`);
-- otherwise it is unknown what the device did.
--
-- @run_id      the run
-- @process_id  the process
-- @device      the device
-- @clock       `device` where its times are the device's own clock, not converted; else NULL
-- @from_ns     end of the record before, ns
-- @to_ns       start of the record after, ns
-- @gap_ns      the gap, ns
SELECT run_id, process_id, device, clock, covered_to AS from_ns, start_ns AS to_ns, start_ns - covered_to AS gap_ns
FROM _device_islands
WHERE lane = 'all' AND start_ns > covered_to
