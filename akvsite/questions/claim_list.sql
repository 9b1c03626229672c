-- Which claims were made, and how do they stand?
--
-- A claim whose control the store does not have is shown as open: nothing here can tell whether it counts.
--
-- @claim       id of the claim
-- @date        when it was made
-- @state       open, supported or retracted
-- @unknown     the control that the store does not have, for which a supported claim is shown as open
-- @scope       evidence scope
-- @about       what it is about, comma-separated; NULL where it does not say
-- @statement   what it says
-- @predicts    what would be seen if it holds; NULL where it does not say
-- @body        its text
-- @controls    its controls, comma-separated; NULL where it has none
-- @retraction  its retraction, where there is one
-- @withdrawn   date of the retraction
-- @withdrawn_by  the control that showed it; NULL where none is stated
-- @reason      why it was withdrawn
SELECT k.claim, k.date, CASE WHEN u.control IS NULL THEN k.state ELSE 'open' END AS state, u.control AS unknown, k.scope,
       k.about, k.statement, k.predicts, k.body,
       (SELECT group_concat(c.name, ', ') FROM (
            SELECT name FROM claim_run WHERE claim = k.claim AND kind = 'control' ORDER BY name) c) AS controls,
       r.retraction, r.date AS withdrawn, r.control AS withdrawn_by, r.reason
FROM claim k
LEFT JOIN retraction r ON r.claim = k.claim
LEFT JOIN (
    SELECT claim, min(control) AS control FROM control_use WHERE known = 0 AND state = 'supported' GROUP BY claim
) u ON u.claim = k.claim
