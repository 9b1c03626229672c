-- How long is the history of allocations and releases that a snapshot of torch's allocator has?
--
-- @run_id       the run
-- @process_id   the process
-- @device       device number
-- @entries      entries, counted
-- @allocations  of these, blocks that were handed out, counted
-- @releases     of these, blocks that came back, counted
-- @first_ns     time of the first entry, ns; NULL where none has a time
-- @last_ns      time of the last one, ns
SELECT run_id, process_id, device, count(*) AS entries, sum(action = 'alloc') AS allocations,
       sum(action = 'free_completed') AS releases, min(at_ns) AS first_ns, max(at_ns) AS last_ns
FROM memory_event
WHERE action IS NOT NULL
GROUP BY run_id, process_id, device
