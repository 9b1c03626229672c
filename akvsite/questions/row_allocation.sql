-- What did an allocator report, event by event?
--
-- @run_id         the run
-- @allocation_id  row of `memory_event`
-- @process_id  the process
-- @at_ns          when, ns; NULL where the file gives no time
-- @action         what a snapshot of torch calls it; NULL where the format has no such word
-- @device         number of the device; -1 for the host
-- @stream         stream, as the file numbers it
-- @address        address of the block, hexadecimal
-- @bytes          size, byte; negative for a release
-- @allocated      total allocated after it, byte
-- @reserved       total reserved after it, byte
SELECT run_id, id AS allocation_id, process_id, at_ns, action, device, stream, printf('0x%x', address) AS address, bytes, allocated,
       reserved
FROM memory_event
