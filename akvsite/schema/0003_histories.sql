CREATE TABLE history (
  name TEXT NOT NULL,
  note TEXT,
  PRIMARY KEY (name)
) STRICT;

CREATE TABLE history_run (
  run_name TEXT NOT NULL,
  history TEXT NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (run_name),
  FOREIGN KEY (history) REFERENCES history (name) ON DELETE CASCADE
) STRICT;

CREATE INDEX history_run_0 ON history_run (history);
