-- Which device intervals begin after everything before them, on their device and kind of lane, has ended?
--
-- `lane` is `all`, or the kind of the interval: the union of a lane is the sum of its covered parts.
--
-- @run_id       the run
-- @process_id   the process
-- @device       the device
-- @lane         `all`, `kernel`, `copy`, `fill`, ...
-- @start_ns     when the interval began, ns
-- @end_ns       when it ended, ns
-- @covered_to   the latest end before it on that lane, ns; NULL for the first
SELECT run_id, process_id, device, 'all' AS lane, start_ns, end_ns,
       max(end_ns) OVER (PARTITION BY run_id, process_id, device ORDER BY start_ns, end_ns DESC
                         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_to
FROM level3_device
WHERE kind IN ('kernel', 'copy', 'fill') AND start_ns IS NOT NULL AND end_ns IS NOT NULL
UNION ALL
SELECT run_id, process_id, device, kind AS lane, start_ns, end_ns,
       max(end_ns) OVER (PARTITION BY run_id, process_id, device, kind ORDER BY start_ns, end_ns DESC
                         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_to
FROM level3_device
WHERE kind IN ('kernel', 'copy', 'fill') AND start_ns IS NOT NULL AND end_ns IS NOT NULL
