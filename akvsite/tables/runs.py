"""What a run is: its host, its facts, its files, what became of their records, its processes."""

from __future__ import annotations

from typing import Annotated

from akvsite.columns import Col, Row, describes
from akvsite.tables._shared import OF_RUN, RunId


@describes
class Host(Row):
    """A machine, under the name the capture gives it (never its network name)."""

    __unique__ = ("name",)
    id: Annotated[int, Col("row id")]
    name: Annotated[str, Col("public name of the host")]
    role: Annotated[str, Col("`dev` (busy on purpose), `proof` (quiet, capture off) or `unknown`")]


@describes
class Run(Row):
    """One capture of one workload on one host."""

    __unique__ = ("name",)
    __foreign__ = ("FOREIGN KEY (host_id) REFERENCES host (id)",)
    __indexes__ = ("host_id",)
    id: Annotated[int, Col("row id")]
    name: Annotated[str, Col("name of the run, unique in the store")]
    level: Annotated[int, Col("capture level: 0 off, 1 runner, 2 host, 3 device, 4 edge")]
    host_id: Annotated[int | None, Col("the host it ran on; NULL where the capture does not say")]
    engine: Annotated[str | None, Col("the engine that ran, in the words of the capture")]
    timing: Annotated[str, Col("timing events on the device queues: `on`, `off`, `asis` or `unknown`")]
    warm_up_steps: Annotated[
        int | None, Col("steps to cut, declared in the capture; NULL where none are declared")
    ]
    started: Annotated[str | None, Col("date and time of the capture, ISO 8601, where it is known")]
    clock: Annotated[
        str,
        Col(
            "how device times reached the host's axis: `host only`, `bounded` (see `clock_bound`), `vendor, unproven`,"
            " `inconsistent` and `device clock, not converted` (they did not: no host time may be compared with them),"
            " `unknown`"
        ),
    ]
    note: Annotated[str | None, Col("what the maker of the capture says about it")]
    declared: Annotated[
        int, Col("1 where a capture.toml declares the run, 0 where the facts come from the file alone")
    ]


@describes
class Exclusion(Row):
    """A run that is left out of pages and comparisons, with the date and the reason. Nothing is deleted."""

    __key__ = "run_name"
    run_name: Annotated[str, Col("name of the run; stays when the run is ingested again")]
    date: Annotated[str, Col("date of the note, ISO 8601")]
    because: Annotated[str, Col("the reason")]


@describes
class RunFact(Row):
    """One fact about a run: of its host, its contract, its software, its load, its device or its capture."""

    __key__ = "run_id, part, key, ingest_id"
    __foreign__ = (OF_RUN, "FOREIGN KEY (ingest_id) REFERENCES ingest (id) ON DELETE CASCADE")
    __indexes__ = ("ingest_id",)
    run_id: RunId
    ingest_id: Annotated[int, Col("the file that states it")]
    part: Annotated[str, Col("`host`, `contract`, `software`, `load`, `device` or `capture`")]
    key: Annotated[str, Col("name of the fact; parts of a nested name are joined by dots")]
    value: Annotated[str, Col("the fact, as text")]


@describes
class Ingest(Row):
    """One file that was read into the store, by content and reader version."""

    __foreign__ = (OF_RUN,)
    __unique__ = ("run_id, path",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    path: Annotated[str, Col("name of the file inside its capture (no folders of the machine)")]
    format: Annotated[str, Col("name of the reader")]
    reader_version: Annotated[int, Col("version of the reader; a later version reads the file again")]
    sha256: Annotated[str, Col("hash of the file's bytes")]
    bytes: Annotated[int, Col("size of the file", "byte")]
    truncated: Annotated[int, Col("1 where the file was cut short: what came before the cut is stored")]
    last_ns: Annotated[int | None, Col("the last time seen in the file", "ns")]


@describes
class IngestCount(Row):
    """What became of every record of a file: the table it went to, or why it is not a row."""

    __key__ = "ingest_id, what, fate"
    __foreign__ = ("FOREIGN KEY (ingest_id) REFERENCES ingest (id) ON DELETE CASCADE",)
    ingest_id: Annotated[int, Col("the file")]
    what: Annotated[str, Col("kind of record, in the words of its format")]
    fate: Annotated[str, Col("the table, `quarantine`, or the reason why it is only counted")]
    count: Annotated[int, Col("records", "record")]


@describes
class Quarantine(Row):
    """What a reader could not use, kept with the reason."""

    __foreign__ = ("FOREIGN KEY (ingest_id) REFERENCES ingest (id) ON DELETE CASCADE",)
    __indexes__ = ("ingest_id",)
    id: Annotated[int, Col("row id")]
    ingest_id: Annotated[int, Col("the file")]
    reason: Annotated[str, Col("why it was not used")]
    place: Annotated[str, Col("where it stood in the file")]
    raw: Annotated[
        str,
        Col(
            "the record as it was, bytes that are not UTF-8 escaped as \\xNN; `[redacted]` where it opened something or"
            " named a host or a person, which the capture itself keeps"
        ),
    ]


@describes
class Process(Row):
    """A process of a capture. Pids are text: strings, null and -1 occur, and they repeat across ranks."""

    __foreign__ = (OF_RUN, "FOREIGN KEY (ingest_id) REFERENCES ingest (id) ON DELETE CASCADE")
    __unique__ = ("run_id, id",)
    __indexes__ = ("ingest_id",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    ingest_id: Annotated[int, Col("the file it was seen in")]
    pid: Annotated[str, Col("process id as the file has it")]
    rank: Annotated[int | None, Col("rank of a distributed job, where the file or the capture says so")]
    name: Annotated[str | None, Col("name of the process")]
