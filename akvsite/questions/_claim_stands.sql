-- Which runs does each claim stand on?
--
-- Those that it cites, those of comparisons that it cites, and those of charts of runs and of comparisons. A chart of an
-- experiment's own page is no other evidence than the experiment, which may be the claim's control.
--
-- @claim  id of the claim
-- @run    name of the run
WITH cited AS (
    SELECT claim, kind, name FROM claim_run WHERE kind IN ('run', 'comparison')
    UNION
    SELECT claim, CASE WHEN instr(name, 'runs/') = 1 THEN 'run' ELSE 'comparison' END,
           substr(name, instr(name, '/') + 1, instr(name, '#') - instr(name, '/') - 1)
    FROM claim_run
    WHERE kind = 'chart' AND (instr(name, 'runs/') = 1 OR instr(name, 'comparisons/') = 1)
)
SELECT claim, name AS run FROM cited WHERE kind = 'run'
UNION
SELECT c.claim, m.run_name FROM cited c JOIN comparison_run m ON m.comparison = c.name WHERE c.kind = 'comparison'
