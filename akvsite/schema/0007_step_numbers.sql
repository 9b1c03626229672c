CREATE INDEX step_1 ON step (run_id, process_id, number);
