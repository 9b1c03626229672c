-- Which runs can serve as a control?
--
-- A control is a run that was captured with capture off, that a capture.toml declares, and that no note excludes. Of a claim
-- about overlap, serialisation, waiting or idleness it is a designed experiment: its trials are timed by the wall clock, its
-- capture says how they were arranged (`design` or `experiment`), and timing events were off throughout, or in a treatment
-- whose label says so: `timing off`, `events off` or `timing events off`, alone or between commas.
--
-- @run         name of the run
-- @run_id      the run
-- @counts      1 where it can be a control
-- @because     why it cannot
-- @designed    1 where it is a designed experiment
-- @timing_off  1 where timing events were off throughout, or in one of its treatments
SELECT r.name AS run, r.id AS run_id, u.use IN ('speed', 'comparison under the same load') AS counts,
       CASE WHEN u.use IN ('speed', 'comparison under the same load') THEN '' ELSE u.because END AS because,
       EXISTS (SELECT 1 FROM trial t WHERE t.run_id = r.id)
           AND EXISTS (
               SELECT 1 FROM run_fact f
               WHERE f.run_id = r.id AND f.part = 'capture' AND f.key IN ('design', 'experiment')
                 AND trim(f.value) <> '') AS designed,
       r.timing = 'off' OR EXISTS (
           SELECT 1 FROM trial t
           WHERE t.run_id = r.id
             AND (', ' || t.treatment || ',' LIKE '%, timing off,%' OR ', ' || t.treatment || ',' LIKE '%, events off,%'
                  OR ', ' || t.treatment || ',' LIKE '%, timing events off,%')
             AND t.treatment NOT LIKE '%timing on%' AND t.treatment NOT LIKE '%events on%') AS timing_off
FROM run r
JOIN run_use u ON u.run_id = r.id
