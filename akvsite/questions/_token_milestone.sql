-- When did each token reach each of its milestones?
--
-- One row for each milestone that a token has, in the order in which they can happen. The arrival is of the request: it
-- stands with the request's first token alone. Chunks without a token are left out.
--
-- @run_id      the run
-- @process_id  the process
-- @token_id    the token, row of `token`
-- @request     its request
-- @number      its place in the output
-- @step        number of its step
-- @place       place of the milestone in their order, from 0
-- @milestone   the milestone
-- @at_ns       when, ns
-- @on_device   1 where the time is one of the device's, brought to the host's axis
-- @bound_ns    half-width of the bound of the token's device times, ns; NULL where it is not known
SELECT run_id, process_id, id AS token_id, request, number, step, place, milestone, at_ns,
       milestone IN ('device_first', 'device_last') AS on_device, device_bound_ns AS bound_ns
FROM (
    SELECT t.run_id, t.process_id, t.id, t.request, t.number, t.step, t.device_bound_ns, m.place, m.milestone,
           CASE m.place WHEN 0 THEN CASE WHEN t.number = 0 THEN t.arrived_ns END WHEN 1 THEN t.scheduled_ns WHEN 2 THEN t.launched_ns
                        WHEN 3 THEN t.device_first_ns WHEN 4 THEN t.device_last_ns WHEN 5 THEN t.sampled_ns WHEN 6 THEN t.copied_ns
                        WHEN 7 THEN t.detokenised_ns WHEN 8 THEN t.sent_ns ELSE t.client_ns END AS at_ns
    FROM token t
    JOIN (SELECT 0 AS place, 'arrived' AS milestone UNION ALL SELECT 1, 'scheduled' UNION ALL SELECT 2, 'launched'
          UNION ALL SELECT 3, 'device_first' UNION ALL SELECT 4, 'device_last' UNION ALL SELECT 5, 'sampled'
          UNION ALL SELECT 6, 'copied' UNION ALL SELECT 7, 'detokenised' UNION ALL SELECT 8, 'sent' UNION ALL SELECT 9, 'client') m
    WHERE coalesce(t.tokens, 1) > 0
)
WHERE at_ns IS NOT NULL
