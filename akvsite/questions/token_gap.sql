-- How long did the client of a request wait from one chunk to the next?
--
-- Tokens of one request with one time came in one chunk; the gap is told of the first token of the later one, from the token before
-- it. It is not known where that one has no time, nor where two tokens have one number, as where two requests share a name.
--
-- @run_id    the run
-- @token_id  row of `token`: the first token of the later chunk
-- @request   the request
-- @number    place in the output of that token, from 0
-- @gap_ns    from the chunk before to this one at the client, ns
SELECT run_id, token_id, request, number, gap_ns
FROM (
    SELECT run_id, id AS token_id, request, number, client_ns - lag(client_ns) OVER of_request AS gap_ns, lag(number) OVER of_request AS before,
           lead(number) OVER of_request AS after
    FROM token
    WHERE coalesce(tokens, 1) > 0
    WINDOW of_request AS (PARTITION BY run_id, request ORDER BY number)
)
WHERE gap_ns > 0 AND before < number AND after IS NOT number
