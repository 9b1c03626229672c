-- What could not be used, and why?
--
-- @run_id   the run
-- @path     the file
-- @reason   why it was not used
-- @records  records, counted
-- @place    where the first of them stood
-- @raw      the first of them, cut at 300 characters
SELECT i.run_id, i.path, q.reason, count(*) AS records, q.place, substr(q.raw, 1, 300) AS raw
FROM ingest i
JOIN quarantine q ON q.ingest_id = i.id
GROUP BY i.run_id, i.id, q.reason
-- SQLite takes columns outside aggregates from the row that has the minimum: place and raw are those of the first
HAVING min(q.id) > 0
