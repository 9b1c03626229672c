-- Which regions, layer windows, operators and functions are on record on the host?
--
-- @run_id       the run
-- @region_id    row of `level2_host`
-- @process_id  the process
-- @category     `region`, `layer`, `operator`, `annotation`, `python function`, `overhead` or the file's word
-- @name         its name
-- @layer        number of the transformer layer, of a layer window
-- @thread       its thread
-- @step_id      the step in which it began; NULL outside every step
-- @start_ns     when it began, ns
-- @duration_ns  how long it took, ns; NULL where it has no end
SELECT run_id, id AS region_id, process_id, category, name, layer, thread, step_id, start_ns, end_ns - start_ns AS duration_ns
FROM level2_host
