-- When did each chunk reach its client, and how many tokens did it hold?
--
-- Tokens of one request with one time came in one chunk. Chunks without a token are left out.
--
-- @run_id     the run
-- @request    the request
-- @client_ns  when it came, ns
-- @number     place in the output of its first token, from 0
-- @tokens     tokens in it, counted; NULL where it does not say it
SELECT DISTINCT run_id, request, client_ns, min(number) OVER of_chunk AS number,
       CASE WHEN count(tokens) OVER of_chunk = count(*) OVER of_chunk THEN sum(tokens) OVER of_chunk END AS tokens
FROM token
WHERE client_ns IS NOT NULL AND coalesce(tokens, 1) > 0
WINDOW of_chunk AS (PARTITION BY run_id, request, client_ns)
