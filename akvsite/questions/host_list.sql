-- Which hosts made captures, and in which role?
--
-- @host_id  the host
-- @host     its public name
-- @role     dev, proof or unknown
-- @runs     runs made on it, counted
SELECT h.id AS host_id, h.name AS host, h.role, count(r.id) AS runs
FROM host h
LEFT JOIN run r ON r.host_id = h.id
GROUP BY h.id
