-- What did a recorder of calls not record in full, and what became of it?
--
-- Only files of our own recorders say this of themselves; of other tools it is not known.
--
-- @run_id  the run
-- @path    the file
-- @what    kind of record
-- @fate    why there is no row of it
-- @count   records, counted
SELECT i.run_id, i.path, c.what, c.fate, c.count
FROM ingest_count c
JOIN ingest i ON i.id = c.ingest_id
WHERE i.format = 'akvlog' AND c.fate NOT IN ('level4_edge', 'level3_device', 'edge_wait', 'clock_sample', 'step', 'request', 'request_event', 'token', 'level1_runner',
                                               'level2_host', 'a column of its token', 'a column of its tokens')
  AND c.fate NOT GLOB 'joined: *'
