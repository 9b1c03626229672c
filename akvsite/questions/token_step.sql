-- How long was it between neighbouring milestones, step by step?
--
-- Tokens of one step share most of their times, so that a step is one sample and not as many as it made tokens: the
-- mean over its tokens. Tokens whose step is not known are not here.
--
-- @run_id      the run
-- @process_id  the process
-- @step        number of the step
-- @kind        decode, prefill, ...; NULL where the step is not on record
-- @warm_up     1 where the step is declared as warm-up
-- @place       place of the first milestone in their order, from 0
-- @milestone   the first milestone
-- @next        the next one that is there
-- @tokens      tokens of the step that have both, counted
-- @bound_ns    half-width of the clock's bound, ns: 0 where both times are of one clock, NULL where it is not known
-- @mean_ns     mean over those tokens, ns
SELECT DISTINCT p.run_id, p.process_id, p.step, s.kind, coalesce(s.warm_up, 0) AS warm_up, p.place, p.milestone, p.next,
       count(*) OVER of_step AS tokens,
       CASE WHEN count(p.bound_ns) OVER of_step = count(*) OVER of_step THEN max(p.bound_ns) OVER of_step END AS bound_ns,
       CAST(round(avg(p.duration_ns) OVER of_step) AS INTEGER) AS mean_ns
FROM _token_pair p
-- one step stands for its number: two tools may have drawn it, and no token counts twice for that
LEFT JOIN step s ON s.id = (SELECT min(o.id) FROM step o
                            WHERE o.run_id = p.run_id AND o.process_id = p.process_id AND o.number = p.step AND o.nested = 0)
WHERE p.step IS NOT NULL
WINDOW of_step AS (PARTITION BY p.run_id, p.process_id, p.step, p.milestone, p.next)
