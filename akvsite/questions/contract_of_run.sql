-- Is the contract of each run complete, and which parts of it are missing?
--
-- What must be known of a run before its numbers may be a statement of speed: otherwise nobody could make it again, or see
-- that another run did the same work. A part counts as stated where it has one value that is not empty.
--
-- @run_id    the run
-- @run       its name
-- @workload  1 where its workload is stated, in words or as the engine's arguments
-- @outputs   1 where the hash of its outputs is stated
-- @software  1 where a version of its software is stated
-- @device    1 where facts of its device are stated, or that there is none
-- @load      1 where the load before it is stated, as a load a core
-- @users     1 where the other processes on its devices before it are counted, or it says that there is no device
-- @warm_up   1 where the steps to cut as warm-up are declared
-- @engine    1 where the engine is named
-- @missing   every missing part, in words; NULL where the contract is complete
SELECT v.run_id, v.run, v.workload, v.outputs, v.software, v.device, v.load, v.users, v.warm_up, v.engine,
       nullif(substr(
           CASE WHEN v.workload THEN '' ELSE ', its workload' END
           || CASE WHEN v.outputs THEN '' ELSE ', the hash of its outputs' END
           || CASE WHEN v.software THEN '' ELSE ', the versions of its software' END
           || CASE WHEN v.device THEN '' ELSE ', facts of its device' END
           || CASE WHEN v.load THEN '' ELSE ', the load a core before it' END
           || CASE WHEN v.users THEN '' ELSE ', how many other processes were on its device before it' END
           || CASE WHEN v.warm_up THEN '' ELSE ', its warm-up' END
           || CASE WHEN v.engine THEN '' ELSE ', its engine' END, 3), '') AS missing
FROM (
    SELECT r.id AS run_id, r.name AS run,
           EXISTS (SELECT 1 FROM run_fact f
                   WHERE f.run_id = r.id AND f.part = 'contract' AND (f.key = 'workload' OR f.key GLOB 'engine.*')
                     AND trim(f.value) <> '') AS workload,
           EXISTS (SELECT 1 FROM run_fact f
                   WHERE f.run_id = r.id AND f.part = 'contract' AND f.key = 'output_hash' AND trim(f.value) <> '') AS outputs,
           EXISTS (SELECT 1 FROM run_fact f
                   WHERE f.run_id = r.id
                     AND (f.part = 'software' AND f.key NOT IN ('asked', 'dropped') AND f.key NOT GLOB 'environment.*'
                          OR f.part = 'contract' AND f.key GLOB 'versions.*')
                     AND f.value GLOB '*[0-9]*') AS software,
           l.no_device OR EXISTS (
               SELECT 1 FROM run_fact f
               WHERE f.run_id = r.id AND f.part = 'device' AND trim(f.value) <> '') AS device,
           l.load_a_core IS NOT NULL AS load,
           l.other_processes IS NOT NULL OR l.no_device AS users,
           r.warm_up_steps IS NOT NULL AS warm_up,
           trim(coalesce(r.engine, '')) <> '' AS engine
    FROM run r
    JOIN load_of_run l ON l.run_id = r.id
) v
