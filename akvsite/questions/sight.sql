-- Is everything that ran on the device in the records of each run, so that a gap in them may be spoken of?
--
-- Only where every call has its records and every record its call, and nothing says that a record may be missing: no
-- file cut short, nothing in quarantine, no record without an end, no record of a kind that is not counted as work, no
-- graph replay (how many records a replay leaves is not in a capture), nothing that a recorder lost or only counted. One reason is enough for "unknown".
-- Spans between timing events are not records of what ran, and say nothing either way.
--
-- @run_id   the run
-- @full     1 where everything is there, as far as the capture can tell; 0 where idle is unknown
-- @because  the first reason why it is unknown
SELECT run_id, because = '' AS full, because
FROM (
    SELECT r.id AS run_id,
           CASE
               WHEN NOT EXISTS (SELECT 1 FROM level3_device d WHERE d.run_id = r.id AND d.kind <> 'span') THEN 'no device records'
               WHEN (SELECT count(DISTINCT direction) FROM seen s WHERE s.run_id = r.id AND s.kind <> 'step') < 2
                   THEN 'no runtime calls were captured'
               WHEN EXISTS (SELECT 1 FROM seen s WHERE s.run_id = r.id AND s.kind <> 'step' AND s.seen < s.expected)
                   THEN 'not every record was seen'
               WHEN EXISTS (SELECT 1 FROM ingest i WHERE i.run_id = r.id AND i.truncated = 1) THEN 'a file was cut short'
               WHEN EXISTS (SELECT 1 FROM quarantine q JOIN ingest i ON i.id = q.ingest_id WHERE i.run_id = r.id)
                   THEN 'records are in the quarantine'
               WHEN EXISTS (SELECT 1 FROM level3_device d
                            WHERE d.run_id = r.id AND d.kind <> 'span' AND (d.start_ns IS NULL OR d.end_ns IS NULL)) THEN 'a device record has no end'
               WHEN EXISTS (SELECT 1 FROM level3_device d
                            WHERE d.run_id = r.id AND d.kind NOT IN ('kernel', 'copy', 'fill', 'communication', 'graph replay', 'wait', 'span'))
                   THEN 'some device records are of a kind that is not counted as work'
               WHEN EXISTS (SELECT 1 FROM level4_edge c WHERE c.run_id = r.id AND c.kind = 'graph replay')
                   THEN 'how many records a graph replay leaves is not in the capture'
               WHEN EXISTS (SELECT 1 FROM ingest_count n JOIN ingest i ON i.id = n.ingest_id
                            WHERE i.run_id = r.id AND (n.fate GLOB 'lost:*' OR n.fate GLOB 'hole:*' OR n.fate GLOB 'missing:*'
                                                       OR n.fate GLOB 'never read:*' OR n.fate GLOB 'written over*'))
                   THEN 'a recorder lost records'
               WHEN EXISTS (SELECT 1 FROM ingest_count n JOIN ingest i ON i.id = n.ingest_id
                            WHERE i.run_id = r.id AND n.fate GLOB 'counted only:*'
                              AND (n.what GLOB '*Enqueue*' OR n.what GLOB '*Launch*' OR n.what GLOB '*Mem[cs]*'))
                   THEN 'calls that may put work on a queue were only counted'
               ELSE '' END AS because
    FROM run r
)
