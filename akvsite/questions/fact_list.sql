-- What is known about each run: its host, contract, software, load, device and capture?
--
-- Where the files of a run say different things, the first and the last of them in order of their text are given.
--
-- @run_id  the run
-- @run     its name
-- @part    host, contract, software, load, device or capture
-- @key     name of the fact
-- @value   the fact, as text
SELECT r.id AS run_id, r.name AS run, f.part, f.key, min(f.value) || CASE count(DISTINCT f.value)
           WHEN 1 THEN '' WHEN 2 THEN '; ' || max(f.value)
           ELSE '; ' || max(f.value) || '; and ' || (count(DISTINCT f.value) - 2) || ' more' END AS value
FROM run_fact f
JOIN run r ON r.id = f.run_id
GROUP BY r.id, f.part, f.key
