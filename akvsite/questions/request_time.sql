-- How did each request go, as its client saw it?
--
-- Where the chunks of its stream say how many tokens they hold, the times are made from them: a chunk is not a token, and one
-- without any is no first token; where a later token alone has a time, the first one's is unknown, and not that of the later. Else they are those of the file, and the time per token counts the tokens that it tells. Where
-- several requests have one name, nobody knows whose a chunk is: times that would be made from chunks are then unknown.
--
-- @run_id         the run
-- @request_id     the request's row
-- @name           its name
-- @start_ns       when it was sent, ns
-- @end_ns         when it was done, ns
-- @zero           what the times count from
-- @ok             1 completed, 0 failed, NULL unknown
-- @prompt_tokens  tokens in the prompt
-- @output_tokens  tokens generated
-- @ttft_ns        time to first token, ns; NULL where it would be made from chunks of several requests, or of a later token
-- @tpot_ns        time per output token after the first, ns; NULL for chunks of several requests, for fewer than two tokens and for a failed request
-- @first_unseen   1 where its client's time of a later token is on record, and that of the first one is not; NULL where it has no stream of its own
SELECT run_id, request_id, name, start_ns, end_ns, zero, ok, prompt_tokens, output_tokens,
       CASE WHEN tokens IS NULL THEN ttft_ns WHEN named = 1 AND first_number = 0 THEN first_ns - start_ns END AS ttft_ns,
       CASE WHEN ok IS NOT 1 THEN NULL
            WHEN tokens IS NOT NULL THEN CASE WHEN named = 1 THEN token_ns END
            WHEN output_tokens > 1 AND ttft_ns IS NOT NULL THEN (end_ns - start_ns - ttft_ns) / (output_tokens - 1) END AS tpot_ns,
       CASE WHEN named = 1 THEN first_number > 0 END AS first_unseen
FROM (
    -- a request beside its stream: a filter by run goes down to both, which a join of views would not let it
    SELECT run_id, request_id, name, start_ns, end_ns, zero, ok, prompt_tokens, output_tokens, ttft_ns,
           count(request_id) OVER of_name AS named, max(tokens) OVER of_name AS tokens, max(first_number) OVER of_name AS first_number, max(first_ns) OVER of_name AS first_ns, max(token_ns) OVER of_name AS token_ns
    FROM (
        SELECT run_id, id AS request_id, name, start_ns, end_ns, zero, ok, prompt_tokens, output_tokens, ttft_ns,
               NULL AS tokens, NULL AS first_number, NULL AS first_ns, NULL AS token_ns
        FROM request
        UNION ALL
        SELECT run_id, NULL, request, NULL, NULL, NULL, NULL, NULL, NULL, NULL, tokens, first_number, first_ns, token_ns
        FROM token_stream
    )
    WINDOW of_name AS (PARTITION BY run_id, name)
)
WHERE request_id IS NOT NULL
