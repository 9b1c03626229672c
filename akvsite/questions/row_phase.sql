-- Which phases of the runner are on record?
--
-- @run_id       the run
-- @phase_id     row of `level1_runner`
-- @process_id  the process
-- @name         name of the phase
-- @thread       its thread
-- @step_id      the step in which it began; NULL outside every step
-- @start_ns     when it began, ns
-- @duration_ns  how long it took, ns; NULL where it has no end
SELECT run_id, id AS phase_id, process_id, name, thread, step_id, start_ns, end_ns - start_ns AS duration_ns
FROM level1_runner
