-- What is known about each run: its host, contract, software, load, device and capture?
--
-- @run_id  the run
-- @run     its name
-- @part    host, contract, software, load, device or capture
-- @key     name of the fact
-- @value   the fact, as text
SELECT r.id AS run_id, r.name AS run, f.part, f.key, min(f.value) AS value
FROM run_fact f
JOIN run r ON r.id = f.run_id
GROUP BY r.id, f.part, f.key
