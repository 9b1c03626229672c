-- How long did copies alone, kernels alone and both take in each run of an overlap experiment, by the wall clock?
--
-- One row a run that has all three; each number is the mean over its cycles, in which the arms took turns.
--
-- @run_id                the run: one experiment
-- @process_id            the fresh process in which it ran; their numbers rise in the order in which they were run
-- @treatment             whether the work's events carried times
-- @block                 the block that holds each treatment once, from 0
-- @cycles                cycles, counted
-- @copy_ns               copies alone, ns
-- @compute_ns            kernels alone, ns
-- @both_ns               both, ns
-- @empty_ns              the same with nothing submitted, ns; NULL where it was not timed
-- @copy_submitted_ns     copies alone, until all was submitted, ns
-- @compute_submitted_ns  kernels alone, until all was submitted, ns
-- @both_submitted_ns     both, until all was submitted, ns
SELECT run_id, process_id, treatment, block, cycles, copy_ns, compute_ns, both_ns, empty_ns, copy_submitted_ns,
       compute_submitted_ns, both_submitted_ns
FROM (
    SELECT run_id, process_id, treatment, repeat AS block,
           count(*) FILTER (WHERE arm = 'both') AS cycles,
           avg(duration_ns) FILTER (WHERE arm = 'copy') AS copy_ns,
           avg(duration_ns) FILTER (WHERE arm = 'compute') AS compute_ns,
           avg(duration_ns) FILTER (WHERE arm = 'both') AS both_ns,
           avg(duration_ns) FILTER (WHERE arm = 'empty') AS empty_ns,
           avg(duration_ns) FILTER (WHERE arm = 'copy, submitted') AS copy_submitted_ns,
           avg(duration_ns) FILTER (WHERE arm = 'compute, submitted') AS compute_submitted_ns,
           avg(duration_ns) FILTER (WHERE arm = 'both, submitted') AS both_submitted_ns
    FROM trial
    GROUP BY run_id, process_id, treatment, repeat
)
WHERE copy_ns > 0 AND compute_ns > 0 AND both_ns > 0
