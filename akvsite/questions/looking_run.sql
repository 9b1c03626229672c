-- How long did each run of an experiment take: its decode steps, and its command as a whole?
--
-- The engine kept the times of its steps at every level alike. Steps of the declared warm-up are not among the trials.
--
-- @run_id      the run: one experiment
-- @process_id  the fresh process in which it ran; their numbers rise in the order in which they were run
-- @arm         `decode step`, or `command`: the wall clock of the whole process, from its start to its end
-- @treatment   how it was run, such as the capture level
-- @block       the block that holds each treatment once, from 0
-- @steps       measured steps, or 1 for a command, counted
-- @median_ns   their median, ns
-- @mean_ns     their mean, ns
SELECT run_id, process_id, arm, treatment, block, steps, median_ns, mean_ns
FROM (
    SELECT run_id, process_id, arm, treatment, block, steps, mean_ns, place,
           avg(duration_ns) OVER (PARTITION BY run_id, process_id, arm, treatment, block) AS median_ns
    FROM (
        SELECT run_id, process_id, arm, treatment, repeat AS block, duration_ns,
               row_number() OVER (PARTITION BY run_id, process_id, arm, treatment, repeat ORDER BY duration_ns) AS place,
               count(*) OVER (PARTITION BY run_id, process_id, arm, treatment, repeat) AS steps,
               avg(duration_ns) OVER (PARTITION BY run_id, process_id, arm, treatment, repeat) AS mean_ns
        FROM trial
        WHERE arm IN ('decode step', 'command')
    )
    WHERE place IN ((steps + 1) / 2, (steps + 2) / 2)
)
WHERE place = (steps + 1) / 2
