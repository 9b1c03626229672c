-- Which tokens does the run have, and which milestones has each?
--
-- A milestone that was not captured is NULL. A row of a client is a chunk, which may hold several tokens or none.
--
-- @run_id           the run
-- @token_id         row of `token`
-- @process_id  the process
-- @request          name of its request
-- @number           place in the request's output, from 0
-- @counted          1 where it can stand in a number of lives: two milestones, and a step that is not declared as warm-up; else 0
-- @kind             kind of the step that made it; NULL where that step is not on record
-- @tokens           tokens in this piece; NULL where a chunk may hold several
-- @step             number of the step that made it
-- @step_id          that step, where it is on record; NULL where its number was given more than once
-- @arrived_ns       its request reached the engine, ns
-- @scheduled_ns     its step was scheduled, ns
-- @launched_ns      its step was launched, ns
-- @device_first_ns  first device milestone, ns
-- @device_last_ns   last device milestone, ns
-- @sampled_ns       sampled, ns
-- @copied_ns        copied from the device, ns
-- @detokenised_ns   detokenised, ns
-- @sent_ns          sent to the client, ns
-- @client_ns        seen by the client, ns
-- @device_bound_ns  half-width of the clock's bound of its device milestones, ns; NULL where it is not known
SELECT t.run_id, t.id AS token_id, t.process_id, t.request, t.number,
       t.step IS NOT NULL AND coalesce(m.warm_up, 0) = 0 AND coalesce(t.tokens, 1) > 0
       AND (t.number = 0 AND t.arrived_ns IS NOT NULL) + (t.scheduled_ns IS NOT NULL) + (t.launched_ns IS NOT NULL) + (t.device_first_ns IS NOT NULL)
         + (t.device_last_ns IS NOT NULL) + (t.sampled_ns IS NOT NULL) + (t.copied_ns IS NOT NULL) + (t.detokenised_ns IS NOT NULL)
         + (t.sent_ns IS NOT NULL) + (t.client_ns IS NOT NULL) > 1 AS counted,
       m.kind, t.tokens, t.step,
       (SELECT CASE WHEN count(*) = count(DISTINCT s.source) THEN min(s.id) END FROM step s
        WHERE s.run_id = t.run_id AND s.process_id = t.process_id AND s.number = t.step AND s.nested = 0) AS step_id,
       t.arrived_ns, t.scheduled_ns, t.launched_ns, t.device_first_ns, t.device_last_ns, t.sampled_ns, t.copied_ns, t.detokenised_ns,
       t.sent_ns, t.client_ns, t.device_bound_ns
FROM token t
LEFT JOIN step m ON m.id = (SELECT min(o.id) FROM step o
                            WHERE o.run_id = t.run_id AND o.process_id = t.process_id AND o.number = t.step AND o.nested = 0)
