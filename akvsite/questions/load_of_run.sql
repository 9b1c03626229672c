-- How busy was the host before each run, and after it: what is its load fingerprint?
--
-- As the capture states it; what it does not state, or not as a number, is NULL. A number is digits, with at most one point
-- between them. Where files of a run say different things, the greatest counts, and one that says no number takes the number
-- away. The load fingerprint is what was before the command ran; what stood after it holds the work of the run itself as well.
--
-- @run_id                 the run
-- @run                    its name
-- @host_id                the host; NULL where the capture does not say
-- @host                   its public name
-- @load_1_min             load average over 1 min
-- @cores                  cores of the host
-- @load_a_core            the first divided by the second
-- @governor               governor of the cores; NULL where the kernel shows none, or nobody asked
-- @clock                  clocks of the cores, in the words of the capture
-- @other_processes        processes on the devices other than the capture's own, counted; NULL too where it is said beside a
--                         statement that there is no device
-- @no_device              1 where the capture says that the host has no device, and states nothing of one
-- @other_memory_mib       memory that these processes hold on the devices, MiB
-- @device_clock           clocks of the devices, in the words of the capture
-- @device_temperature_c   temperatures of the devices, in the words of the capture
-- @device_memory_mib      memory in use on the devices, in the words of the capture
-- @load_a_core_after      load average over 1 min after the run, divided by the number of cores
-- @governor_after         governor of the cores after the run
-- @other_processes_after  processes on the devices other than the capture's own after the run, counted
-- @unclear_after          what is stated of the load or of these processes after the run and is no number, in words
SELECT t.run_id, t.run, t.host_id, t.host, t.load_1_min, t.cores, t.load_1_min / t.cores AS load_a_core, t.governor, t.clock,
       CASE WHEN NOT t.said_none THEN t.others END AS other_processes, t.said_none AND NOT t.said_one AS no_device,
       t.other_memory_mib, t.device_clock, t.device_temperature_c, t.device_memory_mib, t.load_after / t.cores AS load_a_core_after,
       t.governor_after, t.others_after AS other_processes_after, t.unclear_after
FROM (
    SELECT r.id AS run_id, r.name AS run, r.host_id, h.name AS host,
           (SELECT CASE WHEN min(n.number) THEN max(CAST(n.value AS REAL)) END FROM _number_fact n
            WHERE n.run_id = r.id AND n.part = 'load' AND n.key = 'before.load_1_min') AS load_1_min,
           (SELECT CASE WHEN min(n.number) THEN max(CAST(n.value AS REAL)) END FROM _number_fact n
            WHERE n.run_id = r.id AND n.part = 'load' AND n.key = 'after.load_1_min') AS load_after,
           (SELECT CASE WHEN min(n.whole) THEN nullif(min(CAST(n.value AS INTEGER)), 0) END FROM _number_fact n
            WHERE n.run_id = r.id AND n.part = 'host' AND n.key = 'cpus') AS cores,
           (SELECT group_concat(g.value, ', ') FROM (
                SELECT DISTINCT f.value FROM run_fact f
                WHERE f.run_id = r.id AND f.part = 'load' AND f.key = 'before.governor' AND trim(f.value) <> ''
                ORDER BY f.value) g) AS governor,
           (SELECT group_concat(g.value, ', ') FROM (
                SELECT DISTINCT f.value FROM run_fact f
                WHERE f.run_id = r.id AND f.part = 'load' AND f.key = 'after.governor' AND trim(f.value) <> ''
                ORDER BY f.value) g) AS governor_after,
           (SELECT max(f.value) FROM run_fact f
            WHERE f.run_id = r.id AND f.part = 'load' AND f.key = 'before.clock_mhz') AS clock,
           (SELECT CASE WHEN min(n.whole) THEN max(CAST(n.value AS INTEGER)) END FROM _number_fact n
            WHERE n.run_id = r.id AND n.part = 'load' AND n.key = 'before.device.other_processes') AS others,
           (SELECT CASE WHEN min(n.whole) THEN max(CAST(n.value AS INTEGER)) END FROM _number_fact n
            WHERE n.run_id = r.id AND n.part = 'load' AND n.key = 'after.device.other_processes') AS others_after,
           EXISTS (SELECT 1 FROM run_fact f
                   WHERE f.run_id = r.id AND f.part = 'load' AND f.key = 'before.device.told_by'
                     AND f.value = (SELECT t.no_device FROM threshold t)) AS said_none,
           EXISTS (SELECT 1 FROM run_fact f
                   WHERE f.run_id = r.id
                     AND (f.part = 'device' AND trim(f.value) <> ''
                          OR f.part = 'load' AND (f.key = 'before.device.other_processes'
                                                  OR f.key GLOB 'before.device.*_[0-9]*.*'))) AS said_one,
           (SELECT CASE WHEN min(n.whole) THEN max(CAST(n.value AS INTEGER)) END FROM _number_fact n
            WHERE n.run_id = r.id AND n.part = 'load' AND n.key = 'before.device.other_memory_mib') AS other_memory_mib,
           (SELECT group_concat(f.value, ', ') FROM run_fact f
            WHERE f.run_id = r.id AND f.part = 'load' AND f.key GLOB 'before.device.*_[0-9]*.clock_mhz') AS device_clock,
           (SELECT group_concat(f.value, ', ') FROM run_fact f
            WHERE f.run_id = r.id AND f.part = 'load'
              AND f.key GLOB 'before.device.*_[0-9]*.temperature_c') AS device_temperature_c,
           (SELECT group_concat(f.value, ', ') FROM run_fact f
            WHERE f.run_id = r.id AND f.part = 'load'
              AND f.key GLOB 'before.device.*_[0-9]*.memory_used_mib') AS device_memory_mib,
           (SELECT group_concat(CASE n.key WHEN 'after.load_1_min' THEN 'load average'
                                ELSE 'other processes on the device' END || ' `' || n.value || '`', ', ') FROM _number_fact n
            WHERE n.run_id = r.id AND n.part = 'load'
              AND (n.key = 'after.load_1_min' AND NOT n.number
                   OR n.key = 'after.device.other_processes' AND NOT n.whole)) AS unclear_after
    FROM run r
    LEFT JOIN host h ON h.id = r.host_id
) t
