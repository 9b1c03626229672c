-- Which operators is the device's time associated with, by external id?
--
-- The id of an operator is unique in its process; where a file gives one id to several host rows, the operator that
-- began first is taken. Overhead rows take no device time.
--
-- @run_id     the run
-- @name       name of the operator
-- @operators  operators with that name that have device records, counted
-- @intervals  device records, counted
-- @device_ns  their durations, added up, ns
SELECT run_id, name, count(DISTINCT operator_id) AS operators, count(*) AS intervals, sum(duration_ns) AS device_ns
FROM (
    SELECT d.run_id, d.end_ns - d.start_ns AS duration_ns,
           o.name, o.operator_id
    FROM level3_device d
    JOIN (SELECT run_id, process_id, external_id, name, min(id) AS operator_id FROM level2_host
          WHERE external_id IS NOT NULL AND external_id <> 0 AND category = 'operator'
          GROUP BY run_id, process_id, external_id) o
      ON o.run_id = d.run_id AND o.process_id = d.process_id AND o.external_id = d.external_id
    WHERE d.end_ns IS NOT NULL
)
GROUP BY run_id, name
