-- How did each request go, as its client saw it?
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
-- @ttft_ns        time to first token, ns
-- @tpot_ns        time per output token after the first, ns; NULL for fewer than two tokens or a failed request
SELECT run_id, id AS request_id, name, start_ns, end_ns, zero, ok, prompt_tokens, output_tokens, ttft_ns,
       CASE WHEN ok = 1 AND output_tokens > 1 AND ttft_ns IS NOT NULL
            THEN (end_ns - start_ns - ttft_ns) / (output_tokens - 1) END AS tpot_ns
FROM request
