-- Which inquiries were written?
--
-- @inquiry     id of the inquiry
-- @date        its date
-- @title       its title
-- @symptom     what was noticed first
-- @change      what was changed; NULL while nothing was
-- @validation  what was looked at after the change; NULL while nothing was
-- @body        its text
-- @rungs       rungs of its ladder, counted
-- @answered    those of them that say what was seen, counted
SELECT i.inquiry, i.date, i.title, i.symptom, i.change, i.validation, i.body,
       (SELECT count(*) FROM inquiry_rung g WHERE g.inquiry = i.inquiry) AS rungs,
       (SELECT count(*) FROM inquiry_rung g WHERE g.inquiry = i.inquiry AND g.found IS NOT NULL) AS answered
FROM inquiry i
