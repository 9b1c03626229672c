-- What do the captures of a host say about it and its devices, and since when?
--
-- One row for each stretch of captures, in the order of their dates, that state the same value; a capture without a date comes
-- first. A fact that never changed has one row.
--
-- @host   public name of the host
-- @part   host or device
-- @key    name of the fact
-- @place  which stretch of it this is, from 1
-- @value  the fact, as text
-- @since  date of the first capture of the stretch; NULL where it states none
-- @until  date of the last one
-- @runs   captures in the stretch, counted
-- @run    name of the first of them
SELECT v.host, v.part, v.key, v.stretch AS place, v.value, max(CASE WHEN v.nth = 1 THEN v.started END) AS since,
       max(CASE WHEN v.from_last = 1 THEN v.started END) AS until, count(*) AS runs,
       max(CASE WHEN v.nth = 1 THEN v.run END) AS run
FROM (
    SELECT u.*, row_number() OVER (PARTITION BY u.host, u.part, u.key, u.stretch ORDER BY u.at, u.run) AS nth,
           row_number() OVER (PARTITION BY u.host, u.part, u.key, u.stretch ORDER BY u.at DESC, u.run DESC) AS from_last
    FROM (
        SELECT t.*, sum(t.changed) OVER (PARTITION BY t.host, t.part, t.key ORDER BY t.at, t.run) AS stretch
        FROM (
            SELECT h.name AS host, f.part, f.key, f.value, r.started, r.name AS run, julianday(r.started) AS at,
                   f.value IS NOT lag(f.value) OVER (
                       PARTITION BY h.name, f.part, f.key ORDER BY julianday(r.started), r.name) AS changed
            FROM fact_list f
            JOIN run r ON r.id = f.run_id
            JOIN host h ON h.id = r.host_id
            WHERE f.part IN ('host', 'device')
        ) t
    ) u
) v
GROUP BY v.host, v.part, v.key, v.stretch, v.value
