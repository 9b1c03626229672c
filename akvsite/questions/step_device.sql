-- For how long did kernels and copies of each step cover its device, and both at once?
--
-- Records belong to the step in which their call began, by the link between them; those without one are in no step. Each moment
-- counts once, however many queues were at work in it. All ends are of one device clock, so that no conversion comes into it.
-- It is what instruments saw: that both share time is open until a control.
--
-- @run_id              the run
-- @step_id             the step
-- @process_id          the process
-- @device              the device
-- @clock               `device` where its times are the device's own clock, not converted; else NULL
-- @kernels             records of kernels, counted
-- @copies              records of copies, counted
-- @kernel_duration_ns  time covered by kernels, ns; NULL without one
-- @copy_duration_ns    time covered by copies, ns; NULL without one
-- @both_duration_ns    time covered by both at once, ns; NULL where one of them is missing
SELECT run_id, step_id, process_id, device, clock, kernels, copies, kernel_duration_ns, copy_duration_ns,
       kernel_duration_ns + copy_duration_ns - either_ns AS both_duration_ns
-- windows, not groups: SQLite hands a filter by run down through partitions, and stops at a group over a view
FROM (
    SELECT DISTINCT run_id, step_id, process_id, device, clock,
           count(*) FILTER (WHERE kind = 'kernel') OVER of_step AS kernels, count(*) FILTER (WHERE kind = 'copy') OVER of_step AS copies,
           sum(own_ns) FILTER (WHERE kind = 'kernel') OVER of_step AS kernel_duration_ns,
           sum(own_ns) FILTER (WHERE kind = 'copy') OVER of_step AS copy_duration_ns, sum(either_ns) OVER of_step AS either_ns
    FROM (
        SELECT run_id, step_id, process_id, device, clock, kind,
               max(0, end_ns - max(start_ns, coalesce(own_to, start_ns))) AS own_ns,
               max(0, end_ns - max(start_ns, coalesce(either_to, start_ns))) AS either_ns
        FROM (
            -- The latest end before each record, of both kinds and of its own; one window a time, or no filter would reach the table.
            SELECT run_id, step_id, process_id, device, clock, kind, start_ns, end_ns, either_to,
                   max(end_ns) OVER (PARTITION BY run_id, step_id, process_id, device, clock, kind
                                     ORDER BY start_ns, end_ns DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS own_to
            FROM (
                SELECT d.run_id, c.step_id, d.process_id, d.device, d.clock, d.kind, d.start_ns, d.end_ns,
                       max(d.end_ns) OVER (PARTITION BY d.run_id, c.step_id, d.process_id, d.device, d.clock
                                           ORDER BY d.start_ns, d.end_ns DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS either_to
                FROM level3_device d
                JOIN link k ON k.interval_id = d.id
                JOIN level4_edge c ON c.id = k.call_id
                WHERE d.kind IN ('kernel', 'copy') AND d.start_ns IS NOT NULL AND d.end_ns IS NOT NULL AND c.step_id IS NOT NULL
            )
        )
    )
    WINDOW of_step AS (PARTITION BY run_id, step_id, process_id, device, clock)
)
