CREATE TABLE request_event (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  request TEXT NOT NULL,
  event TEXT NOT NULL,
  at_ns INTEGER NOT NULL,
  step INTEGER,
  tokens INTEGER,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX request_event_0 ON request_event (run_id, process_id, request);
