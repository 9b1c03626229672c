-- Where do the device's records lie on the host's axis, and how far is that known?
--
-- Times of the device's own clock are the middle of what its band allows, with the half-width beside them; those that the
-- vendor converted have no known half-width. Records whose clock could not be brought to the host's axis are not here, nor are
-- spans between two timing events.
--
-- @run_id          the run
-- @interval_id     row of `level3_device`
-- @process_id      the process
-- @device          the device
-- @queue           its queue or stream
-- @kind            kernel, copy, fill, ...
-- @name            name of the kernel, or the kind of copy
-- @converted_by    `constraints` or `vendor`
-- @start_ns        when it began, ns
-- @start_bound_ns  half-width, ns; NULL where it is not known
-- @end_ns          when it ended, ns
-- @end_bound_ns    half-width, ns; NULL where it is not known
-- @call_id         the call that it belongs to, row of `level4_edge`; NULL where unknown
-- @step_id         the step whose call launched it, by the link between them; NULL where unknown
SELECT d.run_id, d.id AS interval_id, d.process_id, d.device, d.queue, d.kind, d.name,
       CASE WHEN d.clock IS NULL THEN 'vendor' ELSE 'constraints' END AS converted_by,
       CASE WHEN d.clock IS NULL THEN d.start_ns ELSE h.start_ns END AS start_ns, h.start_bound_ns,
       CASE WHEN d.clock IS NULL THEN d.end_ns ELSE h.end_ns END AS end_ns, h.end_bound_ns, l.call_id, c.step_id
FROM level3_device d
LEFT JOIN device_on_host h ON h.interval_id = d.id
LEFT JOIN link l ON l.interval_id = d.id
LEFT JOIN level4_edge c ON c.id = l.call_id
WHERE d.kind <> 'span' AND (d.clock IS NULL OR h.interval_id IS NOT NULL)
