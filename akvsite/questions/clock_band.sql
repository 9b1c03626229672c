-- Between which bounds did the host's clock lie ahead of each device's, in the course of a run?
--
-- Where it is widest, stretch by stretch: of the records' times and of evenly spaced ones.
--
-- @run_id     the run
-- @bound_id   row of `clock_bound`
-- @device     the device
-- @device_ns  time of the device's clock, ns
-- @low_ns     least that the host's clock was ahead, ns
-- @high_ns    most that the host's clock was ahead, ns
SELECT b.run_id, b.id AS bound_id, b.device, k.device_ns, k.low_ns, k.high_ns
FROM clock_knot k
JOIN clock_bound b ON b.id = k.bound_id
