-- Which runs and comparisons does a retracted claim stand on?
--
-- @kind        run, control or comparison
-- @name        name of the run or comparison
-- @claim       the claim
-- @statement   what it said
-- @retraction  the retraction
-- @date        when it was withdrawn
-- @reason      why
SELECT c.kind, c.name, c.claim, k.statement, r.retraction, r.date, r.reason
FROM claim_run c
JOIN claim k ON k.claim = c.claim
JOIN retraction r ON r.claim = c.claim
