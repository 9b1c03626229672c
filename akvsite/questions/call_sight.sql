-- Is every runtime call of each run on record, so that a call that is not there may be said not to have been made?
--
-- Only where nothing says that one may be missing: no file cut short, nothing in quarantine, nothing that a recorder lost. One
-- reason is enough for "unknown". Calls that a recorder counted without their times are told by name in `call_counted`.
--
-- @run_id   the run
-- @full     1 where every call is there, as far as the capture can tell
-- @because  the first reason why it is unknown
SELECT run_id, because = '' AS full, because
FROM (
    SELECT r.id AS run_id,
           CASE
               WHEN NOT EXISTS (SELECT 1 FROM level4_edge c WHERE c.run_id = r.id) THEN 'no runtime calls were captured'
               WHEN EXISTS (SELECT 1 FROM ingest i WHERE i.run_id = r.id AND i.truncated = 1) THEN 'a file was cut short'
               WHEN EXISTS (SELECT 1 FROM quarantine q JOIN ingest i ON i.id = q.ingest_id WHERE i.run_id = r.id)
                   THEN 'records are in the quarantine'
               WHEN EXISTS (SELECT 1 FROM ingest_count n JOIN ingest i ON i.id = n.ingest_id
                            WHERE i.run_id = r.id AND (n.fate GLOB 'lost:*' OR n.fate GLOB 'hole:*' OR n.fate GLOB 'missing:*'
                                                       OR n.fate GLOB 'never read:*' OR n.fate GLOB 'written over*'))
                   THEN 'a recorder lost records'
               ELSE '' END AS because
    FROM run r
)
