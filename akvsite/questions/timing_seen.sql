-- How many stretches between timing events on a device's queues does each run have, whatever it declares of them?
--
-- @run_id     the run
-- @stretches  stretches between two timing events, counted
SELECT run_id, count(*) AS stretches
FROM level3_device
WHERE kind = 'span'
GROUP BY run_id
