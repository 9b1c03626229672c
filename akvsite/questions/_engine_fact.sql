-- What does the contract of a run say of the engine's arguments, where a step depends on them?
--
-- How long it ran (`requests`) and where its requests came from (`seed`) are left out.
--
-- @run_id  the run
-- @key     name of the option, behind `engine.`
-- @value   its value, as text
SELECT run_id, key, value
FROM run_fact
WHERE part = 'contract' AND key LIKE 'engine.%' AND key NOT IN ('engine.requests', 'engine.seed')
