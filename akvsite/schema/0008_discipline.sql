ALTER TABLE claim ADD COLUMN predicts TEXT;
ALTER TABLE claim ADD COLUMN about TEXT;
ALTER TABLE retraction ADD COLUMN sha256 TEXT;

CREATE TABLE claim_event (
  claim TEXT NOT NULL,
  place INTEGER NOT NULL,
  date TEXT NOT NULL,
  event TEXT NOT NULL,
  kind TEXT,
  name TEXT,
  because TEXT,
  sha256 TEXT,
  seal TEXT NOT NULL,
  PRIMARY KEY (claim, place)
) STRICT;

CREATE TABLE inquiry (
  inquiry TEXT NOT NULL,
  date TEXT NOT NULL,
  title TEXT NOT NULL,
  symptom TEXT NOT NULL,
  change TEXT,
  validation TEXT,
  body TEXT NOT NULL,
  PRIMARY KEY (inquiry)
) STRICT;

CREATE TABLE inquiry_rung (
  inquiry TEXT NOT NULL,
  place INTEGER NOT NULL,
  scope TEXT NOT NULL,
  question TEXT NOT NULL,
  found TEXT,
  PRIMARY KEY (inquiry, place),
  FOREIGN KEY (inquiry) REFERENCES inquiry (inquiry) ON DELETE CASCADE
) STRICT;

CREATE TABLE inquiry_use (
  inquiry TEXT NOT NULL,
  place INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (inquiry, place, kind, name),
  FOREIGN KEY (inquiry) REFERENCES inquiry (inquiry) ON DELETE CASCADE
) STRICT;
