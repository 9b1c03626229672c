-- From what times do a run's rows count, so that a browser holds them exactly?
--
-- The first known time of its steps; without steps the first of whatever it has on the host's axis. And, apart, the first
-- of the device's own clock.
--
-- @run_id     the run
-- @host_ns    origin on the host's axis, ns; NULL where no time is known
-- @device_ns  origin on the device's own axis, ns; NULL where there is none
SELECT r.id AS run_id,
       coalesce((SELECT min(start_ns) FROM step WHERE run_id = r.id),
                (SELECT min(start_ns) FROM level1_runner WHERE run_id = r.id),
                (SELECT min(start_ns) FROM level2_host WHERE run_id = r.id),
                (SELECT min(start_ns) FROM level4_edge WHERE run_id = r.id),
                (SELECT min(start_ns) FROM request WHERE run_id = r.id),
                (SELECT min(start_ns) FROM level3_device WHERE run_id = r.id AND clock IS NULL)) AS host_ns,
       (SELECT min(start_ns) FROM level3_device WHERE run_id = r.id AND clock IS NOT NULL) AS device_ns
FROM run r
