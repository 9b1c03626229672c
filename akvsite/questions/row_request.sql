-- Which requests does the run have?
--
-- As their client saw them, from sending to the last answer.
--
-- @run_id         the run
-- @request_id     row of `request`
-- @name           its name
-- @start_ns       when it was sent, ns
-- @duration_ns    until it was done, ns
-- @zero           what its times count from
-- @ok             1 completed, 0 failed, NULL unknown
-- @prompt_tokens  tokens in the prompt
-- @output_tokens  tokens generated
-- @ttft_ns        time to first token, ns; NULL where it is not known
-- @tpot_ns        time per output token after the first, ns; NULL where it is not known
-- @first_unseen   1 where its client's time of a later token is on record, and that of the first one is not
SELECT run_id, request_id, name, start_ns, end_ns - start_ns AS duration_ns, zero, ok, prompt_tokens, output_tokens, ttft_ns, tpot_ns, first_unseen
FROM request_time
