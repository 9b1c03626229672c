-- Which files was each run read from?
--
-- @run_id       the run
-- @path         name of the file inside its capture
-- @format       the reader
-- @bytes        size, byte
-- @sha256       hash of its bytes
-- @truncated    1 where the file was cut short
-- @last_ns      last time in it, ns
SELECT run_id, path, format, bytes, sha256, truncated, last_ns FROM ingest
