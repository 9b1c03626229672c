-- Which tokens came out of the detokeniser together with a later one of their request?
--
-- Text that is no whole character or word yet is held back until a later token completes it: both then have one time, and what
-- lies before it is a wait for the later token. Tokens of one step that share it were not held back, and are not here.
--
-- @run_id     the run
-- @token_id   the token whose text was held back, row of `token`
-- @with_id    the last token that came out with it, row of `token`
-- @step       number of its step
-- @with_step  number of that token's step
SELECT run_id, token_id, with_id, step, with_step
FROM (
    SELECT run_id, id AS token_id, number, step, first_value(id) OVER of_time AS with_id, first_value(number) OVER of_time AS with_number,
           first_value(step) OVER of_time AS with_step
    FROM token
    WHERE detokenised_ns IS NOT NULL AND coalesce(tokens, 1) > 0
    WINDOW of_time AS (PARTITION BY run_id, process_id, request, detokenised_ns ORDER BY number DESC, id DESC)
)
WHERE number < with_number AND step IS NOT with_step
