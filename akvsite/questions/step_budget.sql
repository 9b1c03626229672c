-- Where did the host's time in each step go?
--
-- Sums inside each step, by region; layer windows are one region, but for those in which regions lie. What no region
-- covers is the remainder, which the page shows as not attributed.
--
-- @run_id   the run
-- @step_id  the step
-- @region   name of the region; `layer windows` for all of them
-- @ns       time inside the step, ns
SELECT DISTINCT run_id, step_id, region, ns
-- windows, not groups: SQLite hands a filter by run down through partitions, and stops at a group over a view
FROM (
    SELECT run_id, step_id, region, sum(outer_ns) OVER (PARTITION BY run_id, step_id, region) AS ns
    FROM (
        SELECT run_id, step_id, CASE WHEN layer IS NOT NULL THEN 'layer windows' ELSE name END AS region, outer_ns
        FROM _host_outer
    )
)
WHERE ns > 0
