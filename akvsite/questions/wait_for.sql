-- For the events of which calls did calls wait?
--
-- An association by the handle of the event: that a call waited for an event does not say that it took so long because of
-- it. A call that waits for several events is in several rows, so its time must not be added up over them.
--
-- @run_id   the run
-- @name     name of the call that waited
-- @holds    1 where it held the host, 0 where it made a queue wait
-- @maker    name of the call that had handed the event out; NULL where it is not known
-- @ran      what the device ran for that call; NULL where neither a device record nor a kernel is known
-- @events   events waited for, counted
-- @calls    calls that waited, counted
-- @host_ns  durations of those calls, ns
SELECT w.run_id, c.name, c.kind = 'wait' OR coalesce(c.blocking, 0) = 1 AS holds, m.name AS maker, coalesce(d.name, m.object_name) AS ran,
       count(*) AS events, count(DISTINCT c.id) AS calls, sum(c.end_ns - c.start_ns) AS host_ns
FROM edge_wait w
JOIN level4_edge c ON c.id = w.call_id
LEFT JOIN level4_edge m ON m.id = w.maker_id
-- one record stands for its call: the events of a call with several are not counted several times
LEFT JOIN level3_device d ON d.id = (SELECT min(l.interval_id) FROM link l WHERE l.call_id = m.id)
GROUP BY w.run_id, c.name, holds, m.name, ran
