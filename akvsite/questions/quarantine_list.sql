-- What could not be used, and why?
--
-- @run_id   the run
-- @path     the file
-- @reason   why it was not used
-- @records  records, counted
-- @place    where the first of them stood
-- @raw      the first of them, cut at 300 characters
SELECT i.run_id, i.path, q.reason, count(*) AS records, min(q.place) AS place, substr(min(q.raw), 1, 300) AS raw
FROM quarantine q
JOIN ingest i ON i.id = q.ingest_id
GROUP BY i.run_id, i.path, q.reason
