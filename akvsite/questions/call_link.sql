-- How were runtime calls associated with device records, by name of the call?
--
-- Only calls that have device records. A call counts once, however many records carry its id (a graph replay has many). The
-- device records of a call that the vendor's tracer recorded too are those of the vendor's row.
--
-- @run_id    the run
-- @source    vendor or shim
-- @name      name of the call
-- @kind      launch, copy, fill, graph replay, wait or other
-- @made_by   how the association was made: `correlation id`, `event handle`, `queue order`, `time window`
-- @by_twin   1 where it goes by way of the same call in the vendor's trace (see `row_same_call`)
-- @calls     calls, counted
-- @records   device records, counted
SELECT c.run_id, c.source, c.name, c.kind, l.made_by, p.shim_id IS NOT NULL AS by_twin, count(DISTINCT c.id) AS calls, count(*) AS records
FROM level4_edge c
LEFT JOIN same_call p ON p.shim_id = c.id
JOIN link l ON l.call_id = coalesce(p.vendor_id, c.id)
GROUP BY c.run_id, c.source, c.name, c.kind, l.made_by, by_twin
