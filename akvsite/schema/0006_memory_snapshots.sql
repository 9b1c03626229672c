ALTER TABLE memory_event ADD COLUMN action TEXT;
ALTER TABLE memory_event ADD COLUMN stream TEXT;

CREATE TABLE memory_segment (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  device INTEGER,
  address INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  allocated_bytes INTEGER,
  active_bytes INTEGER,
  requested_bytes INTEGER,
  stream TEXT,
  kind TEXT,
  pool TEXT,
  expandable INTEGER,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX memory_segment_0 ON memory_segment (run_id, process_id);

CREATE TABLE memory_block (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  device INTEGER,
  segment INTEGER NOT NULL,
  address INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  requested_bytes INTEGER,
  state TEXT NOT NULL,
  since_ns INTEGER,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX memory_block_0 ON memory_block (run_id, process_id);
