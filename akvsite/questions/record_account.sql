-- What became of every record of every file?
--
-- @run_id  the run
-- @path    the file
-- @what    kind of record, in the words of its format
-- @fate    the table it went to, the quarantine, or why it is only counted
-- @count   records, counted
SELECT i.run_id, i.path, c.what, c.fate, c.count
FROM ingest_count c
JOIN ingest i ON i.id = c.ingest_id
