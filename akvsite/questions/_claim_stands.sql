-- Which runs does each claim stand on?
--
-- Those that it cites, those of comparisons that it cites, and those of charts that it cites: of runs, of experiments, each of
-- which is a run, and of comparisons. So does a run of another name that holds the same bytes: a file of records in it has the
-- SHA-256 of one in these.
--
-- @claim    id of the claim
-- @run      name of the run
-- @same_as  the run whose bytes it holds; NULL where the claim itself leads to it
WITH cited AS (
    SELECT claim, kind, name FROM claim_run WHERE kind IN ('run', 'comparison')
    UNION
    SELECT claim, CASE WHEN instr(name, 'comparisons/') = 1 THEN 'comparison' ELSE 'run' END,
           substr(name, instr(name, '/') + 1, instr(name, '#') - instr(name, '/') - 1)
    FROM claim_run
    WHERE kind = 'chart' AND (instr(name, 'runs/') = 1 OR instr(name, 'experiments/') = 1 OR instr(name, 'comparisons/') = 1)
), led_to AS (
    SELECT claim, name AS run FROM cited WHERE kind = 'run'
    UNION
    SELECT c.claim, m.run_name FROM cited c JOIN comparison_run m ON m.comparison = c.name WHERE c.kind = 'comparison'
), held AS (
    SELECT r.name AS run, i.sha256 FROM ingest i
    JOIN run r ON r.id = i.run_id
    WHERE i.format <> 'capture.toml' AND i.sha256 <> ''
      AND EXISTS (SELECT 1 FROM ingest_count n WHERE n.ingest_id = i.id AND n.count > 0)
)
SELECT claim, run, NULL AS same_as FROM led_to
UNION ALL
SELECT l.claim, o.run, min(h.run)
FROM led_to l
JOIN held h ON h.run = l.run
JOIN held o ON o.sha256 = h.sha256
WHERE NOT EXISTS (SELECT 1 FROM led_to t WHERE t.claim = l.claim AND t.run = o.run)
GROUP BY l.claim, o.run
