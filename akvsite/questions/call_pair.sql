-- What do the recorder and the vendor's tracer say of the same call?
--
-- The pairs are those of `same_call`: made by name, by order in the thread, and by the recorder's interval holding the
-- vendor's. That it is the longer one follows from how the pairs were made.
--
-- @run_id          the run
-- @call_id         the recorder's row
-- @vendor_id       the vendor's row
-- @start_apart_ns  start at the vendor's tracer less that at the recorder, ns
-- @duration_ns     time inside it by the recorder, ns
-- @vendor_ns       time inside it by the vendor's tracer, ns
-- @apart_ns        the vendor's less the recorder's, ns
SELECT p.run_id, p.shim_id AS call_id, p.vendor_id, v.start_ns - s.start_ns AS start_apart_ns, s.end_ns - s.start_ns AS duration_ns,
       v.end_ns - v.start_ns AS vendor_ns, (v.end_ns - v.start_ns) - (s.end_ns - s.start_ns) AS apart_ns
FROM same_call p
JOIN level4_edge s ON s.id = p.shim_id
JOIN level4_edge v ON v.id = p.vendor_id
WHERE s.end_ns IS NOT NULL AND v.end_ns IS NOT NULL
