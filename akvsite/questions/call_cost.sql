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
SELECT DISTINCT run_id, source, name, kind, sum(calls) OVER alike AS calls, sum(open_calls) OVER alike AS open_calls,
       sum(nested_calls) OVER alike AS nested_calls, sum(host_ns) OVER alike AS host_ns, max(longest_ns) OVER alike AS longest_ns,
       sum(intervals) OVER alike AS intervals, sum(device_ns) OVER alike AS device_ns, sum(calls_linked) OVER alike AS calls_linked
-- windows, not groups: SQLite hands a filter by run down through partitions, and stops at a group over a view
FROM (
    SELECT run_id, source, name, kind, count(*) AS calls, coalesce(sum(open), 0) AS open_calls, coalesce(sum(nested), 0) AS nested_calls,
           sum(end_ns - start_ns) AS host_ns, max(end_ns - start_ns) AS longest_ns, 0 AS intervals, NULL AS device_ns, 0 AS calls_linked
    FROM level4_edge
    GROUP BY run_id, source, name, kind
    UNION ALL
    -- few calls have records: they are looked for from the links, and not from each call
    SELECT l.run_id, c.source, c.name, c.kind, 0, 0, 0, NULL, NULL, count(*), sum(d.end_ns - d.start_ns), count(DISTINCT c.id)
    FROM link l
    JOIN level3_device d ON d.id = l.interval_id
    JOIN level4_edge c ON c.id = l.call_id
    WHERE NOT EXISTS (SELECT 1 FROM same_call p WHERE p.shim_id = c.id)
    GROUP BY l.run_id, c.source, c.name, c.kind
    UNION ALL
    SELECT l.run_id, c.source, c.name, c.kind, 0, 0, 0, NULL, NULL, count(*), sum(d.end_ns - d.start_ns), count(DISTINCT c.id)
    FROM link l
    JOIN level3_device d ON d.id = l.interval_id
    JOIN same_call p ON p.vendor_id = l.call_id
    JOIN level4_edge c ON c.id = p.shim_id
    GROUP BY l.run_id, c.source, c.name, c.kind
)
WINDOW alike AS (PARTITION BY run_id, source, name, kind)
