-- Where did no device record lie on a queue, between two of its records?
--
-- Each gap is told by the record that ends it. It is as long as the device's clock says, which needs no conversion; where it lies on
-- the host's axis is told from the start of that record. A gap in the records is one in the device's work only where every launch has
-- its records (`sight`), and no gap is stated that is not longer than two ticks.
--
-- @run_id        the run
-- @interval_id   the record that ends it, row of `level3_device`
-- @process_id    the process
-- @device        the device
-- @queue         its queue or stream
-- @step_id       the step in which the call of that record began; NULL where it is not known
-- @clock         `device` where its times are the device's own clock, not converted; else NULL
-- @own_start_ns  when it began, by the device's own clock, ns; NULL where the vendor converted it
-- @start_ns      when it began, on the host's axis, ns; NULL where it could not be brought there
-- @bound_ns      half-width of that, ns; NULL where it is not known
-- @duration_ns   the gap, ns
SELECT g.run_id, g.interval_id, g.process_id, g.device, g.queue, c.step_id, g.clock,
       CASE WHEN g.clock IS NOT NULL THEN g.covered_to END AS own_start_ns,
       CASE WHEN g.clock IS NULL THEN g.covered_to ELSE h.start_ns - (g.start_ns - g.covered_to) END AS start_ns,
       h.start_bound_ns AS bound_ns, g.start_ns - g.covered_to AS duration_ns
FROM (
    SELECT run_id, id AS interval_id, process_id, device, queue, clock, start_ns,
           max(end_ns) OVER (PARTITION BY run_id, process_id, device, clock, queue ORDER BY start_ns, end_ns DESC
                             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_to
    FROM level3_device
    WHERE kind IN ('kernel', 'copy', 'fill', 'communication', 'graph replay') AND start_ns IS NOT NULL AND end_ns IS NOT NULL
) g
LEFT JOIN device_on_host h ON h.interval_id = g.interval_id
LEFT JOIN link k ON k.interval_id = g.interval_id
LEFT JOIN level4_edge c ON c.id = k.call_id
WHERE g.start_ns > g.covered_to
