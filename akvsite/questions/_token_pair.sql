-- How long was it from each milestone of a token to its next one?
--
-- The next one that the token has: those that are missing are stepped over. Below 0 the two are out of order. The arrival is
-- of the request: it stands with the request's first token alone. Chunks without a token are left out.
--
-- @run_id       the run
-- @process_id   the process
-- @token_id     the token, row of `token`
-- @step         number of its step
-- @place        place of the first milestone in their order, from 0
-- @milestone    the first milestone
-- @next         the next one that is there
-- @duration_ns  from the first to the next, ns
-- @bound_ns     half-width of the clock's bound, ns: 0 where both times are of one clock, NULL where it is not known
SELECT run_id, process_id, token_id, step, place, milestone, next, duration_ns,
       CASE WHEN (milestone IN ('device_first', 'device_last')) = (next IN ('device_first', 'device_last')) THEN 0 ELSE device_bound_ns END AS bound_ns
FROM (
    SELECT run_id, process_id, id AS token_id, step, 0 AS place, 'arrived' AS milestone,
           CASE WHEN scheduled_ns IS NOT NULL THEN 'scheduled' WHEN launched_ns IS NOT NULL THEN 'launched' WHEN device_first_ns IS NOT NULL THEN 'device_first' WHEN device_last_ns IS NOT NULL THEN 'device_last' WHEN sampled_ns IS NOT NULL THEN 'sampled' WHEN copied_ns IS NOT NULL THEN 'copied' WHEN detokenised_ns IS NOT NULL THEN 'detokenised' WHEN sent_ns IS NOT NULL THEN 'sent' WHEN client_ns IS NOT NULL THEN 'client' END AS next,
           coalesce(scheduled_ns, launched_ns, device_first_ns, device_last_ns, sampled_ns, copied_ns, detokenised_ns, sent_ns, client_ns) - arrived_ns AS duration_ns, device_bound_ns
    FROM token WHERE arrived_ns IS NOT NULL AND coalesce(scheduled_ns, launched_ns, device_first_ns, device_last_ns, sampled_ns, copied_ns, detokenised_ns, sent_ns, client_ns) IS NOT NULL AND coalesce(tokens, 1) > 0 AND number = 0
    UNION ALL
    SELECT run_id, process_id, id AS token_id, step, 1 AS place, 'scheduled' AS milestone,
           CASE WHEN launched_ns IS NOT NULL THEN 'launched' WHEN device_first_ns IS NOT NULL THEN 'device_first' WHEN device_last_ns IS NOT NULL THEN 'device_last' WHEN sampled_ns IS NOT NULL THEN 'sampled' WHEN copied_ns IS NOT NULL THEN 'copied' WHEN detokenised_ns IS NOT NULL THEN 'detokenised' WHEN sent_ns IS NOT NULL THEN 'sent' WHEN client_ns IS NOT NULL THEN 'client' END AS next,
           coalesce(launched_ns, device_first_ns, device_last_ns, sampled_ns, copied_ns, detokenised_ns, sent_ns, client_ns) - scheduled_ns AS duration_ns, device_bound_ns
    FROM token WHERE scheduled_ns IS NOT NULL AND coalesce(launched_ns, device_first_ns, device_last_ns, sampled_ns, copied_ns, detokenised_ns, sent_ns, client_ns) IS NOT NULL AND coalesce(tokens, 1) > 0
    UNION ALL
    SELECT run_id, process_id, id AS token_id, step, 2 AS place, 'launched' AS milestone,
           CASE WHEN device_first_ns IS NOT NULL THEN 'device_first' WHEN device_last_ns IS NOT NULL THEN 'device_last' WHEN sampled_ns IS NOT NULL THEN 'sampled' WHEN copied_ns IS NOT NULL THEN 'copied' WHEN detokenised_ns IS NOT NULL THEN 'detokenised' WHEN sent_ns IS NOT NULL THEN 'sent' WHEN client_ns IS NOT NULL THEN 'client' END AS next,
           coalesce(device_first_ns, device_last_ns, sampled_ns, copied_ns, detokenised_ns, sent_ns, client_ns) - launched_ns AS duration_ns, device_bound_ns
    FROM token WHERE launched_ns IS NOT NULL AND coalesce(device_first_ns, device_last_ns, sampled_ns, copied_ns, detokenised_ns, sent_ns, client_ns) IS NOT NULL AND coalesce(tokens, 1) > 0
    UNION ALL
    SELECT run_id, process_id, id AS token_id, step, 3 AS place, 'device_first' AS milestone,
           CASE WHEN device_last_ns IS NOT NULL THEN 'device_last' WHEN sampled_ns IS NOT NULL THEN 'sampled' WHEN copied_ns IS NOT NULL THEN 'copied' WHEN detokenised_ns IS NOT NULL THEN 'detokenised' WHEN sent_ns IS NOT NULL THEN 'sent' WHEN client_ns IS NOT NULL THEN 'client' END AS next,
           coalesce(device_last_ns, sampled_ns, copied_ns, detokenised_ns, sent_ns, client_ns) - device_first_ns AS duration_ns, device_bound_ns
    FROM token WHERE device_first_ns IS NOT NULL AND coalesce(device_last_ns, sampled_ns, copied_ns, detokenised_ns, sent_ns, client_ns) IS NOT NULL AND coalesce(tokens, 1) > 0
    UNION ALL
    SELECT run_id, process_id, id AS token_id, step, 4 AS place, 'device_last' AS milestone,
           CASE WHEN sampled_ns IS NOT NULL THEN 'sampled' WHEN copied_ns IS NOT NULL THEN 'copied' WHEN detokenised_ns IS NOT NULL THEN 'detokenised' WHEN sent_ns IS NOT NULL THEN 'sent' WHEN client_ns IS NOT NULL THEN 'client' END AS next,
           coalesce(sampled_ns, copied_ns, detokenised_ns, sent_ns, client_ns) - device_last_ns AS duration_ns, device_bound_ns
    FROM token WHERE device_last_ns IS NOT NULL AND coalesce(sampled_ns, copied_ns, detokenised_ns, sent_ns, client_ns) IS NOT NULL AND coalesce(tokens, 1) > 0
    UNION ALL
    SELECT run_id, process_id, id AS token_id, step, 5 AS place, 'sampled' AS milestone,
           CASE WHEN copied_ns IS NOT NULL THEN 'copied' WHEN detokenised_ns IS NOT NULL THEN 'detokenised' WHEN sent_ns IS NOT NULL THEN 'sent' WHEN client_ns IS NOT NULL THEN 'client' END AS next,
           coalesce(copied_ns, detokenised_ns, sent_ns, client_ns) - sampled_ns AS duration_ns, device_bound_ns
    FROM token WHERE sampled_ns IS NOT NULL AND coalesce(copied_ns, detokenised_ns, sent_ns, client_ns) IS NOT NULL AND coalesce(tokens, 1) > 0
    UNION ALL
    SELECT run_id, process_id, id AS token_id, step, 6 AS place, 'copied' AS milestone,
           CASE WHEN detokenised_ns IS NOT NULL THEN 'detokenised' WHEN sent_ns IS NOT NULL THEN 'sent' WHEN client_ns IS NOT NULL THEN 'client' END AS next,
           coalesce(detokenised_ns, sent_ns, client_ns) - copied_ns AS duration_ns, device_bound_ns
    FROM token WHERE copied_ns IS NOT NULL AND coalesce(detokenised_ns, sent_ns, client_ns) IS NOT NULL AND coalesce(tokens, 1) > 0
    UNION ALL
    SELECT run_id, process_id, id AS token_id, step, 7 AS place, 'detokenised' AS milestone,
           CASE WHEN sent_ns IS NOT NULL THEN 'sent' WHEN client_ns IS NOT NULL THEN 'client' END AS next,
           coalesce(sent_ns, client_ns) - detokenised_ns AS duration_ns, device_bound_ns
    FROM token WHERE detokenised_ns IS NOT NULL AND coalesce(sent_ns, client_ns) IS NOT NULL AND coalesce(tokens, 1) > 0
    UNION ALL
    SELECT run_id, process_id, id AS token_id, step, 8 AS place, 'sent' AS milestone,
           CASE WHEN client_ns IS NOT NULL THEN 'client' END AS next,
           client_ns - sent_ns AS duration_ns, device_bound_ns
    FROM token WHERE sent_ns IS NOT NULL AND client_ns IS NOT NULL AND coalesce(tokens, 1) > 0
)
