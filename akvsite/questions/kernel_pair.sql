-- What do the recorder and the vendor's tracer say of the same work on the device?
--
-- The same work is that of one call which both recorded, and of which each has one device record. A length needs no
-- conversion to the host's clock; it is known to a tick of its own counter.
--
-- @run_id       the run
-- @interval_id  the recorder's row
-- @vendor_id    the vendor's row
-- @kind         kernel, copy or fill
-- @duration_ns  how long it took by the recorder, ns
-- @vendor_ns    how long it took by the vendor's tracer, ns
-- @apart_ns     the vendor's less the recorder's, ns
-- @bound_ns     how far a length may be off, the ticks of both added up, ns; NULL where one is not known
SELECT run_id, interval_id, vendor_id, kind, duration_ns, vendor_ns, vendor_ns - duration_ns AS apart_ns, bound_ns
FROM (
    SELECT p.run_id, s.id AS interval_id, v.id AS vendor_id, s.kind, s.end_ns - s.start_ns AS duration_ns, v.end_ns - v.start_ns AS vendor_ns,
           count(*) OVER (PARTITION BY p.run_id, p.shim_id) AS records,
           (SELECT max(b.tick_ns) FROM clock_bound b
            WHERE b.run_id = s.run_id AND b.process_id = s.process_id AND b.device = s.device AND b.made_by = 'constraints')
           + (SELECT max(b.tick_ns) FROM clock_bound b
              WHERE b.run_id = v.run_id AND b.process_id = v.process_id AND b.device = v.device AND b.made_by = 'vendor') AS bound_ns
    FROM same_call p
    JOIN link ls ON ls.call_id = p.shim_id
    JOIN level3_device s ON s.id = ls.interval_id AND s.clock = 'device'
    JOIN link lv ON lv.call_id = p.vendor_id
    JOIN level3_device v ON v.id = lv.interval_id AND v.clock IS NULL
)
WHERE records = 1 AND duration_ns IS NOT NULL AND vendor_ns IS NOT NULL
