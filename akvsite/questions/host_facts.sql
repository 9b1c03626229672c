-- What do the captures of a host say about it, and which of them?
--
-- @host   public name of the host
-- @part   host or load
-- @key    name of the fact
-- @value  the fact, as text
-- @runs   runs that say so, counted
-- @run    the first of them
SELECT h.name AS host, f.part, f.key, f.value, count(*) AS runs, min(r.name) AS run
FROM run_fact f
JOIN run r ON r.id = f.run_id
JOIN host h ON h.id = r.host_id
WHERE f.part IN ('host', 'load')
GROUP BY h.name, f.part, f.key, f.value
