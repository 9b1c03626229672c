-- Which controls of claims count as one?
--
-- A control is a run that was captured with capture off, that a capture.toml declares, and that no note excludes.
-- Without one a claim stays open.
--
-- @claim    id of the claim
-- @state    open, supported or retracted
-- @control  name of its control
-- @counts   1 where it counts as a control
-- @because  why it does not
SELECT c.claim, k.state, c.name AS control, coalesce(u.use IN ('speed', 'comparison under the same load'), 0) AS counts,
       CASE WHEN r.id IS NULL THEN 'is not in the store'
            WHEN u.use IN ('speed', 'comparison under the same load') THEN ''
            ELSE 'is no control: ' || u.because END AS because
FROM claim_run c
JOIN claim k ON k.claim = c.claim
LEFT JOIN run r ON r.name = c.name
LEFT JOIN run_use u ON u.run_id = r.id
WHERE c.kind = 'control'
