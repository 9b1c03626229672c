-- Which claims were withdrawn, when and why?
--
-- @retraction  id of the retraction
-- @date        its date
-- @claim       the claim it withdraws
-- @statement   what the claim said
-- @control     the run that showed it, where there is one
-- @reason      why
-- @body        its text
SELECT r.retraction, r.date, r.claim, k.statement, r.control, r.reason, r.body
FROM retraction r
JOIN claim k ON k.claim = r.claim
