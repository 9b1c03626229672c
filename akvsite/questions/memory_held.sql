-- What was in the memory that torch's allocator had reserved when a snapshot was taken?
--
-- A block is active from when it is handed out until no stream can use it any more.
--
-- @run_id           the run
-- @process_id       the process
-- @device           device number
-- @blocks           active blocks, counted
-- @allocated_bytes  sizes of the blocks that the program held, byte
-- @waiting_bytes    sizes of those that it had given back and a stream might still use, byte
-- @waste_bytes      by how much active blocks are larger than what was asked for, byte; NULL where one does not say
-- @free_bytes       sizes of the free blocks between them, byte
SELECT run_id, process_id, device, sum(state GLOB 'active*') AS blocks,
       sum(CASE WHEN state = 'active_allocated' THEN bytes ELSE 0 END) AS allocated_bytes,
       sum(CASE WHEN state GLOB 'active*' AND state <> 'active_allocated' THEN bytes ELSE 0 END) AS waiting_bytes,
       CASE WHEN sum(state GLOB 'active*') = count(CASE WHEN state GLOB 'active*' THEN requested_bytes END)
            THEN sum(CASE WHEN state GLOB 'active*' THEN bytes - requested_bytes ELSE 0 END) END AS waste_bytes,
       sum(CASE WHEN state = 'inactive' THEN bytes ELSE 0 END) AS free_bytes
FROM memory_block
GROUP BY run_id, process_id, device
