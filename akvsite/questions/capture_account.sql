-- What became of the records of each run, added up over its files?
--
-- @run_id   the run
-- @format   the reader of the files
-- @fate     the table that the records went to, the quarantine, or why they are only counted
-- @files    files that have such records, counted
-- @records  records, counted
SELECT i.run_id, i.format, c.fate, count(DISTINCT i.id) AS files, sum(c.count) AS records
FROM ingest i
JOIN ingest_count c ON c.ingest_id = i.id
GROUP BY i.run_id, i.format, c.fate
