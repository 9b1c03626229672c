-- Which milestones of tokens are out of order, and by how much?
--
-- Neighbouring milestones that a token has. A time of the device is known to within a bound: what is out of order by no
-- more than that may be in order.
--
-- @run_id    the run
-- @place     place of the first milestone in their order, from 0
-- @milestone the first milestone
-- @next      the next one that is there
-- @pairs     tokens that have both as neighbours, counted
-- @early     of these, where the second is before the first, counted
-- @beyond    of these, by more than the clock's bound, counted; those whose bound is not known are not among them
-- @unproven  of those that are early, where the bound is not known, counted
-- @most_ns   by how much, at most, ns; NULL where none is early
-- @bound_ns  the widest bound, ns; NULL where it is not known for all
SELECT DISTINCT run_id, place, milestone, next, count(*) OVER of_pair AS pairs,
       sum(duration_ns < 0) OVER of_pair AS early,
       coalesce(sum(duration_ns < 0 AND -duration_ns > bound_ns) OVER of_pair, 0) AS beyond,
       sum(duration_ns < 0 AND bound_ns IS NULL) OVER of_pair AS unproven,
       max(CASE WHEN duration_ns < 0 THEN -duration_ns END) OVER of_pair AS most_ns,
       CASE WHEN count(bound_ns) OVER of_pair = count(*) OVER of_pair THEN max(bound_ns) OVER of_pair END AS bound_ns
FROM _token_pair
WINDOW of_pair AS (PARTITION BY run_id, place, milestone, next)
