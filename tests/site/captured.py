"""What captures name, as the store has it: the texts in which a word of a verdict is a name and no word of ours."""

from __future__ import annotations

from pathlib import Path

from words import Names

from akvsite.errors import visible
from akvsite.store import Store

#: Columns that hold the captures' own words, and those that name files, runs and sides.
COLUMNS = (
    ("run", "name"), ("run", "engine"), ("host", "name"), ("process", "name"), ("process", "pid"), ("ingest", "path"),
    ("run_fact", "key"), ("run_fact", "value"), ("quarantine", "raw"), ("quarantine", "place"),
    ("step", "name"), ("request", "name"), ("request", "error"), ("token", "request"), ("request_event", "request"),
    ("level1_runner", "name"), ("level2_host", "name"), ("level2_host", "category"), ("level3_device", "name"),
    ("level3_device", "device"), ("level3_device", "queue"), ("level4_edge", "name"), ("level4_edge", "queue"),
    ("ingest_count", "what"), ("trial", "arm"), ("trial", "treatment"), ("comparison_run", "label"), ("comparison", "name"),
)  # fmt: skip


#: Columns that hold what people wrote. On pages it is marked as quoted, and so not exempt here; a terminal marks nothing.
WRITTEN = (
    ("run", "note"), ("exclusion", "because"), ("comparison", "title"), ("comparison", "note"), ("claim", "statement"), ("claim", "predicts"),
    ("claim", "body"), ("claim_event", "because"), ("retraction", "reason"), ("retraction", "body"), ("inquiry", "title"),
    ("inquiry", "symptom"), ("inquiry", "body"), ("inquiry_rung", "question"), ("inquiry_rung", "found"),
)  # fmt: skip


def names(store: Path, *, written: bool = False) -> Names:
    """With ``written``, what people wrote too: for the output of commands."""
    with Store.read(store) as opened:
        return Names.of(
            " ".join(visible(row["said"]).split())
            for table, column in COLUMNS + (WRITTEN if written else ())
            for row in opened.rows(
                f"SELECT DISTINCT {column} AS said FROM {table} WHERE {column} IS NOT NULL"
            )
        )
