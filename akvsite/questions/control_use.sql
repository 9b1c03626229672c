-- Which controls of claims count as one?
--
-- What can be a control at all, and what a designed experiment is, says `control_list`; which claims need one,
-- `_claim_design`. A control is none of the runs that the claim stands on, under whatever name (`_claim_stands`). Without one a claim stays open.
--
-- @claim    id of the claim
-- @state    open, supported or retracted
-- @control  name of its control
-- @known    1 where the store has it
-- @counts   1 where it counts as a control
-- @because  why it does not
SELECT v.claim, v.state, v.control, v.known, v.because = '' AS counts, v.because
FROM (
    SELECT c.claim, k.state, c.name AS control, l.run IS NOT NULL AS known,
           CASE WHEN l.run IS NULL THEN 'is not in the store, into which `akvsite ingest` reads captures'
                WHEN l.counts = 0 THEN 'is no control: ' || l.because
                WHEN s.same_as IS NOT NULL THEN 'holds the same bytes as ' || s.same_as || ', one of the runs that the claim stands on'
                WHEN s.run IS NOT NULL THEN 'is one of the runs that the claim stands on'
                WHEN d.claim IS NULL THEN ''
                WHEN l.designed = 0 THEN 'is no designed experiment: ' || d.because
                    || ' needs one, with trials by the wall clock and a `design` or `experiment` that its capture states'
                WHEN l.timing_off = 0 THEN 'does not say that timing events were off, throughout or in one treatment: '
                    || d.because || ' needs that'
                ELSE '' END AS because
    FROM claim_run c
    JOIN claim k ON k.claim = c.claim
    LEFT JOIN control_list l ON l.run = c.name
    LEFT JOIN _claim_stands s ON s.claim = c.claim AND s.run = c.name
    LEFT JOIN _claim_design d ON d.claim = c.claim
    WHERE c.kind = 'control'
) v
