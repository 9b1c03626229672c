-- Which sizes of blocks were held when a snapshot of torch's allocator was taken, and since when?
--
-- @run_id        the run
-- @process_id    the process
-- @device        device number
-- @bytes         size of a block, byte
-- @blocks        active blocks of this size, counted
-- @total_bytes   their sizes added up, byte
-- @in_history    of the blocks, those that were handed out in the history that the snapshot has, counted
-- @first_ns      when the first of these was handed out, ns
-- @last_ns       when the last of these was handed out, ns
SELECT run_id, process_id, device, bytes, count(*) AS blocks, sum(bytes) AS total_bytes, count(since_ns) AS in_history,
       min(since_ns) AS first_ns, max(since_ns) AS last_ns
FROM memory_block
WHERE state GLOB 'active*'
GROUP BY run_id, process_id, device, bytes
