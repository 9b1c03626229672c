-- How much memory did each run of an experiment hold between its segments?
--
-- Only processes that have both timed segments and samples of memory.
--
-- @run_id           the run: one experiment
-- @process_id       the fresh process in which it ran
-- @at_ns            when, ns
-- @resident_bytes   resident memory, byte
-- @anonymous_bytes  of that, memory that no file stands behind, byte
SELECT m.run_id, m.process_id, m.at_ns, m.resident_bytes, m.anonymous_bytes
FROM memory_sample m
WHERE EXISTS (SELECT 1 FROM trial t WHERE t.run_id = m.run_id AND t.process_id = m.process_id)
  AND m.resident_bytes IS NOT NULL AND m.anonymous_bytes IS NOT NULL
