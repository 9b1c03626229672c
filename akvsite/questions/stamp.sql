-- Which runs and comparisons does a retracted claim stand on?
--
-- A claim that cites a comparison stands on each of its runs, and one that cites a run is behind every comparison that
-- the run is in: all of them carry the stamp.
--
-- @kind        run, control or comparison
-- @name        name of the run or comparison
-- @claim       the claim
-- @statement   what it said
-- @retraction  the retraction
-- @date        when it was withdrawn
-- @reason      why
SELECT c.kind, c.name, c.claim, k.statement, r.retraction, r.date, r.reason
FROM (
    SELECT kind, name, claim FROM claim_run
    UNION
    SELECT 'run', m.run_name, c.claim
    FROM claim_run c JOIN comparison_run m ON m.comparison = c.name WHERE c.kind = 'comparison'
    UNION
    SELECT 'comparison', m.comparison, c.claim
    FROM claim_run c JOIN comparison_run m ON m.run_name = c.name WHERE c.kind IN ('run', 'control')
) c
JOIN claim k ON k.claim = c.claim
JOIN retraction r ON r.claim = c.claim
