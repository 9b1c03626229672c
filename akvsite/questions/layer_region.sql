-- How long was each region inside each layer's window, in each step?
--
-- A region belongs to the window in which it began, on its thread; it is cut at the window's end. Regions may nest: each moment
-- is given to the one that began first, so that the parts of a window never add up to more than the window.
--
-- @run_id   the run
-- @step_id  the step
-- @layer    number of the layer
-- @region   name of the region
-- @ns       time inside the window, ns
SELECT DISTINCT run_id, step_id, layer, region, ns
-- windows, not groups: SQLite hands a filter by run down through partitions, and stops at a group over a view
FROM (
    SELECT run_id, step_id, layer, region, sum(outer_ns) OVER (PARTITION BY run_id, step_id, layer, region) AS ns
    FROM (
        SELECT run_id, step_id, of_layer AS layer, name AS region,
               max(0, min(end_ns, window_end_ns) - max(start_ns, coalesce(covered_to, start_ns))) AS outer_ns
        FROM (
            SELECT run_id, step_id, name, layer, start_ns, end_ns, of_layer, window_end_ns,
                   max(CASE WHEN layer IS NULL THEN end_ns END) OVER (
                       PARTITION BY run_id, step_id, process_id, thread, place ORDER BY start_ns, end_ns DESC, id
                       ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_to
            FROM (
                SELECT run_id, step_id, process_id, thread, id, name, layer, start_ns, end_ns, place,
                       max(layer) OVER of_window AS of_layer,
                       max(CASE WHEN layer IS NOT NULL THEN end_ns END) OVER of_window AS window_end_ns
                FROM (
                    -- The last window that began before a row, by its place among the windows of the thread.
                    SELECT run_id, step_id, process_id, thread, id, name, layer, start_ns, end_ns,
                           count(layer) OVER (PARTITION BY run_id, step_id, process_id, thread
                                              ORDER BY start_ns, layer IS NULL, end_ns DESC, id ROWS UNBOUNDED PRECEDING) AS place
                    FROM level2_host
                    WHERE category IN ('region', 'layer') AND step_id IS NOT NULL AND end_ns IS NOT NULL
                )
                WINDOW of_window AS (PARTITION BY run_id, step_id, process_id, thread, place)
            )
        )
        WHERE layer IS NULL AND of_layer IS NOT NULL AND start_ns < window_end_ns
    )
)
WHERE ns > 0
