-- Which part of each host row, inside its step and thread, is not yet covered by a row that began before it?
--
-- Rows on one thread may nest or overlap in any way: each moment is given to the row that covered it first, so that
-- the parts of a step never add up to more than the step. Only the thread that ran the step is looked at.
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
    SELECT t.run_id, t.step_id, t.name, t.category, t.layer, t.start_ns, t.end_ns, s.end_ns AS step_end,
           max(t.end_ns) OVER (
               PARTITION BY t.run_id, t.step_id ORDER BY t.start_ns, t.end_ns DESC, t.id
               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_to
    FROM level2_host t
    JOIN step s ON s.id = t.step_id
    WHERE t.end_ns IS NOT NULL AND s.end_ns IS NOT NULL AND t.name <> s.name
      AND t.category <> 'python function'
      -- the thread of the step: the one on which most of its host rows lie is the one of its annotation
      AND t.thread IS (SELECT a.thread FROM level2_host a
                       WHERE a.run_id = s.run_id AND a.process_id = s.process_id
                         AND a.start_ns = s.start_ns AND a.name = s.name LIMIT 1)
)
