-- Which part of each host row, inside its step and thread, is not yet covered by a row that began before it?
--
-- Rows on one thread may nest or overlap in any way: each moment is given to the row that covered it first, so that
-- the parts of a step never add up to more than the step. Only the thread that ran the step is looked at. A layer window
-- in which a region begins is left out: what lies in it is the regions' time.
--
-- @run_id     the run
-- @step_id    the step
-- @name       name of the row
-- @category   its category
-- @layer      layer number of a layer window
-- @start_ns   when it began, ns
-- @outer_ns   the part that no earlier row covers, cut at the end of the step, ns
SELECT run_id, step_id, name, category, layer, start_ns,
       max(0, min(end_ns, step_end) - max(start_ns, coalesce(covered_to, start_ns))) AS outer_ns
FROM (
    SELECT run_id, step_id, name, category, layer, start_ns, end_ns, step_end,
           max(end_ns) OVER (
               PARTITION BY run_id, step_id ORDER BY start_ns, end_ns DESC, id
               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_to
    FROM (
        SELECT run_id, step_id, id, name, category, layer, start_ns, end_ns, step_end,
               min(CASE WHEN category = 'region' THEN start_ns END) OVER (
                   PARTITION BY run_id, step_id ORDER BY start_ns DESC, end_ns, id DESC
                   ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS next_region_ns
        FROM (
            SELECT t.run_id, t.step_id, t.id, t.name, t.category, t.layer, t.start_ns, t.end_ns, t.thread,
                   s.end_ns AS step_end, t.start_ns = s.start_ns AND t.name = s.name AS is_step,
                   -- the thread of the step: that of its annotation, else that of the row that began first in it
                   first_value(t.thread) OVER (
                       PARTITION BY t.run_id, t.step_id
                       ORDER BY t.start_ns = s.start_ns AND t.name = s.name DESC, t.category = 'python function',
                                t.start_ns, t.end_ns DESC, t.id) AS step_thread
            FROM level2_host t
            JOIN step s ON s.id = t.step_id
            WHERE t.end_ns IS NOT NULL AND s.end_ns IS NOT NULL
        )
        WHERE thread IS step_thread AND NOT is_step AND category <> 'python function'
    )
    WHERE NOT (category = 'layer' AND coalesce(next_region_ns < end_ns, 0))
)
