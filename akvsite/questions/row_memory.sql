-- How much memory did each process hold, sample by sample?
--
-- @run_id           the run
-- @sample_id        row of `memory_sample`
-- @process_id  the process
-- @at_ns            when, on CLOCK_MONOTONIC, ns
-- @resident_bytes   resident memory, byte
-- @anonymous_bytes  of that, memory that no file stands behind, byte; NULL where it is not known
SELECT run_id, id AS sample_id, process_id, at_ns, resident_bytes, anonymous_bytes
FROM memory_sample
