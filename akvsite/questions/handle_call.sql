-- How often was each call made that succeeded, and in which eighth of the run?
--
-- What a handle's kind and the call's act are is told from its name, on the page. Calls inside other recorded calls are
-- left out, since the outer one did the same.
--
-- @run_id  the run
-- @source  vendor or shim
-- @name    name of the call
-- @part    eighth of the time between the first and the last call of the source, from 0 to 7
-- @calls   calls, counted
-- @events  of these, calls that handed an event out to their caller, counted
SELECT DISTINCT run_id, source, name, part, count(*) OVER of_part AS calls, sum(handed_out) OVER of_part AS events
-- windows, not groups: SQLite hands a filter by run down through partitions, and stops at a group over a view
FROM (
    SELECT run_id, source, name, CAST(min(7, 8.0 * (start_ns - min(start_ns) OVER whole)
                                             / max(1, max(start_ns) OVER whole - min(start_ns) OVER whole)) AS INTEGER) AS part,
           event IS NOT NULL AND coalesce(event_asked, 0) = 0 AS handed_out, result, nested
    FROM level4_edge
    WHERE start_ns IS NOT NULL
    WINDOW whole AS (PARTITION BY run_id, source)
)
WHERE coalesce(result, 0) = 0 AND coalesce(nested, 0) = 0
WINDOW of_part AS (PARTITION BY run_id, source, name, part)
