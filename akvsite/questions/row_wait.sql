-- For which events did calls wait, and which calls had handed them out?
--
-- By the lifetime of the event's handle: an association, no more.
--
-- @run_id    the run
-- @wait_id   row of `edge_wait`
-- @call_id   the call that waited
-- @maker_id  the call that had handed the event out; NULL where it is not known
SELECT run_id, id AS wait_id, call_id, maker_id
FROM edge_wait
