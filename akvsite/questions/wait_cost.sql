-- Which calls held the host, how often and for how long?
--
-- Calls that wait by their name, and those that their caller asked to block; not those inside another recorded call.
--
-- @run_id        the run
-- @source        vendor or shim
-- @name          name of the call
-- @waits         calls, counted
-- @open_waits    of these, calls that never returned, counted; they are in no sum
-- @total_ns      time inside them, added up, ns
-- @longest_ns    the longest of them, ns
-- @events        events that they waited for, counted
-- @makers_known  of these, events whose call is known, counted
SELECT c.run_id, c.source, c.name, count(*) AS waits, coalesce(sum(c.open), 0) AS open_waits,
       sum(c.end_ns - c.start_ns) AS total_ns, max(c.end_ns - c.start_ns) AS longest_ns,
       sum((SELECT count(*) FROM edge_wait w WHERE w.call_id = c.id)) AS events,
       sum((SELECT count(w.maker_id) FROM edge_wait w WHERE w.call_id = c.id)) AS makers_known
FROM level4_edge c
WHERE (c.kind = 'wait' OR c.blocking = 1) AND coalesce(c.nested, 0) = 0
GROUP BY c.run_id, c.source, c.name
