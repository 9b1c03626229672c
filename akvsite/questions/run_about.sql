-- What is declared about each run?
--
-- @run_id         the run
-- @name           its name
-- @because        why its numbers may be used as they may, see `run_use`
-- @clock          how device times reached the host's axis
-- @timing         timing events on the device queues: on, off, asis or unknown
-- @warm_up_steps  steps to cut, declared
-- @axis_bound_ns  how far the axes of two tools in it are known against each other, ns; NULL where it has one axis
-- @note           what the maker of the capture says
-- @declared       1 where a capture.toml declares it
SELECT r.id AS run_id, r.name, u.because, r.clock, r.timing, r.warm_up_steps,
       (SELECT max(CAST(f.value AS INTEGER)) FROM _number_fact f
        WHERE f.run_id = r.id AND f.part = 'capture' AND f.key = 'host axis is known to, in ns' AND f.whole) AS axis_bound_ns,
       r.note, r.declared
FROM run r
JOIN run_use u ON u.run_id = r.id
