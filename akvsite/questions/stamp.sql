-- What does a retracted claim stand on, and what used it?
--
-- A chart that is cited stands for the run, experiment or comparison that it is of. A claim that cites a comparison stands
-- on each of its runs, and one that stands on a run is behind every comparison that the run is in. An inquiry is stamped
-- that uses the claim, or a run, comparison or chart that the claim is behind. An experiment is a run.
--
-- @kind        run, control, comparison, chart or inquiry
-- @name        name of the run or comparison, id of the inquiry; of a chart its page and its key
-- @claim       the claim
-- @statement   what it said
-- @retraction  the retraction
-- @date        when it was withdrawn
-- @reason      why
WITH named AS (
    SELECT claim, NULL AS inquiry, kind, name FROM claim_run
    WHERE claim IN (SELECT claim FROM retraction)
    UNION ALL
    SELECT NULL, inquiry, kind, name FROM inquiry_use
), cited AS (
    SELECT claim, inquiry, kind, name FROM named
    UNION
    SELECT claim, inquiry, CASE WHEN name LIKE 'comparisons/%' THEN 'comparison' ELSE 'run' END,
           substr(name, instr(name, '/') + 1, instr(name, '#') - instr(name, '/') - 1)
    FROM named WHERE kind = 'chart'
), run_behind AS (
    SELECT claim, name FROM cited WHERE claim IS NOT NULL AND kind IN ('run', 'control')
    UNION
    SELECT c.claim, m.run_name FROM cited c JOIN comparison_run m ON m.comparison = c.name
    WHERE c.claim IS NOT NULL AND c.kind = 'comparison'
), behind AS (
    SELECT claim, 'run' AS kind, name FROM run_behind
    UNION
    SELECT claim, kind, name FROM cited WHERE claim IS NOT NULL AND kind = 'comparison'
    UNION
    SELECT b.claim, 'comparison', m.comparison FROM run_behind b JOIN comparison_run m ON m.run_name = b.name
)
SELECT c.kind, c.name, c.claim, k.statement, r.retraction, r.date, r.reason
FROM (
    SELECT claim, kind, name FROM cited WHERE claim IS NOT NULL AND kind IN ('control', 'chart')
    UNION
    SELECT b.claim, b.kind, b.name FROM behind b
    WHERE b.kind <> 'run' OR NOT EXISTS (
        SELECT 1 FROM claim_run o WHERE o.claim = b.claim AND o.kind = 'control' AND o.name = b.name)
    UNION
    SELECT u.name, 'inquiry', u.inquiry FROM inquiry_use u WHERE u.kind = 'claim'
    UNION
    SELECT b.claim, 'inquiry', u.inquiry
    FROM cited u JOIN behind b ON b.kind = u.kind AND b.name = u.name WHERE u.inquiry IS NOT NULL
) c
JOIN claim k ON k.claim = c.claim
JOIN retraction r ON r.claim = c.claim
