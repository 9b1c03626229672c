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
SELECT DISTINCT run_id, name, sum(operator) OVER operators AS operators, sum(record) OVER operators AS intervals,
       sum(duration_ns) OVER operators AS device_ns
-- windows, not groups: SQLite hands a filter by run down through partitions, and stops at a group over a view
FROM (
    -- operators and device records with one id in one process, the operator that began first at the front
    SELECT run_id, record, duration_ns, first_value(name) OVER by_id AS name, row_number() OVER by_id = 1 AS operator,
           first_value(record) OVER by_id = 0 AND max(record) OVER (PARTITION BY run_id, process_id, external_id) AS both
    FROM (
        SELECT run_id, process_id, external_id, 0 AS record, id, name, NULL AS duration_ns
        FROM level2_host
        WHERE external_id <> 0 AND category = 'operator'
        UNION ALL
        SELECT run_id, process_id, external_id, 1 AS record, id, name, end_ns - start_ns AS duration_ns
        FROM level3_device
        WHERE external_id <> 0 AND end_ns IS NOT NULL
    )
    WINDOW by_id AS (PARTITION BY run_id, process_id, external_id ORDER BY record, id)
)
WHERE both
WINDOW operators AS (PARTITION BY run_id, name)
