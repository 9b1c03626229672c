-- Which controls of retractions were captured with capture off?
--
-- A retraction needs no control, but one that it names has to be one. That a run was excluded later takes nothing back that
-- was withdrawn because of it.
--
-- @retraction  id of the retraction
-- @claim       the claim it withdraws
-- @control     the run that showed it
-- @known       1 where the store has it
-- @counts      1 where it was captured with capture off
-- @because     why it does not count
SELECT r.retraction, r.claim, r.control, n.id IS NOT NULL AS known,
       coalesce(l.counts = 1 OR x.run_name IS NOT NULL AND n.level = 0, 0) AS counts,
       CASE WHEN l.run IS NULL THEN 'is not in the store, into which `akvsite ingest` reads captures'
            WHEN l.counts = 1 OR x.run_name IS NOT NULL AND n.level = 0 THEN ''
            ELSE 'is no control: ' || l.because END AS because
FROM retraction r
LEFT JOIN run n ON n.name = r.control
LEFT JOIN control_list l ON l.run = r.control
LEFT JOIN exclusion x ON x.run_name = r.control
WHERE r.control IS NOT NULL
