-- Of which segments is each token's life made, and which of them are unknown inside?
--
-- From each milestone that a token has to the next that it has, so that its segments add up to its life, to the nanosecond. Where a
-- milestone between the two is not on record the stretch is one, and what happened in it is not known.
--
-- @run_id       the run
-- @token_id     row of `token`
-- @place        place of the first milestone in their order, from 0
-- @to_place     place of the second one
-- @milestone    the first milestone
-- @next         the second one
-- @known        1 where the two are neighbours, 0 where a milestone between them is not on record
-- @duration_ns  from the first to the second, ns; below 0 where they are out of order
-- @bound_ns     half-width of the clock's bound, ns: 0 where both times are of one clock, NULL where it is not known
SELECT run_id, token_id, place, to_place, milestone, next, to_place = place + 1 AS known, duration_ns, bound_ns
FROM (
    SELECT run_id, token_id, place, milestone, next, duration_ns, bound_ns,
           CASE next WHEN 'scheduled' THEN 1 WHEN 'launched' THEN 2 WHEN 'device_first' THEN 3 WHEN 'device_last' THEN 4 WHEN 'sampled' THEN 5
                     WHEN 'copied' THEN 6 WHEN 'detokenised' THEN 7 WHEN 'sent' THEN 8 WHEN 'client' THEN 9 END AS to_place
    FROM _token_pair
)
