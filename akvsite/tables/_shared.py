"""Columns and references that many tables have."""

from __future__ import annotations

from typing import Annotated

from akvsite.columns import Col

OF_RUN = "FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE"
# One index serves the cascade, the insert check and every question about one run.
OF_PROCESS = "FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE"
BY_PROCESS_AND_TIME = "run_id, process_id, start_ns"


RunId = Annotated[int, Col("the run this row belongs to")]
ProcessId = Annotated[int, Col("the process that made the row, see `process`")]
Start = Annotated[int | None, Col("when it began, on the capture's own axis", "ns")]
End = Annotated[int | None, Col("when it ended; NULL where the capture has no end for it", "ns")]
Thread = Annotated[str | None, Col("thread id, as text: ids are strings or null in real files")]
StepId = Annotated[
    int | None, Col("the step in which it began on the host, by time; NULL outside every step")
]
