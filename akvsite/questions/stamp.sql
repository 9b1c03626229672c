-- What does a retracted claim stand on, and what used it?
--
-- A chart that a claim cites stands for the run, experiment or comparison that it is of. A claim that cites a comparison
-- stands on each of its runs, and one that stands on a run is behind every comparison that the run is in. An inquiry that
-- uses the claim is stamped with it. An experiment is a run.
--
-- @kind        run, control, comparison, chart or inquiry
-- @name        name of the run or comparison, id of the inquiry; of a chart its page and its key
-- @claim       the claim
-- @statement   what it said
-- @retraction  the retraction
-- @date        when it was withdrawn
-- @reason      why
WITH cited AS (
    SELECT claim, kind, name FROM claim_run
    UNION
    SELECT claim, CASE WHEN name LIKE 'comparisons/%' THEN 'comparison' ELSE 'run' END,
           substr(name, instr(name, '/') + 1, instr(name, '#') - instr(name, '/') - 1)
    FROM claim_run WHERE kind = 'chart'
), run_behind AS (
    SELECT claim, name FROM cited WHERE kind IN ('run', 'control')
    UNION
    SELECT c.claim, m.run_name FROM cited c JOIN comparison_run m ON m.comparison = c.name WHERE c.kind = 'comparison'
)
SELECT c.kind, c.name, c.claim, k.statement, r.retraction, r.date, r.reason
FROM (
    SELECT claim, kind, name FROM cited
    UNION
    SELECT b.claim, 'run', b.name FROM run_behind b
    WHERE NOT EXISTS (SELECT 1 FROM cited c WHERE c.claim = b.claim AND c.name = b.name AND c.kind = 'control')
    UNION
    SELECT b.claim, 'comparison', m.comparison FROM run_behind b JOIN comparison_run m ON m.run_name = b.name
    UNION
    SELECT u.name, 'inquiry', u.inquiry FROM inquiry_use u WHERE u.kind = 'claim'
) c
JOIN claim k ON k.claim = c.claim
JOIN retraction r ON r.claim = c.claim
