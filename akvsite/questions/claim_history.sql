-- What happened to each claim, in order?
--
-- Its file is only ever appended to: each entry has a seal over itself and over the seal before it.
--
-- @claim    id of the claim
-- @place    place in its history, from 0
-- @date     date
-- @event    made, cited, supported, opened, retracted or dropped (a citation that was taken back)
-- @kind     of what it names: run, comparison, chart, control or retraction
-- @name     what it names
-- @because  the reason, where one is given
-- @sha256   hash of the retraction's file, as the claim names it
-- @seal     the entry's seal
SELECT claim, place, date, event, kind, name, because, sha256, seal
FROM claim_event
