-- How long was it from each milestone of a token to its next one?
--
-- The next one that the token has: those that are missing are stepped over. Below 0 the two are out of order.
--
-- @run_id       the run
-- @process_id   the process
-- @token_id     the token, row of `token`
-- @step         number of its step
-- @place        place of the first milestone in their order, from 0
-- @milestone    the first milestone
-- @next         the next one that is there
-- @duration_ns  from the first to the next, ns
-- @bound_ns     half-width of the clock's bound, ns: 0 where both times are of one clock, NULL where it is not known
SELECT run_id, process_id, token_id, step, place, milestone, next, next_ns - at_ns AS duration_ns,
       CASE WHEN on_device = next_on_device THEN 0 ELSE bound_ns END AS bound_ns
FROM (
    SELECT run_id, process_id, token_id, step, place, milestone, at_ns, on_device, bound_ns,
           lead(milestone) OVER following AS next, lead(at_ns) OVER following AS next_ns, lead(on_device) OVER following AS next_on_device
    FROM _token_milestone
    WINDOW following AS (PARTITION BY run_id, token_id ORDER BY place)
)
WHERE next IS NOT NULL
