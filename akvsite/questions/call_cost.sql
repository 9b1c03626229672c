-- What did the runtime calls cost on the host, and what is associated with them on the device?
--
-- Each call counts once for each tool that recorded it, however many device records carry its id: a graph replay is one
-- launch with many kernels. Rows of two sources are never added up: they may be the same calls (see `call_both`). The device
-- records of a call that the vendor's tracer recorded too are those of the vendor's row.
--
-- @run_id        the run
-- @source        vendor or shim
-- @name          name of the call
-- @kind          launch, copy, fill, graph replay, wait or other
-- @calls         calls, counted
-- @open_calls    of these, calls that never returned, counted; they are in no sum
-- @nested_calls  of these, calls inside another recorded call, whose time holds theirs, counted
-- @host_ns       time inside them, added up, ns
-- @longest_ns    the longest of them, ns
-- @intervals     device records associated with them, counted
-- @device_ns     durations of those records, added up, ns
-- @calls_linked  calls with at least one device record, counted
SELECT c.run_id, c.source, c.name, c.kind, count(*) AS calls, coalesce(sum(c.open), 0) AS open_calls,
       coalesce(sum(c.nested), 0) AS nested_calls, sum(c.end_ns - c.start_ns) AS host_ns,
       max(c.end_ns - c.start_ns) AS longest_ns,
       sum((SELECT count(*) FROM link l WHERE l.call_id = coalesce(p.vendor_id, c.id))) AS intervals,
       sum((SELECT sum(d.end_ns - d.start_ns) FROM link l JOIN level3_device d ON d.id = l.interval_id
            WHERE l.call_id = coalesce(p.vendor_id, c.id))) AS device_ns,
       sum(EXISTS (SELECT 1 FROM link l WHERE l.call_id = coalesce(p.vendor_id, c.id))) AS calls_linked
FROM level4_edge c
LEFT JOIN same_call p ON p.shim_id = c.id
GROUP BY c.run_id, c.source, c.name, c.kind
