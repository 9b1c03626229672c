-- How long did each call hold the host until something else was done?
--
-- Calls that wait by their name, and those that their caller asked to block. What a call waited for is what it named: that
-- it took so long because of that is not said here.
--
-- @run_id        the run
-- @call_id       row of `level4_edge`
-- @source        vendor or shim
-- @name          name of the call
-- @thread        its thread
-- @queue         the queue that it named, where it did
-- @start_ns      when it began, ns
-- @duration_ns   how long it took, ns; NULL where it never returned
-- @events        events that it waited for, counted
-- @makers_known  of these, events whose call is known, counted
SELECT c.run_id, c.id AS call_id, c.source, c.name, c.thread, c.queue, c.start_ns, c.end_ns - c.start_ns AS duration_ns,
       (SELECT count(*) FROM edge_wait w WHERE w.call_id = c.id) AS events,
       (SELECT count(w.maker_id) FROM edge_wait w WHERE w.call_id = c.id) AS makers_known
FROM level4_edge c
WHERE (c.kind = 'wait' OR c.blocking = 1) AND coalesce(c.nested, 0) = 0
