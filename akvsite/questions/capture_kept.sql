-- What else does the store hold of each run that tells what its capture saw and lost?
--
-- @run_id      the run
-- @files       files read, counted
-- @cut_short   of these, files that were cut short, counted
-- @open_calls  calls that were entered and never returned, counted; NULL where no recorder tells it
-- @samples     readings of a process's memory, counted
-- @entries     entries of an allocator's history, counted
-- @blocks      blocks in snapshots of an allocator, counted
SELECT r.id AS run_id,
       (SELECT count(*) FROM ingest i WHERE i.run_id = r.id) AS files,
       (SELECT count(*) FROM ingest i WHERE i.run_id = r.id AND i.truncated = 1) AS cut_short,
       (SELECT sum(c.open) FROM level4_edge c WHERE c.run_id = r.id) AS open_calls,
       (SELECT count(*) FROM memory_sample m WHERE m.run_id = r.id) AS samples,
       (SELECT count(*) FROM memory_event m WHERE m.run_id = r.id) AS entries,
       (SELECT count(*) FROM memory_block m WHERE m.run_id = r.id) AS blocks
FROM run r
