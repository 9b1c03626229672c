-- Which claims were made, and how do they stand?
--
-- @claim       id of the claim
-- @date        when it was made
-- @state       open, supported or retracted
-- @scope       evidence scope
-- @about       what it is about, comma-separated; NULL where it does not say
-- @statement   what it says
-- @predicts    what would be seen if it holds; NULL where it does not say
-- @body        its text
-- @controls    its controls, comma-separated; NULL where it has none
-- @retraction  its retraction, where there is one
-- @withdrawn   date of the retraction
-- @reason      why it was withdrawn
SELECT k.claim, k.date, k.state, k.scope, k.about, k.statement, k.predicts, k.body,
       (SELECT group_concat(c.name, ', ') FROM (
            SELECT name FROM claim_run WHERE claim = k.claim AND kind = 'control' ORDER BY name) c) AS controls,
       r.retraction, r.date AS withdrawn, r.reason
FROM claim k
LEFT JOIN retraction r ON r.claim = k.claim
