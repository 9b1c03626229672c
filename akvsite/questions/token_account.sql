-- How many tokens of each run have each of the milestones?
--
-- Chunks without a token are left out; what one row of a client holds, one token or several, is one.
--
-- @run_id        the run
-- @tokens        tokens, counted
-- @arrived       of these, tokens whose request's arrival is known, counted
-- @scheduled     tokens whose step's schedule is known, counted
-- @launched      tokens whose step's launch is known, counted
-- @device_first  tokens with a first time on the device, counted
-- @device_last   tokens with a last time on the device, counted
-- @sampled       tokens of which this is known, counted
-- @copied        tokens of which this is known, counted
-- @detokenised   tokens of which this is known, counted
-- @sent          tokens of which this is known, counted
-- @client        tokens whose time at the client is known, counted
SELECT run_id, count(*) AS tokens, count(arrived_ns) AS arrived, count(scheduled_ns) AS scheduled,
       count(launched_ns) AS launched, count(device_first_ns) AS device_first, count(device_last_ns) AS device_last,
       count(sampled_ns) AS sampled, count(copied_ns) AS copied, count(detokenised_ns) AS detokenised,
       count(sent_ns) AS sent, count(client_ns) AS client
FROM token
WHERE coalesce(tokens, 1) > 0
GROUP BY run_id
