-- Which facts of runs are numbers?
--
-- A number is digits with at most one point between them, as long as no number of this world needs more: whatever else is stated
-- (`7 others`, `0..99`, `-1`, `nan`) is none, of which a cast would make one.
--
-- @run_id  the run
-- @part    part of the capture that states it
-- @key     its key
-- @value   what is stated
-- @number  1 where it is a number
-- @whole   1 where it is a whole one
SELECT f.run_id, f.part, f.key, f.value,
       f.value GLOB '[0-9]*' AND f.value NOT GLOB '*[^0-9.]*' AND f.value NOT GLOB '*.*.*' AND f.value NOT GLOB '*.'
           AND length(f.value) < 16 AS number,
       f.value <> '' AND f.value NOT GLOB '*[^0-9]*' AND length(f.value) < 16 AS whole
FROM run_fact f
