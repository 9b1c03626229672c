-- What happened to requests, and how often?
--
-- @run_id    the run
-- @event     `arrived`, `admitted`, `preempted`, `resumed`, `finished`, `failed`; of a client `client sent` and so on
-- @events    how often, counted
-- @requests  requests to which it happened, counted
SELECT run_id, event, count(*) AS events, count(DISTINCT request) AS requests
FROM request_event
GROUP BY run_id, event
