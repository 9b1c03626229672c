CREATE TABLE host (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  UNIQUE (name)
) STRICT;

CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  level INTEGER NOT NULL,
  host_id INTEGER,
  engine TEXT,
  timing TEXT NOT NULL,
  warm_up_steps INTEGER,
  started TEXT,
  clock TEXT NOT NULL,
  note TEXT,
  declared INTEGER NOT NULL,
  UNIQUE (name),
  FOREIGN KEY (host_id) REFERENCES host (id)
) STRICT;

CREATE INDEX run_0 ON run (host_id);

CREATE TABLE exclusion (
  run_name TEXT NOT NULL,
  date TEXT NOT NULL,
  because TEXT NOT NULL,
  PRIMARY KEY (run_name)
) STRICT;

CREATE TABLE run_fact (
  run_id INTEGER NOT NULL,
  ingest_id INTEGER NOT NULL,
  part TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run_id, part, key, ingest_id),
  FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE,
  FOREIGN KEY (ingest_id) REFERENCES ingest (id) ON DELETE CASCADE
) STRICT;

CREATE INDEX run_fact_0 ON run_fact (ingest_id);

CREATE TABLE ingest (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  path TEXT NOT NULL,
  format TEXT NOT NULL,
  reader_version INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  truncated INTEGER NOT NULL,
  last_ns INTEGER,
  UNIQUE (run_id, path),
  FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE ingest_count (
  ingest_id INTEGER NOT NULL,
  what TEXT NOT NULL,
  fate TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (ingest_id, what, fate),
  FOREIGN KEY (ingest_id) REFERENCES ingest (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE quarantine (
  id INTEGER PRIMARY KEY,
  ingest_id INTEGER NOT NULL,
  reason TEXT NOT NULL,
  place TEXT NOT NULL,
  raw TEXT NOT NULL,
  FOREIGN KEY (ingest_id) REFERENCES ingest (id) ON DELETE CASCADE
) STRICT;

CREATE INDEX quarantine_0 ON quarantine (ingest_id);

CREATE TABLE process (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  ingest_id INTEGER NOT NULL,
  pid TEXT NOT NULL,
  rank INTEGER,
  name TEXT,
  UNIQUE (run_id, id),
  FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE,
  FOREIGN KEY (ingest_id) REFERENCES ingest (id) ON DELETE CASCADE
) STRICT;

CREATE INDEX process_0 ON process (ingest_id);

CREATE TABLE step (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  start_ns INTEGER,
  end_ns INTEGER,
  number INTEGER,
  kind TEXT NOT NULL,
  batch INTEGER,
  source TEXT NOT NULL,
  warm_up INTEGER NOT NULL,
  nested INTEGER,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX step_0 ON step (run_id, process_id, start_ns);

CREATE TABLE request (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  start_ns INTEGER,
  end_ns INTEGER,
  zero TEXT NOT NULL,
  prompt_tokens INTEGER,
  output_tokens INTEGER,
  ttft_ns INTEGER,
  ok INTEGER,
  error TEXT,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX request_0 ON request (run_id, process_id, start_ns);

CREATE TABLE token (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  request TEXT NOT NULL,
  number INTEGER NOT NULL,
  tokens INTEGER,
  step INTEGER,
  arrived_ns INTEGER,
  scheduled_ns INTEGER,
  launched_ns INTEGER,
  device_first_ns INTEGER,
  device_last_ns INTEGER,
  sampled_ns INTEGER,
  copied_ns INTEGER,
  detokenised_ns INTEGER,
  sent_ns INTEGER,
  client_ns INTEGER,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX token_0 ON token (run_id, process_id, request, number);

CREATE TABLE level1_runner (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  start_ns INTEGER,
  end_ns INTEGER,
  thread TEXT,
  step_id INTEGER,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX level1_runner_0 ON level1_runner (run_id, process_id, start_ns);

CREATE TABLE level2_host (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  start_ns INTEGER,
  end_ns INTEGER,
  thread TEXT,
  category TEXT NOT NULL,
  layer INTEGER,
  external_id INTEGER,
  step_id INTEGER,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX level2_host_0 ON level2_host (run_id, process_id, start_ns);

CREATE INDEX level2_host_1 ON level2_host (run_id, step_id);

CREATE TABLE level3_device (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  start_ns INTEGER,
  end_ns INTEGER,
  kind TEXT NOT NULL,
  device TEXT NOT NULL,
  queue TEXT NOT NULL,
  correlation INTEGER,
  external_id INTEGER,
  bytes INTEGER,
  direction TEXT,
  graph INTEGER,
  graph_node INTEGER,
  grid TEXT,
  block TEXT,
  registers INTEGER,
  shared_bytes INTEGER,
  appended_ns INTEGER,
  submitted_ns INTEGER,
  call_index INTEGER,
  clock TEXT,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX level3_device_0 ON level3_device (run_id, process_id, start_ns);

CREATE TABLE level4_edge (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  start_ns INTEGER,
  end_ns INTEGER,
  thread TEXT,
  source TEXT NOT NULL,
  kind TEXT NOT NULL,
  correlation INTEGER,
  external_id INTEGER,
  queue TEXT,
  event INTEGER,
  bytes INTEGER,
  result INTEGER,
  object INTEGER,
  object_name TEXT,
  blocking INTEGER,
  nested INTEGER,
  event_asked INTEGER,
  open INTEGER,
  call_index INTEGER,
  step_id INTEGER,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX level4_edge_0 ON level4_edge (run_id, process_id, start_ns);

CREATE TABLE edge_wait (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  call_id INTEGER NOT NULL,
  event INTEGER NOT NULL,
  maker_id INTEGER,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX edge_wait_0 ON edge_wait (run_id, process_id);

CREATE INDEX edge_wait_1 ON edge_wait (call_id);

CREATE INDEX edge_wait_2 ON edge_wait (maker_id);

CREATE TABLE clock_sample (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  device TEXT NOT NULL,
  host_before_ns INTEGER,
  host_after_ns INTEGER,
  device_ns INTEGER,
  host_reported_ns INTEGER,
  resolution_ns INTEGER,
  source TEXT NOT NULL,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX clock_sample_0 ON clock_sample (run_id, process_id, device);

CREATE TABLE memory_event (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  at_ns INTEGER,
  device_type INTEGER,
  device INTEGER,
  address INTEGER,
  bytes INTEGER,
  allocated INTEGER,
  reserved INTEGER,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX memory_event_0 ON memory_event (run_id, process_id, at_ns);

CREATE TABLE memory_sample (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  at_ns INTEGER NOT NULL,
  resident_bytes INTEGER NOT NULL,
  anonymous_bytes INTEGER,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX memory_sample_0 ON memory_sample (run_id, process_id, at_ns);

CREATE TABLE link (
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  call_id INTEGER NOT NULL,
  interval_id INTEGER NOT NULL,
  made_by TEXT NOT NULL,
  PRIMARY KEY (call_id, interval_id),
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX link_0 ON link (interval_id);

CREATE INDEX link_1 ON link (run_id, process_id);

CREATE TABLE same_call (
  run_id INTEGER NOT NULL,
  shim_id INTEGER NOT NULL,
  vendor_id INTEGER NOT NULL,
  made_by TEXT NOT NULL,
  PRIMARY KEY (shim_id),
  UNIQUE (vendor_id),
  FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE
) STRICT;

CREATE INDEX same_call_0 ON same_call (run_id);

CREATE TABLE seen (
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  direction TEXT NOT NULL,
  kind TEXT NOT NULL,
  seen INTEGER NOT NULL,
  expected INTEGER NOT NULL,
  PRIMARY KEY (run_id, process_id, direction, kind),
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  arm TEXT NOT NULL,
  treatment TEXT NOT NULL,
  repeat INTEGER NOT NULL,
  number INTEGER NOT NULL,
  duration_ns INTEGER NOT NULL,
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX trial_0 ON trial (run_id, process_id, repeat);

CREATE TABLE comparison (
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  design TEXT NOT NULL,
  note TEXT,
  PRIMARY KEY (name)
) STRICT;

CREATE TABLE comparison_run (
  comparison TEXT NOT NULL,
  side TEXT NOT NULL,
  label TEXT NOT NULL,
  place INTEGER NOT NULL,
  run_name TEXT NOT NULL,
  PRIMARY KEY (comparison, side, place),
  FOREIGN KEY (comparison) REFERENCES comparison (name) ON DELETE CASCADE
) STRICT;

CREATE TABLE claim (
  claim TEXT NOT NULL,
  date TEXT NOT NULL,
  state TEXT NOT NULL,
  scope TEXT NOT NULL,
  statement TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (claim)
) STRICT;

CREATE TABLE claim_run (
  claim TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (claim, kind, name)
) STRICT;

CREATE TABLE retraction (
  retraction TEXT NOT NULL,
  date TEXT NOT NULL,
  claim TEXT NOT NULL,
  control TEXT,
  reason TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (retraction)
) STRICT;

