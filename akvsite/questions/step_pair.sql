-- What do two sources say of the same step of one process?
--
-- The same step is the one with the same number, in the files of the process (by its pid) or in one file that has both
-- sources. A number that a source gave more than once is of no one step, and left out.
--
-- @run_id           the run
-- @step_id          the step of the first source: the engine's own where it has one
-- @other_id         the step of the second source
-- @number           number of the step
-- @source           the first source
-- @other            the second source
-- @at_once          1 where the two overlap in time; where not, the numbers count from different steps
-- @start_apart_ns   start of the second less that of the first, ns
-- @duration_ns      how long it took by the first, ns
-- @other_ns         how long it took by the second, ns
-- @apart_ns         the second less the first, ns
SELECT run_id, step_id, other_id, number, source, other,
       other_start_ns < end_ns AND start_ns < other_end_ns AS at_once, other_start_ns - start_ns AS start_apart_ns,
       end_ns - start_ns AS duration_ns, other_end_ns - other_start_ns AS other_ns,
       (other_end_ns - other_start_ns) - (end_ns - start_ns) AS apart_ns
FROM (
    SELECT s.run_id, s.step_id, o.id AS other_id, s.number, s.source, o.source AS other, s.start_ns, s.end_ns,
           o.start_ns AS other_start_ns, o.end_ns AS other_end_ns,
           count(*) OVER (PARTITION BY s.run_id, s.step_id, o.process_id, o.source) AS others
    FROM (
        SELECT run_id, process_id, id AS step_id, number, source, start_ns, end_ns,
               CASE source WHEN 'probe' THEN 0 WHEN 'engine counter' THEN 1 WHEN 'client' THEN 2 WHEN 'engine annotation' THEN 3 ELSE 4 END AS place,
               count(*) OVER (PARTITION BY run_id, process_id, source, number) AS alike
        FROM step
        WHERE nested = 0 AND number IS NOT NULL
    ) s
    JOIN process p ON p.id = s.process_id
    JOIN process q ON q.run_id = p.run_id AND (q.id = p.id OR (q.pid = p.pid AND p.pid <> 'unknown' AND q.rank IS p.rank))
    JOIN step o ON o.run_id = s.run_id AND o.process_id = q.id AND o.number = s.number AND o.nested = 0
    WHERE s.alike = 1
      AND s.place < CASE o.source WHEN 'probe' THEN 0 WHEN 'engine counter' THEN 1 WHEN 'client' THEN 2 WHEN 'engine annotation' THEN 3 ELSE 4 END
)
WHERE others = 1 AND end_ns IS NOT NULL AND other_end_ns IS NOT NULL AND start_ns IS NOT NULL AND other_start_ns IS NOT NULL
