-- Which claims were withdrawn, when and why?
--
-- @retraction  id of the retraction
-- @date        its date
-- @claim       the claim it withdraws
-- @made        when that claim was made
-- @statement   what the claim said
-- @said        the claim's text
-- @control     the run or experiment that showed it, where there is one
-- @reason      why
-- @body        its text
-- @sha256      hash of its file; NULL where the store was not told
SELECT r.retraction, r.date, r.claim, k.date AS made, k.statement, k.body AS said, r.control, r.reason, r.body, r.sha256
FROM retraction r
JOIN claim k ON k.claim = r.claim
