-- Which calls that are expected to have a device record have none, and what is known of the reason?
--
-- Launches, copies, fills and graph replays. What has no record is not known to have run, nor not to have run. A reason is
-- what is on record of the call itself: that it explains the missing record is not said. Where both tools recorded, device
-- records are the vendor's, and a call that is not in its trace has none for that reason alone.
--
-- @run_id    the run
-- @source    vendor or shim
-- @kind      launch, copy, fill or graph replay
-- @name      name of the call
-- @because   `never returned`, `did not succeed`, `inside another recorded call`, `not in the vendor's trace`; empty where nothing is known
-- @calls     calls, counted
SELECT c.run_id, c.source, c.kind, c.name,
       CASE WHEN c.open = 1 THEN 'never returned'
            WHEN coalesce(c.result, 0) <> 0 THEN 'did not succeed'
            WHEN c.source = 'shim' AND c.nested = 1 THEN 'inside another recorded call'
            WHEN c.source = 'shim' AND p.shim_id IS NULL AND EXISTS (SELECT 1 FROM same_call s WHERE s.run_id = c.run_id)
                THEN 'not in the vendor''s trace'
            ELSE '' END AS because,
       count(*) AS calls
FROM level4_edge c
LEFT JOIN same_call p ON p.shim_id = c.id
WHERE c.kind IN ('launch', 'copy', 'fill', 'graph replay')
  AND NOT EXISTS (SELECT 1 FROM link l WHERE l.call_id = coalesce(p.vendor_id, c.id))
GROUP BY c.run_id, c.source, c.kind, c.name, because
