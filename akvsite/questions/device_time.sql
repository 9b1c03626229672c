-- For how long was each device seen to work, as a union and as a sum?
--
-- The union counts each moment once, however many queues were at work in it; the sum counts it once a queue, and is
-- no part of a day. Devices of different processes, and times on different clocks, are never pooled.
--
-- @run_id      the run
-- @process_id  the process
-- @device      the device
-- @clock       `device` where its times are the device's own clock, not converted; else NULL
-- @lane        `all`, `kernel`, `copy`, `fill`, `communication` or `graph replay`
-- @intervals   device records, counted
-- @first_ns    first start, ns
-- @last_ns     last end, ns
-- @union_ns    time covered by at least one interval, ns
-- @sum_ns      durations added up, ns
SELECT DISTINCT run_id, process_id, device, clock, lane, count(*) OVER lane AS intervals, min(start_ns) OVER lane AS first_ns,
       max(end_ns) OVER lane AS last_ns,
       sum(max(0, end_ns - max(start_ns, coalesce(covered_to, start_ns)))) OVER lane AS union_ns,
       sum(end_ns - start_ns) OVER lane AS sum_ns
FROM _device_islands
-- windows, not groups: SQLite hands a filter by run down through partitions, and stops at a group over a view
WINDOW lane AS (PARTITION BY run_id, process_id, device, clock, lane)
