-- Which calls were entered and never returned?
--
-- Where a process hung or ended inside a call, this is the call. How long it was open is known to the last record of its
-- process; it may have been longer.
--
-- @run_id      the run
-- @process_id  the process
-- @pid         its process id, as text
-- @thread      the thread
-- @name        name of the call
-- @kind        launch, copy, fill, graph replay, wait or other
-- @queue       its queue, where known
-- @start_ns    when it was entered, ns
-- @open_ns     from then to the last time recorded in its process, ns
SELECT c.run_id, c.process_id, p.pid, c.thread, c.name, c.kind, c.queue, c.start_ns,
       (SELECT max(max(m.start_ns), max(m.end_ns)) FROM level4_edge m
        WHERE m.run_id = c.run_id AND m.process_id = c.process_id) - c.start_ns AS open_ns
FROM level4_edge c
JOIN process p ON p.id = c.process_id
WHERE c.open = 1
