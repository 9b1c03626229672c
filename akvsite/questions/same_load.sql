-- Which two runs of a host were made under the same load?
--
-- The load a core may differ by the tolerance; the governors are the same where both state one; as many other processes
-- were on the devices, or both captures say that there is no device. Clocks, temperatures and memory of the devices before a
-- run are printed and not held against it: a card that idled a moment before shows the clock of its idling. Two runs of
-- different hosts are never here.
--
-- @run_id      the run
-- @run         its name
-- @other_id    another run of the same host
-- @other       its name
-- @same        1 or 0; NULL where one of the two does not state what it takes
-- @because     what was compared, in words
-- @tolerance   within what two loads count as the same, in words
SELECT v.run_id, v.run, v.other_id, v.other,
       CASE WHEN v.load_differs OR v.governor_differs OR v.users_differ THEN 0
            WHEN v.load_differs IS NULL OR v.governor_differs IS NULL OR v.users_differ IS NULL THEN NULL
            ELSE 1 END AS same,
       -- NULL is no number here: printf would make 0.000 of it.
       'load a core ' || CASE WHEN v.load IS NULL THEN 'not stated' ELSE printf('%.3f', v.load) END || ' and '
           || CASE WHEN v.other_load IS NULL THEN 'not stated' ELSE printf('%.3f', v.other_load) END
           || CASE WHEN v.apart IS NULL THEN '' ELSE printf(', %.3f apart', v.apart) END
           || CASE WHEN v.governor IS NULL AND v.other_governor IS NULL THEN '; no governor stated'
                   ELSE '; governor ' || coalesce(v.governor, 'not stated') || ' and '
                       || coalesce(v.other_governor, 'not stated') END
           || CASE WHEN v.users = 'no device' AND v.other_users = 'no device' THEN '; no device'
                   ELSE '; other processes on the device: ' || coalesce(v.users, 'not stated') || ' and '
                       || coalesce(v.other_users, 'not stated') END AS because,
       v.tolerance
FROM (
    SELECT a.run_id, a.run, b.run_id AS other_id, b.run AS other, t.tolerance,
           a.load_a_core AS load, b.load_a_core AS other_load,
           round(abs(a.load_a_core - b.load_a_core), 3) AS apart,
           round(abs(a.load_a_core - b.load_a_core), 3) > t.same_load_a_core AS load_differs,
           a.governor, b.governor AS other_governor,
           CASE WHEN a.governor IS NULL AND b.governor IS NULL THEN 0 ELSE a.governor <> b.governor END AS governor_differs,
           CASE WHEN a.other_processes IS NOT NULL THEN CAST(a.other_processes AS TEXT)
                WHEN a.no_device THEN 'no device' END AS users,
           CASE WHEN b.other_processes IS NOT NULL THEN CAST(b.other_processes AS TEXT)
                WHEN b.no_device THEN 'no device' END AS other_users,
           CASE WHEN a.other_processes IS NULL AND NOT a.no_device THEN NULL
                WHEN b.other_processes IS NULL AND NOT b.no_device THEN NULL
                ELSE a.other_processes IS NOT b.other_processes END AS users_differ
    FROM load_of_run a
    JOIN load_of_run b ON b.host_id = a.host_id AND b.run_id <> a.run_id
    CROSS JOIN threshold t
) v
