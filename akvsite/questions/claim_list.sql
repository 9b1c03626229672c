-- Which claims were made, and how do they stand?
--
-- @claim       id of the claim
-- @date        when it was made
-- @state       open, supported or retracted
-- @scope       evidence scope
-- @statement   what it says
-- @body        its text
-- @retraction  its retraction, where there is one
-- @withdrawn   date of the retraction
-- @reason      why it was withdrawn
SELECT k.claim, k.date, k.state, k.scope, k.statement, k.body, r.retraction, r.date AS withdrawn, r.reason
FROM claim k
LEFT JOIN retraction r ON r.claim = k.claim
