-- How long was each layer's window in each step?
--
-- @run_id       the run
-- @step_id      the step
-- @warm_up      1 where the step is declared as warm-up
-- @layer        number of the layer
-- @start_ns     when the window began, ns
-- @duration_ns  how long it was on the host, ns
SELECT t.run_id, t.step_id, s.warm_up, t.layer, t.start_ns, t.end_ns - t.start_ns AS duration_ns
FROM level2_host t
JOIN step s ON s.id = t.step_id
WHERE t.layer IS NOT NULL AND t.end_ns IS NOT NULL
