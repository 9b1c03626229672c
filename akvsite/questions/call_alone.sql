-- Which calls that are expected to have a device record have none, and what is known of the reason?
--
-- Launches, copies, fills and graph replays. What has no record is not known to have run, nor not to have run. A reason is
-- what is on record of the call itself: that it explains the missing record is not said. Where both tools recorded, device
-- records are the vendor's, and a call that is not in its trace has none for that reason alone.
--
-- @run_id    the run
-- @source    vendor or shim
-- @kind      launch, copy, fill or graph replay
-- @name      name of the call
-- @because   `never returned`, `did not succeed`, `inside another recorded call`, `not in the vendor's trace`; `not known` where nothing is
-- @calls     calls, counted
SELECT c.run_id, c.source, c.kind, c.name, a.because, count(*) AS calls
FROM _call_alone a
JOIN level4_edge c ON c.id = a.call_id
GROUP BY c.run_id, c.source, c.kind, c.name, a.because
