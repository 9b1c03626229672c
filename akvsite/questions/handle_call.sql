-- How often was each call made that succeeded, and in which eighth of the run?
--
-- What a handle's kind and the call's act are is told from its name, on the page. Calls inside other recorded calls are
-- left out, since the outer one did the same.
--
-- @run_id  the run
-- @source  vendor or shim
-- @name    name of the call
-- @part    eighth of the time between the first and the last call of the process, from 0 to 7
-- @calls   calls, counted
-- @events  of these, calls that handed an event out to their caller, counted
-- two look-ups in an index for each process, and none for each call
WITH process_span AS MATERIALIZED (
    SELECT id, (SELECT min(f.start_ns) FROM level4_edge f WHERE f.run_id = p.run_id AND f.process_id = p.id) AS first_ns,
           (SELECT max(f.start_ns) FROM level4_edge f WHERE f.run_id = p.run_id AND f.process_id = p.id) AS last_ns
    FROM process p
)
SELECT c.run_id, c.source, c.name, CAST(min(7, 8.0 * (c.start_ns - s.first_ns) / max(1, s.last_ns - s.first_ns)) AS INTEGER) AS part,
       count(*) AS calls, sum(c.event IS NOT NULL AND coalesce(c.event_asked, 0) = 0) AS events
FROM process_span s
CROSS JOIN level4_edge c ON c.process_id = s.id
WHERE c.start_ns IS NOT NULL AND coalesce(c.result, 0) = 0 AND coalesce(c.nested, 0) = 0
GROUP BY c.run_id, c.source, c.name, part
