-- How much memory of each device had torch's allocator reserved when a snapshot was taken?
--
-- @run_id          the run
-- @process_id      the process
-- @device          device number
-- @segments        reserved segments, counted
-- @reserved_bytes  their sizes added up, byte
SELECT run_id, process_id, device, count(*) AS segments, sum(bytes) AS reserved_bytes
FROM memory_segment
GROUP BY run_id, process_id, device
