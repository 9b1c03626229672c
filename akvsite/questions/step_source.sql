-- Who drew the steps of each process, and how many?
--
-- The files of one process are told by its pid. Steps that draw an iteration a second time inside another are left out.
--
-- @run_id  the run
-- @pid     process id, as text
-- @rank    its rank, where known
-- @source  who drew the boundaries
-- @steps   steps, counted
SELECT s.run_id, p.pid, p.rank, s.source, count(*) AS steps
FROM step s
JOIN process p ON p.id = s.process_id
WHERE s.nested = 0
GROUP BY s.run_id, p.pid, p.rank, s.source
