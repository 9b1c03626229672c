-- Which processes were seen?
--
-- @run_id      the run
-- @process_id  the process
-- @path        the file it was seen in
-- @pid         process id, as text
-- @rank        its rank, where known
-- @name        its name, where known
SELECT p.run_id, p.id AS process_id, i.path, p.pid, p.rank, p.name
FROM process p
JOIN ingest i ON i.id = p.ingest_id
