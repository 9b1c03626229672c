ALTER TABLE token ADD COLUMN device_bound_ns INTEGER;

CREATE TABLE clock_bound (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  device TEXT NOT NULL,
  made_by TEXT NOT NULL,
  state TEXT NOT NULL,
  because TEXT,
  readings INTEGER NOT NULL,
  starts INTEGER NOT NULL,
  ends INTEGER NOT NULL,
  tick_ns INTEGER,
  tick_by TEXT,
  slope_ppm REAL NOT NULL,
  wander_ppm REAL NOT NULL,
  least_wander_ppm REAL,
  half_median_ns INTEGER,
  half_widest_ns INTEGER,
  causal_half_median_ns INTEGER,
  causal_half_widest_ns INTEGER,
  blind_low_ns INTEGER,
  blind_high_ns INTEGER,
  outside INTEGER,
  outside_most_ns INTEGER,
  early INTEGER,
  early_most_ns INTEGER,
  at_submission INTEGER NOT NULL,
  submissions INTEGER NOT NULL,
  UNIQUE (run_id, process_id, device, made_by),
  FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE clock_knot (
  bound_id INTEGER NOT NULL,
  device_ns INTEGER NOT NULL,
  low_ns INTEGER NOT NULL,
  high_ns INTEGER NOT NULL,
  PRIMARY KEY (bound_id, device_ns),
  FOREIGN KEY (bound_id) REFERENCES clock_bound (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE device_on_host (
  interval_id INTEGER NOT NULL,
  start_ns INTEGER,
  start_bound_ns INTEGER,
  end_ns INTEGER,
  end_bound_ns INTEGER,
  PRIMARY KEY (interval_id),
  FOREIGN KEY (interval_id) REFERENCES level3_device (id) ON DELETE CASCADE
) STRICT;
