-- How did the tokens of each request reach its client?
--
-- A client sees chunks. One may hold several tokens, or none: the role alone, which is no first token. Where each chunk
-- says how many it holds, the time per token is from the first chunk with a token to the last one, over the tokens that
-- came after that first chunk; the gap between chunks is another number. Where chunks do not say it, tokens are unknown.
--
-- @run_id        the run
-- @request       the request
-- @chunks        chunks that held a token, or may have, counted
-- @tokens        tokens in them, counted; NULL where a chunk does not say it
-- @first_tokens  tokens in the first of them, counted; NULL where it does not say it
-- @first_number  least place in the output of a token in them, from 0; above 0 the first token has no time on record
-- @first_ns      when the first of them came, ns
-- @last_ns       when the last of them came, ns
-- @token_ns      time per token after the first chunk, ns; NULL where tokens are unknown, none came after it, or one between has no time
-- @gap_ns        mean gap between chunks, ns; NULL for a single one, or where a token between has no time
SELECT run_id, request, chunks, tokens, first_tokens, first_number, first_ns, last_ns,
       CASE WHEN tokens > first_tokens AND unseen = 0 THEN (last_ns - first_ns) / (tokens - first_tokens) END AS token_ns,
       CASE WHEN chunks > 1 AND unseen = 0 THEN (last_ns - first_ns) / (chunks - 1) END AS gap_ns
FROM (
    SELECT DISTINCT run_id, request, chunks,
           CASE WHEN count(tokens) OVER of_request = chunks THEN sum(tokens) OVER of_request END AS tokens,
           first_value(tokens) OVER (of_request ORDER BY client_ns NULLS LAST) AS first_tokens,
           min(number) FILTER (WHERE client_ns IS NOT NULL) OVER of_request AS first_number,
           min(client_ns) OVER of_request AS first_ns, max(client_ns) OVER of_request AS last_ns,
           -- a token without a time that lies between two that have one
           sum(client_ns IS NULL AND chunks_before BETWEEN 1 AND chunks - 1) OVER of_request AS unseen
    FROM (
        SELECT run_id, request, client_ns, number, tokens, count(client_ns) OVER (PARTITION BY run_id, request) AS chunks,
               count(client_ns) OVER (PARTITION BY run_id, request ORDER BY number ROWS UNBOUNDED PRECEDING) AS chunks_before
        FROM (
            SELECT run_id, request, client_ns, number, tokens FROM _stream_chunk
            UNION ALL
            SELECT run_id, request, NULL, number, NULL FROM token WHERE client_ns IS NULL AND coalesce(tokens, 1) > 0
        )
    )
    WINDOW of_request AS (PARTITION BY run_id, request)
)
WHERE chunks > 0
