-- Which rungs does the ladder of each inquiry have?
--
-- @inquiry   id of the inquiry
-- @place     place on the ladder, from 1
-- @scope     evidence scope: application, timeline, kernel, source or instruction
-- @question  what was asked
-- @found     what was seen, in its maker's words; NULL while it is not answered
SELECT inquiry, place, scope, question, found
FROM inquiry_rung
