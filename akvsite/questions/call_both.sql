-- Which calls did both the vendor's tracer and the shim record, and which only one of them?
--
-- There is no id that both carry: a row of each is taken for the same call by name, order in the thread, and the one lying
-- inside the other. Of the shim's calls only those are listed here as unseen by the vendor's tracer that were made while
-- it was recording.
--
-- @run_id        the run
-- @thread        the thread
-- @kind          launch, copy, fill, graph replay, wait or other
-- @vendor        name of the call as the vendor's tracer has it; NULL where it did not see it
-- @shim          name of the call as the shim has it; NULL where it did not see it
-- @nested        1 where the shim saw it inside another recorded call
-- @calls         calls, counted
-- @with_records  of these, calls with device records, counted
SELECT DISTINCT run_id, thread, kind, vendor, shim, nested, count(*) OVER alike AS calls, sum(recorded) OVER alike AS with_records
-- windows, not groups: SQLite hands a filter by run down through partitions, and stops at a group over a view
FROM (
    -- each row of the vendor's with its partner, and the rows of the shim with what is known of the whole run
    SELECT c.run_id, c.thread, c.kind, CASE WHEN c.source <> 'shim' THEN c.name END AS vendor,
           CASE WHEN c.source = 'shim' THEN c.name ELSE (SELECT s.name FROM level4_edge s WHERE s.id = p.shim_id) END AS shim,
           CASE WHEN c.source = 'shim' THEN c.nested ELSE (SELECT s.nested FROM level4_edge s WHERE s.id = p.shim_id) END AS nested,
           EXISTS (SELECT 1 FROM link l WHERE l.call_id = c.id) AS recorded, c.start_ns, q.shim_id AS in_partner,
           max(c.source = 'shim') OVER of_run AS has_shim,
           min(CASE WHEN c.source <> 'shim' THEN c.start_ns END) OVER of_run AS first_ns,
           max(CASE WHEN c.source <> 'shim' THEN c.start_ns END) OVER of_run AS last_ns
    FROM level4_edge c
    LEFT JOIN same_call p ON p.vendor_id = c.id
    LEFT JOIN same_call q ON q.shim_id = c.id
    WINDOW of_run AS (PARTITION BY c.run_id)
)
WHERE has_shim AND in_partner IS NULL AND (vendor IS NOT NULL OR start_ns BETWEEN first_ns AND last_ns)
WINDOW alike AS (PARTITION BY run_id, vendor, shim, nested, thread, kind)
