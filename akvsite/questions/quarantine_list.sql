-- What could not be used, and why?
--
-- @run_id   the run
-- @path     the file
-- @reason   why it was not used
-- @records  records, counted
-- @place    where the first of them stood
-- @raw      the first of them, cut at 300 characters
SELECT i.run_id, i.path, q.reason, f.records, q.place, substr(q.raw, 1, 300) AS raw
FROM (SELECT min(id) AS id, count(*) AS records FROM quarantine GROUP BY ingest_id, reason) f
JOIN quarantine q ON q.id = f.id
JOIN ingest i ON i.id = q.ingest_id
