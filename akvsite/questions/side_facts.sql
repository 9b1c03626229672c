-- What does each run of a comparison say of its contract, host, load, software, device and capture?
--
-- Where the files of a run say different things, the first and the last of them in order of their text are given.
--
-- @comparison  name of the comparison
-- @side        A or B
-- @place       place on its side
-- @run         name of the run
-- @part        part of the fact
-- @key         name of the fact
-- @value       the fact, as text
SELECT m.comparison, m.side, m.place, r.name AS run, f.part, f.key, min(f.value) || CASE count(DISTINCT f.value)
           WHEN 1 THEN '' WHEN 2 THEN '; ' || max(f.value)
           ELSE '; ' || max(f.value) || '; and ' || (count(DISTINCT f.value) - 2) || ' more' END AS value
FROM comparison_run m
JOIN run r ON r.name = m.run_name
JOIN run_fact f ON f.run_id = r.id
GROUP BY m.comparison, m.side, m.place, f.part, f.key
