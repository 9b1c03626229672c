-- How often were the clocks of the host and of each device read together, and how closely?
--
-- A reading says that the device's clock stood at its time somewhere between two readings of the host's. Nothing is
-- converted by it yet.
--
-- @run_id         the run
-- @process_id     the process
-- @device         the device
-- @source         who read them
-- @readings       readings, counted
-- @narrowest_ns   the least time between the two readings of the host's clock, ns
-- @span_ns        from the first reading to the last, by the host's clock, ns
-- @resolution_ns  tick of the device's timer, as the runtime gives it, ns
SELECT run_id, process_id, device, source, count(*) AS readings, min(host_after_ns - host_before_ns) AS narrowest_ns,
       max(host_after_ns) - min(host_before_ns) AS span_ns, max(resolution_ns) AS resolution_ns
FROM clock_sample
GROUP BY run_id, process_id, device, source
