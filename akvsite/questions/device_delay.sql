-- How long after it was queued and submitted did each device interval begin, by the device's own clock?
--
-- All three times are as the runtime gives them for the event of the call, on one clock.
--
-- @run_id        the run
-- @device        the device
-- @kind          kernel, copy, fill, ...
-- @name          name of the kernel, or the call that asked for it
-- @queued_ns     from queued to begun, ns; NULL where it is not known
-- @submitted_ns  from submitted to begun, ns; NULL where it is not known
SELECT run_id, device, kind, name, start_ns - appended_ns AS queued_ns, start_ns - submitted_ns AS submitted_ns
FROM level3_device
WHERE clock IS NOT NULL AND start_ns IS NOT NULL AND (appended_ns IS NOT NULL OR submitted_ns IS NOT NULL)
