-- How far are the times of each device known on the host's axis, and what does that rest on?
--
-- One row for each device, process and way of conversion. The band holds if one counter stamps all its records, if the
-- device was read inside each bracket, if the two rates differ by no more than `slope_ppm` and if the rate strays from its
-- mean by no more than `wander_ppm`. Where the vendor converted, no bound is known, and causality alone is told.
--
-- @run_id                 the run
-- @bound_id               row of `clock_bound`
-- @process_id             the process
-- @device                 the device
-- @made_by                `constraints` or `vendor`
-- @state                  `bounded`, `inconsistent`, `unbounded` or `unproven`
-- @because                why it is not bounded
-- @readings               readings of both clocks, counted
-- @starts                 records that began no earlier than a call on record, counted
-- @ends                   records that had ended when a host call came back, counted
-- @records                device records of work, counted
-- @tick_ns                tick of the device's times; NULL where it is not known, ns
-- @tick_by                `runtime` where that states it, `lengths` where it is told from the records' lengths
-- @slope_ppm              assumed: most that the two rates differ, ppm
-- @wander_ppm             assumed: most that the rate strays from its mean, ppm
-- @least_wander_ppm       the least wander that the constraints allow, ppm
-- @half_median_ns         half-width of the band, median over records, ns
-- @half_widest_ns          half-width of the band, the widest, ns
-- @causal_half_median_ns  the same from causality alone, ns
-- @causal_half_widest_ns   the widest from causality alone, ns
-- @blind_low_ns           least constant bias (time as made, less the true one) that would not be seen, ns; NULL: no bound
-- @blind_high_ns          greatest such bias, ns; NULL: no bound
-- @outside                times of records before the first reading or after the last, counted; NULL without readings
-- @outside_most_ns        by how much, at most, ns
-- @early                  records that begin before their call, on the host's axis, counted; NULL where not on it
-- @early_most_ns         by how much, at most, ns
-- @at_submission          records that begin exactly when they were submitted, counted
-- @submissions            records whose submission is on record, counted
SELECT b.run_id, b.id AS bound_id, b.process_id, b.device, b.made_by, b.state, b.because, b.readings, b.starts, b.ends,
       (SELECT count(*) FROM level3_device d
        WHERE d.run_id = b.run_id AND d.process_id = b.process_id AND d.device = b.device
          AND (d.clock IS NULL) = (b.made_by = 'vendor') AND d.kind IN ('kernel', 'copy', 'fill', 'communication', 'graph replay', 'span')) AS records,
       b.tick_ns, b.tick_by, b.slope_ppm, b.wander_ppm, b.least_wander_ppm, b.half_median_ns, b.half_widest_ns,
       b.causal_half_median_ns, b.causal_half_widest_ns, b.blind_low_ns, b.blind_high_ns, b.outside, b.outside_most_ns, b.early, b.early_most_ns,
       b.at_submission, b.submissions
FROM clock_bound b
