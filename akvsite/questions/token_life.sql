-- How long did each token live, and from what to what?
--
-- A life begins where its request arrived for the first token of a request, for a later one where its step was scheduled; where
-- that is not on record, at the first milestone after it that is. It ends at the last milestone on record. Chunks without a
-- token, and tokens with one milestone alone, have no life.
--
-- @run_id       the run
-- @token_id     row of `token`
-- @process_id   the process
-- @request      name of its request
-- @number       place in the request's output, from 0
-- @step         number of its step
-- @kind         kind of that step; NULL where the step is not on record
-- @warm_up      1 where that step is declared as warm-up
-- @begins       milestone at which the life begins
-- @ends         milestone at which it ends
-- @life_ns      from the one to the other, ns; below 0 where they are out of order; NULL where it has no life
SELECT run_id, token_id, process_id, request, number, step, kind, warm_up,
       CASE WHEN begins <> ends THEN begins END AS begins, CASE WHEN begins <> ends THEN ends END AS ends,
       CASE WHEN begins <> ends THEN to_ns - from_ns END AS life_ns
FROM (
    SELECT t.run_id, t.id AS token_id, t.process_id, t.request, t.number, t.step, s.kind, coalesce(s.warm_up, 0) AS warm_up,
           CASE WHEN coalesce(t.tokens, 1) < 1 THEN NULL WHEN t.number = 0 AND t.arrived_ns IS NOT NULL THEN 'arrived' WHEN t.scheduled_ns IS NOT NULL THEN 'scheduled' WHEN t.launched_ns IS NOT NULL THEN 'launched' WHEN t.device_first_ns IS NOT NULL THEN 'device_first' WHEN t.device_last_ns IS NOT NULL THEN 'device_last' WHEN t.sampled_ns IS NOT NULL THEN 'sampled' WHEN t.copied_ns IS NOT NULL THEN 'copied' WHEN t.detokenised_ns IS NOT NULL THEN 'detokenised' WHEN t.sent_ns IS NOT NULL THEN 'sent' WHEN t.client_ns IS NOT NULL THEN 'client' END AS begins,
           CASE WHEN t.client_ns IS NOT NULL THEN 'client' WHEN t.sent_ns IS NOT NULL THEN 'sent' WHEN t.detokenised_ns IS NOT NULL THEN 'detokenised' WHEN t.copied_ns IS NOT NULL THEN 'copied' WHEN t.sampled_ns IS NOT NULL THEN 'sampled' WHEN t.device_last_ns IS NOT NULL THEN 'device_last' WHEN t.device_first_ns IS NOT NULL THEN 'device_first' WHEN t.launched_ns IS NOT NULL THEN 'launched' WHEN t.scheduled_ns IS NOT NULL THEN 'scheduled' WHEN t.number = 0 THEN 'arrived' END AS ends,
           coalesce(CASE WHEN t.number = 0 THEN t.arrived_ns END, t.scheduled_ns, t.launched_ns, t.device_first_ns, t.device_last_ns, t.sampled_ns, t.copied_ns, t.detokenised_ns, t.sent_ns, t.client_ns) AS from_ns,
           coalesce(t.client_ns, t.sent_ns, t.detokenised_ns, t.copied_ns, t.sampled_ns, t.device_last_ns, t.device_first_ns, t.launched_ns, t.scheduled_ns, t.arrived_ns) AS to_ns
    FROM token t
    LEFT JOIN step s ON s.id = (SELECT min(o.id) FROM step o
                                WHERE o.run_id = t.run_id AND o.process_id = t.process_id AND o.number = t.step AND o.nested = 0)
)
