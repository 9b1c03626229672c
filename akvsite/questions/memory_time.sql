-- How much memory did each process of the run hold, over time?
--
-- @run_id           the run
-- @process_id       the process
-- @pid              its process id, as text
-- @process          its name, where known
-- @at_ns            when, ns
-- @resident_bytes   resident memory, byte
-- @anonymous_bytes  of that, memory that no file stands behind, byte
SELECT m.run_id, m.process_id, p.pid, p.name AS process, m.at_ns, m.resident_bytes, m.anonymous_bytes
FROM memory_sample m
JOIN process p ON p.id = m.process_id
