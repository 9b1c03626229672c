-- How many tokens have each of the milestones?
--
-- A request arrives once: the arrival is counted with every token of a request. Chunks without a token are left out, and
-- what one row of a client holds, one token or several, is one.
--
-- @run_id     the run
-- @place      place of the milestone in their order, from 0
-- @milestone  the milestone
-- @seen       tokens that have it, counted
-- @expected   tokens, counted
SELECT DISTINCT t.run_id, m.place, m.milestone,
       sum(CASE m.place WHEN 0 THEN t.arrived_ns WHEN 1 THEN t.scheduled_ns WHEN 2 THEN t.launched_ns WHEN 3 THEN t.device_first_ns
                        WHEN 4 THEN t.device_last_ns WHEN 5 THEN t.sampled_ns WHEN 6 THEN t.copied_ns WHEN 7 THEN t.detokenised_ns
                        WHEN 8 THEN t.sent_ns ELSE t.client_ns END IS NOT NULL) OVER of_one AS seen,
       count(*) OVER of_one AS expected
FROM token t
JOIN (SELECT 0 AS place, 'arrived' AS milestone UNION ALL SELECT 1, 'scheduled' UNION ALL SELECT 2, 'launched'
      UNION ALL SELECT 3, 'device_first' UNION ALL SELECT 4, 'device_last' UNION ALL SELECT 5, 'sampled'
      UNION ALL SELECT 6, 'copied' UNION ALL SELECT 7, 'detokenised' UNION ALL SELECT 8, 'sent' UNION ALL SELECT 9, 'client') m
WHERE coalesce(t.tokens, 1) > 0
WINDOW of_one AS (PARTITION BY t.run_id, m.place)
