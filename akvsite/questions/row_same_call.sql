-- Which calls are on record twice, by the recorder and by the vendor's tracer?
--
-- By name and order in the thread: an association, no more. Their device records belong to either row alone.
--
-- @run_id     the run
-- @shim_id    the recorder's row
-- @vendor_id  the vendor's row
SELECT run_id, shim_id, vendor_id
FROM same_call
