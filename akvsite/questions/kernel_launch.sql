-- Which kernels did the calls launch, by the names that the recorder saw?
--
-- Told on the host, whether or not the device's records are there. A launch inside another recorded call is the outer one
-- again and is left out.
--
-- @run_id   the run
-- @source   vendor or shim
-- @kernel   name of the kernel
-- @calls    launches, counted
-- @host_ns  time inside them, added up, ns
-- @linked   of these, launches with device records, counted
SELECT c.run_id, c.source, c.object_name AS kernel, count(*) AS calls, sum(c.end_ns - c.start_ns) AS host_ns,
       sum(EXISTS (SELECT 1 FROM link l WHERE l.call_id = coalesce(p.vendor_id, c.id))) AS linked
FROM level4_edge c
LEFT JOIN same_call p ON p.shim_id = c.id
WHERE c.object_name IS NOT NULL AND coalesce(c.nested, 0) = 0
GROUP BY c.run_id, c.source, c.object_name
