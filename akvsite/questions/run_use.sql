-- What may the numbers of a run be used for?
--
-- The rules are here and nowhere else. Speed is stated only from level off on a proof host that was quiet, before it and as far as can be told after it, with timing events
-- off, a complete contract (`contract_of_run`), and no sign that it was looked at while it ran (`_looked_at`): a capture that
-- declares less than its files show is taken by its files. A run at level off that lacks one of the first may be compared with
-- a run under the same load (`same_load`). Every other run carries structure. An excluded run is used for nothing.
--
-- @run_id     the run
-- @level      capture level, by name
-- @role       role of its host
-- @use        `speed`, `comparison under the same load`, `structure` or `nothing`
-- @because    why, in words
SELECT v.run_id, v.level, v.role,
       CASE v.found WHEN 'excluded' THEN 'nothing'
            WHEN 'level' THEN 'structure'
            WHEN 'undeclared' THEN 'structure'
            WHEN 'looked at' THEN 'structure'
            WHEN 'speed' THEN 'speed'
            ELSE 'comparison under the same load' END AS use,
       CASE v.found WHEN 'excluded' THEN 'excluded on ' || v.date || ': ' || v.excluded_because
            WHEN 'level' THEN 'captured while it ran (level ' || v.level || '): its times are not speed'
            WHEN 'undeclared'
                THEN CASE v.declared WHEN 0 THEN 'no capture.toml declares it'
                     ELSE 'its capture.toml does not state its host and role ([host], or --host and --host-role)' END
                    || ': nothing is known of the machine it ran on'
            WHEN 'looked at' THEN v.sign || ': its times are not speed'
            WHEN 'speed' THEN 'level off on a proof host'
            ELSE CASE v.found
                WHEN 'dev' THEN 'level off on a dev host'
                WHEN 'timing on' THEN 'timing events on'
                WHEN 'timing' THEN 'timing events are `' || v.timing || '`, not stated to be off'
                WHEN 'contract' THEN 'the contract is not complete (not stated: ' || v.missing || ')'
                WHEN 'load' THEN printf('the host was busy: load a core %.3f before it, and a proof host has at most %.3f',
                                        v.load_a_core, v.most)
                WHEN 'governor' THEN 'governor `' || v.governor || '`, and a proof host has `' || v.wanted || '`'
                WHEN 'users' THEN 'other processes on its device: ' || v.other_processes || ', and a proof host has at most '
                    || v.most_users
                WHEN 'unclear after' THEN 'what it states after it is no number: ' || v.unclear_after
                WHEN 'load after' THEN printf('the host was busy: load a core %.3f after it, its own work included, and a proof'
                                              || ' host has at most %.3f', v.load_a_core_after, v.most_after)
                WHEN 'governor after' THEN 'governor `' || v.governor_after || '` after it, and a proof host has `' || v.wanted
                    || '`'
                WHEN 'users after' THEN 'other processes on its device after it: ' || v.other_processes_after
                    || ', and a proof host has at most ' || v.most_users END
                || ': compare with runs under the same load, state no speed' END AS because
FROM (
    SELECT r.id AS run_id,
           CASE r.level WHEN 0 THEN 'off' WHEN 1 THEN 'runner' WHEN 2 THEN 'host' WHEN 3 THEN 'device' ELSE 'edge' END AS level,
           coalesce(h.role, 'unknown') AS role, r.timing, r.declared, x.date, x.because AS excluded_because, o.sign, c.missing,
           l.load_a_core, l.governor, l.other_processes, l.load_a_core_after, l.governor_after, l.other_processes_after,
           l.unclear_after, t.proof_load_after AS most_after, t.proof_load_a_core AS most, t.proof_governor AS wanted,
           t.proof_other_processes AS most_users,
           CASE WHEN x.run_name IS NOT NULL THEN 'excluded'
                WHEN r.level <> 0 THEN 'level'
                WHEN r.declared = 0 OR r.host_id IS NULL OR h.role = 'unknown' THEN 'undeclared'
                WHEN o.sign IS NOT NULL THEN 'looked at'
                WHEN h.role <> 'proof' THEN 'dev'
                WHEN r.timing = 'on' THEN 'timing on'
                WHEN r.timing <> 'off' THEN 'timing'
                WHEN c.missing IS NOT NULL THEN 'contract'
                WHEN round(l.load_a_core, 3) > t.proof_load_a_core THEN 'load'
                WHEN l.governor <> t.proof_governor THEN 'governor'
                WHEN l.other_processes > t.proof_other_processes THEN 'users'
                WHEN l.unclear_after IS NOT NULL THEN 'unclear after'
                WHEN round(l.load_a_core_after, 3) > t.proof_load_after THEN 'load after'
                WHEN l.governor_after <> t.proof_governor THEN 'governor after'
                WHEN l.other_processes_after > t.proof_other_processes THEN 'users after'
                ELSE 'speed' END AS found
    FROM run r
    JOIN _looked_at o ON o.run_id = r.id
    JOIN contract_of_run c ON c.run_id = r.id
    JOIN load_of_run l ON l.run_id = r.id
    CROSS JOIN threshold t
    LEFT JOIN host h ON h.id = r.host_id
    LEFT JOIN exclusion x ON x.run_name = r.name
) v
