-- Which runs and comparisons does each claim cite?
--
-- @claim  id of the claim
-- @kind   run, control or comparison
-- @name   name of the run or comparison
-- @known  1 where the store has it
SELECT c.claim, c.kind, c.name,
       CASE c.kind WHEN 'comparison' THEN EXISTS (SELECT 1 FROM comparison m WHERE m.name = c.name)
                   ELSE EXISTS (SELECT 1 FROM run r WHERE r.name = c.name) END AS known
FROM claim_run c
