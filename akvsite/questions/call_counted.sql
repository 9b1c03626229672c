-- Which calls did our own recorder count without their times?
--
-- Calls that programs ask all the time, and those of which no header says what they take.
--
-- @run_id  the run
-- @name    name of the call
-- @count   how often it went through in the whole run, counted
SELECT i.run_id, substr(c.what, length('call ') + 1) AS name, sum(c.count) AS count
FROM ingest_count c
JOIN ingest i ON i.id = c.ingest_id
WHERE i.format = 'akvlog' AND c.what LIKE 'call %' AND c.fate = 'counted only: neither its time nor what it did'
GROUP BY i.run_id, name
