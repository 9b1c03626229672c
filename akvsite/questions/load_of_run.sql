-- How busy was the host before each run: what is its load fingerprint?
--
-- As the capture states it, before the command ran; what it does not state, or not as a number, is NULL. Where files of a
-- run say different things, the greatest counts.
--
-- @run_id                the run
-- @run                   its name
-- @host_id               the host; NULL where the capture does not say
-- @host                  its public name
-- @load_1_min            load average over 1 min
-- @cores                 cores of the host
-- @load_a_core           the first divided by the second
-- @governor              governor of the cores; NULL where the kernel shows none, or nobody asked
-- @clock                 clocks of the cores, in the words of the capture
-- @other_processes       processes on the devices other than the capture's own, counted
-- @no_device             1 where the capture says that the host has no device
-- @other_memory_mib      memory that these processes hold on the devices, MiB
-- @device_clock          clocks of the devices, in the words of the capture
-- @device_temperature_c  temperatures of the devices, in the words of the capture
-- @device_memory_mib     memory in use on the devices, in the words of the capture
SELECT v.run_id, v.run, v.host_id, v.host, v.load_1_min, v.cores, v.load_1_min / v.cores AS load_a_core, v.governor, v.clock,
       v.other_processes, v.no_device, v.other_memory_mib, v.device_clock, v.device_temperature_c, v.device_memory_mib
FROM (
    SELECT r.id AS run_id, r.name AS run, r.host_id, h.name AS host,
           (SELECT max(CAST(f.value AS REAL)) FROM run_fact f
            WHERE f.run_id = r.id AND f.part = 'load' AND f.key = 'before.load_1_min'
              AND f.value GLOB '[0-9]*' AND f.value NOT GLOB '*[^0-9.]*') AS load_1_min,
           (SELECT min(CAST(f.value AS INTEGER)) FROM run_fact f
            WHERE f.run_id = r.id AND f.part = 'host' AND f.key = 'cpus'
              AND f.value GLOB '[1-9]*' AND f.value NOT GLOB '*[^0-9]*') AS cores,
           (SELECT max(f.value) FROM run_fact f
            WHERE f.run_id = r.id AND f.part = 'load' AND f.key = 'before.governor' AND trim(f.value) <> '') AS governor,
           (SELECT max(f.value) FROM run_fact f
            WHERE f.run_id = r.id AND f.part = 'load' AND f.key = 'before.clock_mhz') AS clock,
           (SELECT max(CAST(f.value AS INTEGER)) FROM run_fact f
            WHERE f.run_id = r.id AND f.part = 'load' AND f.key = 'before.device.other_processes'
              AND f.value GLOB '[0-9]*' AND f.value NOT GLOB '*[^0-9]*') AS other_processes,
           EXISTS (SELECT 1 FROM run_fact f
                   WHERE f.run_id = r.id AND f.part = 'load' AND f.key = 'before.device.told_by'
                     AND f.value = (SELECT t.no_device FROM threshold t)) AS no_device,
           (SELECT max(CAST(f.value AS INTEGER)) FROM run_fact f
            WHERE f.run_id = r.id AND f.part = 'load' AND f.key = 'before.device.other_memory_mib'
              AND f.value GLOB '[0-9]*' AND f.value NOT GLOB '*[^0-9]*') AS other_memory_mib,
           (SELECT group_concat(f.value, ', ') FROM run_fact f
            WHERE f.run_id = r.id AND f.part = 'load' AND f.key GLOB 'before.device.*_[0-9]*.clock_mhz') AS device_clock,
           (SELECT group_concat(f.value, ', ') FROM run_fact f
            WHERE f.run_id = r.id AND f.part = 'load'
              AND f.key GLOB 'before.device.*_[0-9]*.temperature_c') AS device_temperature_c,
           (SELECT group_concat(f.value, ', ') FROM run_fact f
            WHERE f.run_id = r.id AND f.part = 'load'
              AND f.key GLOB 'before.device.*_[0-9]*.memory_used_mib') AS device_memory_mib
    FROM run r
    LEFT JOIN host h ON h.id = r.host_id
) v
