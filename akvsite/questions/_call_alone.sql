-- Which calls that are expected to have a device record have none, one by one, and what is known of the reason?
--
-- The device records of a call that two tools recorded are on record with the vendor's row: the recorder's row is not without.
--
-- @run_id    the run
-- @call_id   the call, row of `level4_edge`
-- @because   `never returned`, `did not succeed`, `inside another recorded call`, `not in the vendor's trace`; `not known` where nothing is
SELECT c.run_id, c.id AS call_id,
       CASE WHEN c.open = 1 THEN 'never returned'
            WHEN coalesce(c.result, 0) <> 0 THEN 'did not succeed'
            WHEN c.source = 'shim' AND c.nested = 1 THEN 'inside another recorded call'
            WHEN c.source = 'shim' AND p.shim_id IS NULL AND EXISTS (SELECT 1 FROM same_call s WHERE s.run_id = c.run_id)
                THEN 'not in the vendor''s trace'
            ELSE 'not known' END AS because
FROM level4_edge c
LEFT JOIN same_call p ON p.shim_id = c.id
WHERE c.kind IN ('launch', 'copy', 'fill', 'graph replay')
  AND NOT EXISTS (SELECT 1 FROM link l WHERE l.call_id = coalesce(p.vendor_id, c.id))
