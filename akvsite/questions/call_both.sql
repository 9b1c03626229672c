-- Which calls did both the vendor's tracer and the shim record, and which only one of them?
--
-- There is no id that both carry: a row of each is taken for the same call by name, order in the thread, and the one lying
-- inside the other. Of the shim's calls only those are listed here as unseen by the vendor's tracer that were made while
-- it was recording.
--
-- @run_id        the run
-- @thread        the thread
-- @kind          launch, copy, fill, graph replay, wait or other
-- @vendor        name of the call as the vendor's tracer has it; NULL where it did not see it
-- @shim          name of the call as the shim has it; NULL where it did not see it
-- @nested        1 where the shim saw it inside another recorded call
-- @calls         calls, counted
-- @with_records  of these, calls with device records, counted
SELECT v.run_id, v.thread, v.kind, v.name AS vendor, s.name AS shim, s.nested, count(*) AS calls,
       sum(EXISTS (SELECT 1 FROM link l WHERE l.call_id = v.id)) AS with_records
FROM same_call p
JOIN level4_edge v ON v.id = p.vendor_id
JOIN level4_edge s ON s.id = p.shim_id
GROUP BY v.run_id, v.thread, v.kind, v.name, s.name, s.nested
UNION ALL
SELECT v.run_id, v.thread, v.kind, v.name AS vendor, NULL AS shim, NULL AS nested, count(*) AS calls,
       sum(EXISTS (SELECT 1 FROM link l WHERE l.call_id = v.id)) AS with_records
FROM level4_edge v
WHERE v.source <> 'shim' AND NOT EXISTS (SELECT 1 FROM same_call p WHERE p.vendor_id = v.id)
  AND EXISTS (SELECT 1 FROM level4_edge o WHERE o.run_id = v.run_id AND o.source = 'shim')
GROUP BY v.run_id, v.thread, v.kind, v.name
UNION ALL
SELECT s.run_id, s.thread, s.kind, NULL AS vendor, s.name AS shim, s.nested, count(*) AS calls,
       sum(EXISTS (SELECT 1 FROM link l WHERE l.call_id = s.id)) AS with_records
FROM level4_edge s
WHERE s.source = 'shim' AND NOT EXISTS (SELECT 1 FROM same_call p WHERE p.shim_id = s.id)
  -- by process, so that the index leads to one row before it and one behind it
  AND EXISTS (SELECT 1 FROM process p JOIN ingest i ON i.id = p.ingest_id
              JOIN level4_edge v ON v.run_id = p.run_id AND v.process_id = p.id AND v.start_ns <= s.start_ns
              WHERE p.run_id = s.run_id AND i.format <> 'akvlog' AND v.source <> 'shim')
  AND EXISTS (SELECT 1 FROM process p JOIN ingest i ON i.id = p.ingest_id
              JOIN level4_edge v ON v.run_id = p.run_id AND v.process_id = p.id AND v.start_ns >= s.start_ns
              WHERE p.run_id = s.run_id AND i.format <> 'akvlog' AND v.source <> 'shim')
GROUP BY s.run_id, s.thread, s.kind, s.name, s.nested
