-- What do the client and the engine say of the same request?
--
-- By its name, which one request alone has. The engine's first token is counted from the request's arrival at the engine to
-- when the token was sent; the client's from when it sent the request.
--
-- @run_id          the run
-- @request         the request
-- @end_ns          when it was done by its client, ns
-- @client_tokens   tokens that it got by the client, counted; NULL where the client does not say it
-- @engine_tokens   tokens that the engine has on record, counted
-- @ttft_ns         time to first token by the client, ns
-- @first_ns        the same by the engine, ns
-- @first_apart_ns  the client's less the engine's, ns
-- @last_apart_ns   when the client saw the last token less when the engine sent it, ns
SELECT run_id, request, end_ns, client_tokens, engine_tokens, ttft_ns, sent_first_ns - arrived_ns AS first_ns,
       ttft_ns - (sent_first_ns - arrived_ns) AS first_apart_ns, last_apart_ns
FROM (
    SELECT run_id, request, end_ns, client_tokens, ttft_ns, number,
           sum(number IS NULL) OVER of_request AS requests,
           sum(engine) OVER of_request AS engine_tokens,
           max(CASE WHEN number = 0 THEN arrived_ns END) OVER of_request AS arrived_ns,
           max(CASE WHEN number = 0 THEN sent_ns END) OVER of_request AS sent_first_ns,
           max(CASE WHEN number = last THEN client_ns - sent_ns END) OVER of_request AS last_apart_ns
    FROM (
        SELECT *, max(CASE WHEN sent_ns IS NOT NULL THEN number END) OVER (PARTITION BY run_id, request) AS last
        FROM (
            -- requests beside their tokens: a filter by run goes down to both, which a join would not let it
            SELECT run_id, name AS request, end_ns, output_tokens AS client_tokens, ttft_ns, NULL AS number, NULL AS engine,
                   NULL AS arrived_ns, NULL AS sent_ns, NULL AS client_ns
            FROM request
            UNION ALL
            SELECT run_id, request, NULL, NULL, NULL, number,
                   CASE WHEN coalesce(scheduled_ns, launched_ns, sampled_ns, copied_ns, detokenised_ns, sent_ns) IS NOT NULL
                        THEN coalesce(tokens, 1) END,
                   arrived_ns, sent_ns, client_ns
            FROM token
            WHERE coalesce(tokens, 1) > 0
        )
    )
    WINDOW of_request AS (PARTITION BY run_id, request)
)
WHERE number IS NULL AND requests = 1 AND engine_tokens IS NOT NULL
