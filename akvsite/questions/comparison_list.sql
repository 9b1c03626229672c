-- Which comparisons are declared, and which runs stand on each side?
--
-- @comparison  name of the comparison
-- @title       the question it answers
-- @design      ABBA pairs, unpaired or two runs
-- @note        what its maker says about it
-- @side        A or B
-- @label       what the side is called
-- @place       place on its side, from 0; in ABBA pairs the pair
-- @run         name of the run
-- @run_id      the run; NULL where the store does not have it
-- @use         what the run's numbers may be used for
-- @level       its capture level
-- @role        role of its host
-- @host        its host
SELECT c.name AS comparison, c.title, c.design, c.note, m.side, m.label, m.place, m.run_name AS run, r.id AS run_id,
       u.use, u.level, u.role, h.name AS host
FROM comparison c
JOIN comparison_run m ON m.comparison = c.name
LEFT JOIN run r ON r.name = m.run_name
LEFT JOIN run_use u ON u.run_id = r.id
LEFT JOIN host h ON h.id = r.host_id
