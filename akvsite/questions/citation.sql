-- What do claims and inquiries cite?
--
-- @by     claim or inquiry
-- @id     id of the claim or inquiry
-- @place  the rung of the inquiry; 0 for the inquiry as a whole, and for a claim
-- @kind   run, control, comparison, chart, claim or retraction
-- @name   what is cited; of a chart its page and its key, such as `runs/a#steps`
-- @page   of a chart the page that it is on; NULL otherwise
SELECT c.by, c.id, c.place, c.kind, c.name,
       CASE c.kind WHEN 'chart' THEN substr(c.name, 1, instr(c.name, '#') - 1) END AS page
FROM (
    SELECT 'claim' AS by, claim AS id, 0 AS place, kind, name FROM claim_run
    UNION ALL
    SELECT 'inquiry', inquiry, place, kind, name FROM inquiry_use
) c
