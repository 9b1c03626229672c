-- How quiet must a proof host be, and how alike are two loads that count as the same?
--
-- The first three are what a capture on a proof host is held to before it runs (`akvsite/record/quiet.py` has the same
-- numbers, and a test compares them). After a run the load says less, since the run's own threads are in it; above one a
-- core more of them wanted a core than there are, and who had to wait for whom nobody can say. Two loads count as the same within what a host may have and still be called quiet:
-- less than that is not told from nothing.
--
-- @proof_load_a_core      most that the load average over 1 min, divided by the number of cores, may be on a proof host
-- @proof_other_processes  most other processes on the devices of a proof host, before a run and after it
-- @proof_load_after       most that the load a core may be after a run on a proof host, its own work included
-- @proof_governor         governor of a proof host, on every core, where the kernel shows one
-- @no_device              what a capture says where the host has no device
-- @same_load_a_core       most by which the load a core of two runs may differ
-- @tolerance              within what two loads count as the same, in words
SELECT v.proof_load_a_core, v.proof_other_processes, v.proof_load_after, v.proof_governor, v.no_device,
       v.same_load_a_core,
       printf('load a core at most %.2f apart, the same governor where one is stated, as many other processes on the device',
              v.same_load_a_core) AS tolerance
FROM (
    SELECT 0.10 AS proof_load_a_core, 0 AS proof_other_processes, 1.0 AS proof_load_after, 'performance' AS proof_governor,
           'no device that can be asked' AS no_device, 0.10 AS same_load_a_core
) v
