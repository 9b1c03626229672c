-- Which device intervals begin after everything before them, on their device and kind of lane, has ended?
--
-- `lane` is `all`, or the kind of the interval: the union of a lane is the sum of its covered parts.
--
-- @run_id       the run
-- @process_id   the process
-- @device       the device
-- @clock        `device` where its times are the device's own clock, not converted; else NULL
-- @lane         `all`, `kernel`, `copy`, `fill`, `communication` or `graph replay`
-- @start_ns     when the interval began, ns
-- @end_ns       when it ended, ns
-- @covered_to   the latest end before it on that lane, ns; NULL for the first
SELECT d.run_id, d.process_id, d.device, d.clock, l.lane, d.start_ns, d.end_ns,
       max(d.end_ns) OVER (PARTITION BY d.run_id, d.process_id, d.device, d.clock, l.lane ORDER BY d.start_ns, d.end_ns DESC
                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_to
FROM level3_device d
JOIN (SELECT 'all' AS lane UNION ALL SELECT 'kernel' UNION ALL SELECT 'copy' UNION ALL SELECT 'fill' UNION ALL SELECT 'communication'
      UNION ALL SELECT 'graph replay') l
  ON l.lane IN ('all', d.kind)
WHERE d.kind IN ('kernel', 'copy', 'fill', 'communication', 'graph replay') AND d.start_ns IS NOT NULL AND d.end_ns IS NOT NULL
