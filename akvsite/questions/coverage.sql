-- How many of the records that should be there were seen, by kind and in both directions?
--
-- A launch is expected to leave device records, and a device record to have a launch. What is missing is not a fact
-- about the device.
--
-- @run_id     the run
-- @direction  calls with device records, device records with a call, or steps with device records
-- @kind       kernel, copy, fill, graph replay or step
-- @seen       records present, counted
-- @expected   records expected, counted
SELECT run_id, direction, kind, sum(seen) AS seen, sum(expected) AS expected
FROM seen
GROUP BY run_id, direction, kind
