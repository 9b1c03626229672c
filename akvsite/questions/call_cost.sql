-- What did the runtime calls cost on the host, and what is associated with them on the device?
--
-- Each call counts once, however many device records carry its id: a graph replay is one launch with many kernels.
--
-- @run_id        the run
-- @source        vendor or shim
-- @name          name of the call
-- @kind          launch, copy, fill, graph replay, wait or other
-- @calls         calls, counted
-- @host_ns       time inside them, added up, ns
-- @intervals     device records associated with them, counted
-- @device_ns     durations of those records, added up, ns
-- @calls_linked  calls with at least one device record, counted
SELECT c.run_id, c.source, c.name, c.kind, count(*) AS calls, sum(c.end_ns - c.start_ns) AS host_ns,
       sum((SELECT count(*) FROM link l WHERE l.call_id = c.id)) AS intervals,
       sum((SELECT sum(d.end_ns - d.start_ns) FROM link l JOIN level3_device d ON d.id = l.interval_id
            WHERE l.call_id = c.id)) AS device_ns,
       sum(EXISTS (SELECT 1 FROM link l WHERE l.call_id = c.id)) AS calls_linked
FROM level4_edge c
GROUP BY c.run_id, c.source, c.name, c.kind
