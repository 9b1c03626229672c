"""From capture files to rows: which files make a run, and one transaction for each run.

A capture is whole in the store or not there at all. It is known by the hash of its files and the versions of the
readers that read them: the same capture is not read twice, and a better reader reads it again.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from akvsite import link, manifest, questions, readers
from akvsite.errors import BadInput
from akvsite.manifest import Manifest
from akvsite.readers import bundle
from akvsite.reading import Counted, Ending, Fact, Part, Process, Reader, Rejected, Rows
from akvsite.store import RowWriter, Store
from akvsite.tables import CAPTURED, LEVELS

#: Raised when ingest itself (links, steps, coverage) would give other rows from the same parts.
VERSION = 1

Progress = Callable[[str], None]
Ints = npt.NDArray[np.int64]

#: Fates that are a place in a table; any other is a reason.
STORED = frozenset(CAPTURED)

#: Tables that a run at level off may have: wall clocks of steps, requests, tokens and experiments.
OFF = frozenset({"step", "request", "token", "trial"})


@dataclass(frozen=True)
class Source:
    """One file of a capture and how it is read."""

    path: Path
    #: The name that the store keeps: relative to the capture, so that no folder of this machine gets in.
    name: str
    format: str
    version: int
    read: Callable[[], Iterator[Part]]
    rank: int | None = None
    #: Level files of one bundle and rank are about the same processes, and their ids are the same ids.
    level_file: bool = False


@dataclass(frozen=True)
class Capture:
    """The files that make one run."""

    name: str
    level: int
    sources: tuple[Source, ...]
    manifest: Manifest | None = None


@dataclass
class Outcome:
    """What an ingest did with one capture."""

    run: str
    action: str
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    truncated: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def quarantined(self) -> int:
        return sum(n for (_, fate), n in self.counts.items() if fate.startswith("quarantine"))


def plan(paths: Sequence[Path], run: str | None = None) -> list[Capture]:
    """Which captures the paths hold. With ``run``, all files are one run, a file a rank.

    A folder with a ``capture.toml`` is one run; a folder that holds such folders is all of them; in another folder
    each file is a run of its own, unless ``run`` makes them one. Raises ``BadInput``.
    """
    if run is not None and not manifest.RUN_NAME.fullmatch(run):
        raise BadInput("--run", f"{run!r}: lower-case letters, digits, '.', '_' and '-', 100 at most")
    captures: list[Capture] = []
    loose: list[Path] = []
    for path in paths:
        if not path.exists():
            raise BadInput(path, "does not exist")
        if path.is_dir():
            bundles = sorted(p.parent for p in path.rglob(manifest.FILE_NAME) if p.is_file())
            if bundles:
                captures += [_bundle(folder) for folder in bundles]
            else:
                files = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
                if not files:
                    raise BadInput(path, "holds no capture")
                loose += files
        elif path.name == manifest.FILE_NAME:
            captures.append(_bundle(path.parent))
        else:
            loose.append(path)
    if run is not None:
        if captures:
            raise BadInput(
                captures[0].sources[0].path.parent,
                "has a capture.toml, which names the run; --run is for files",
            )
        captures = [_of_files(run, loose)]
    else:
        captures += [_of_files(name_from_file(path), [path]) for path in loose]
    for name, times in Counter(c.name for c in captures).items():
        if times > 1:
            first, second = [c for c in captures if c.name == name][:2]
            raise BadInput(
                second.sources[0].path,
                f"and {first.sources[0].path} would both be run {name!r}; give one --run NAME",
            )
    return captures


def name_from_file(path: Path) -> str:
    """A run name from a file name: without its endings, in the letters a run name may have.

    >>> name_from_file(Path("Qwen 0.5B.pt.trace.json.gz"))
    'qwen-0.5b'
    """
    stem = path.name.lower()
    for ending in (".gz", ".json", ".jsonl", ".trace", ".pt"):
        stem = stem.removesuffix(ending)
    return re.sub(r"[^a-z0-9._-]+", "-", stem).strip("-._")[:100] or "run"


def ingest(
    store: Store, captures: Iterable[Capture], *, replace: bool = False, progress: Progress | None = None
) -> Iterator[Outcome]:
    """Read each capture into the store, one transaction each, and say what was done.

    Raises ``BadInput``; the captures before it are whole in the store, the one that raised is not there at all.
    """
    captures = list(captures)
    together = _one_role_a_host(captures)
    for capture in captures:
        yield _ingest_one(store, capture, together, replace, progress or (lambda _: None))


def _one_role_a_host(captures: Sequence[Capture]) -> frozenset[str]:
    """The names of the captures, whose hosts have one role each."""
    roles: dict[str, str] = {}
    for declared in (c.manifest for c in captures):
        if declared is None or declared.host is None:
            continue
        if roles.setdefault(declared.host, declared.role) != declared.role:
            raise BadInput(
                declared.folder / manifest.FILE_NAME,
                f"host {declared.host!r} is {declared.role!r} here and {roles[declared.host]!r} in another capture; "
                "a host has one role: give the other role another host name",
                place="host.role",
            )
    return frozenset(c.name for c in captures)


def install_views(store: Store) -> None:
    """Make the store's views equal to the questions."""
    with store.transaction():
        for statement in questions.statements(store.connection):
            store.connection.execute(statement)


def take_statistics(store: Store) -> None:
    """Let the planner know the tables, once their rows are there."""
    # Without statistics the planner takes any index that begins with the run for as good as one by id.
    store.connection.execute("PRAGMA analysis_limit = 1000")
    store.connection.execute("PRAGMA optimize = 0x10002")


def _of_files(name: str, files: Sequence[Path]) -> Capture:
    sources = []
    level = 0
    for path in files:
        reader = readers.find(path)
        sources.append(_sniffed(reader, path, path.name, None))
        level = max(level, LEVELS.index(reader.LEVEL))
    names = Counter(s.name for s in sources)
    if len(names) != len(sources):
        raise BadInput(
            files[0], f"two files of run {name!r} have the same name, {names.most_common(1)[0][0]!r}"
        )
    return Capture(name, level, tuple(sources))


def _sniffed(reader: Reader, path: Path, name: str, rank: int | None) -> Source:
    return Source(path, name, reader.NAME, reader.VERSION, lambda: reader.read(path), rank)


def _bundle(folder: Path) -> Capture:
    declared = manifest.load(folder)

    def facts() -> Iterator[Part]:
        yield from declared.facts

    sources = [
        Source(folder / manifest.FILE_NAME, manifest.FILE_NAME, "capture.toml", manifest.FORMAT, facts)
    ]
    for file in declared.files:
        name = file.path.relative_to(folder.resolve()).as_posix()
        if file.table is not None:
            sources.append(_level_file(file, name, declared))
            continue
        reader = readers.find(file.path)
        if declared.level == "off" and reader.LEVEL != "off":
            raise _instrumented(folder, f"{name} was made by a tool that looks on at level {reader.LEVEL}")
        sources.append(_sniffed(reader, file.path, name, file.rank))
    return Capture(declared.name, LEVELS.index(declared.level), tuple(sources), declared)


def _instrumented(folder: Path, why: str) -> BadInput:
    # Speed is stated from level off alone, so an instrumented run may not pass for one.
    return BadInput(folder / manifest.FILE_NAME, f"is 'off', and {why}", place="level")


def _level_file(file: manifest.LevelFile, name: str, declared: Manifest) -> Source:
    def read() -> Iterator[Part]:
        assert file.table is not None
        yield from declared.processes
        yield from bundle.read_level_file(file.path, file.table)

    assert file.table is not None
    if declared.level == "off" and file.table not in OFF:
        raise _instrumented(declared.folder, f"{name} holds rows of {file.table}")
    return Source(
        file.path, name, bundle.READER.NAME, bundle.READER.VERSION, read, file.rank, level_file=True
    )


def _ingest_one(
    store: Store, capture: Capture, together: frozenset[str], replace: bool, progress: Progress
) -> Outcome:
    hashes = {source.name: _sha256(source.path) for source in capture.sources}
    wanted = {(s.name, hashes[s.name], s.format, s.version + 1000 * VERSION) for s in capture.sources}
    outcome = Outcome(capture.name, "stored")
    with store.transaction():
        run_id = store.one("SELECT id FROM run WHERE name = ?", [capture.name])
        if run_id is not None:
            known = {
                (r["path"], r["sha256"], r["format"], r["reader_version"])
                for r in store.rows(
                    "SELECT path, sha256, format, reader_version FROM ingest WHERE run_id = ?", [run_id]
                )
            }
            if wanted <= known and (capture.manifest is None or wanted == known):
                outcome.action = "unchanged"
                return outcome
            _refuse_loss(store, capture, run_id, hashes, replace)
            outcome.action = "read again"
            if capture.manifest is not None:
                store.connection.execute("DELETE FROM run WHERE id = ?", [run_id])
                run_id = None
            else:
                for source in capture.sources:
                    store.connection.execute(
                        "DELETE FROM ingest WHERE run_id = ? AND path = ?", [run_id, source.name]
                    )
        if run_id is None:
            run_id = _insert_run(store, capture, together)
        else:
            store.connection.execute(
                "UPDATE run SET level = max(level, ?) WHERE id = ?", [capture.level, run_id]
            )
        writer = RowWriter(store, run_id)
        steps = _Steps(store, run_id, again=outcome.action == "read again")
        shared: dict[int | None, _Members] = {}
        for source in capture.sources:
            progress(f"{capture.name}: {source.name}")
            members = (
                shared.setdefault(source.rank, _Members(keyed=True)) if source.level_file else _Members()
            )
            file = _File(store, writer, steps, run_id, source, outcome, members)
            file.ingest(hashes[source.name])
            if not source.level_file:
                _write_links(store, run_id, members, outcome)
        for members in shared.values():
            _write_links(store, run_id, members, outcome)
        _finish(store, run_id, capture.manifest, steps)
    return outcome


def _refuse_loss(store: Store, capture: Capture, run_id: int, hashes: dict[str, str], replace: bool) -> None:
    """Nothing that the store has goes away unless ``--replace`` says so; the same bytes may be read again."""
    if store.one("SELECT declared FROM run WHERE id = ?", [run_id]) and capture.manifest is None:
        raise BadInput(
            capture.sources[0].path,
            f"run {capture.name!r} is declared by a capture.toml, which names its files; give --run NAME for another run",
        )
    stored = store.rows("SELECT path, sha256 FROM ingest WHERE run_id = ?", [run_id])
    for row in stored:
        path, digest = row["path"], row["sha256"]
        if replace or path == manifest.FILE_NAME or hashes.get(path) == digest:
            continue
        if path in hashes:
            raise BadInput(
                next(s.path for s in capture.sources if s.name == path),
                f"run {capture.name!r} is in the store with other content; "
                "give --run NAME for another run, or --replace",
            )
        if capture.manifest is not None and digest not in hashes.values():
            raise BadInput(
                capture.manifest.folder,
                f"run {capture.name!r} is in the store with a file {path!r} that is not here; --replace leaves it out",
            )


def _host(store: Store, declared: Manifest, together: frozenset[str]) -> int:
    """The row of the run's host. Its role may change only where every run that was made on it says so."""
    found = store.rows("SELECT id, role FROM host WHERE name = ?", [declared.host])
    if not found:
        return store.insert("host", {"name": declared.host, "role": declared.role})
    host_id: int = found[0]["id"]
    if found[0]["role"] != declared.role:
        others = {
            r["name"] for r in store.rows("SELECT name FROM run WHERE host_id = ?", [host_id])
        } - together
        if others:
            raise BadInput(
                declared.folder / manifest.FILE_NAME,
                f"host {declared.host!r} is {declared.role!r} here and {found[0]['role']!r} in run {min(others)!r}; "
                "a host has one role: give the other role another host name",
                place="host.role",
            )
        store.connection.execute("UPDATE host SET role = ? WHERE id = ?", [declared.role, host_id])
    return host_id


def _insert_run(store: Store, capture: Capture, together: frozenset[str]) -> int:
    declared = capture.manifest
    host_id = None if declared is None or declared.host is None else _host(store, declared, together)
    return store.insert(
        "run",
        {
            "name": capture.name,
            "level": capture.level,
            "host_id": host_id,
            "engine": declared.engine if declared else None,
            "timing": declared.timing if declared else "unknown",
            "warm_up_steps": declared.warm_up_steps if declared else None,
            "started": declared.started if declared else None,
            "clock": declared.clock
            if declared
            else "vendor, unproven"
            if capture.level >= LEVELS.index("device")
            else "unknown",
            "note": declared.note if declared else None,
            "declared": int(declared is not None),
        },
    )


class _Members:
    """The processes of one file, or of the level files of one rank, and the ids that their rows carry."""

    def __init__(self, *, keyed: bool = False) -> None:
        self.process_ids: Ints = np.zeros(0, dtype=np.int64)
        self.gathered = link.Gathered(keyed)
        #: The file whose intervals were gathered last: what is left unlinked is counted there.
        self.intervals_of = 0


class _Steps:
    """The step of each host row, found as the rows are written: to change them afterwards takes as long again.

    ``late`` says that steps came after rows that may belong to them, so that all have to be looked at in the end.
    """

    def __init__(self, store: Store, run_id: int, *, again: bool) -> None:
        self.late = again
        self._store = store
        self._run_id = run_id
        self._steps: link.Steps | None = None
        self._asked = False

    def of(self, table: str, rows: pa.Table, processes: Ints) -> Ints | None:
        """The step of each of ``rows`` (n,), 0 for none; None for tables that know no steps."""
        if table == "step":
            self._steps = None
            self.late |= self._asked
        if table not in link.STEP_TABLES or "start_ns" not in rows.column_names:
            return None
        starts = rows.column("start_ns")
        self._asked = True
        if not pa.types.is_integer(starts.type):
            self.late = True
            return None
        if self._steps is None:
            self._steps = self._read()
        return self._steps.at(processes, _int64(starts), _known(starts))

    def _read(self) -> link.Steps:
        self._store.connection.execute(link.NESTED_STATEMENT, {"run": self._run_id})
        found = self._store.rows(link.STEPS_QUERY, [self._run_id])
        never = np.iinfo(np.int64).min
        ids, processes, starts, ends = (
            np.array([never if row[name] is None else row[name] for row in found], dtype=np.int64)
            for name in ("id", "process_id", "start_ns", "end_ns")
        )
        return link.Steps(ids, processes, starts, ends)


class _File:
    """One file on its way into the store."""

    def __init__(
        self,
        store: Store,
        writer: RowWriter,
        steps: _Steps,
        run_id: int,
        source: Source,
        outcome: Outcome,
        members: _Members,
    ) -> None:
        self.store = store
        self.writer = writer
        self.steps = steps
        self.run_id = run_id
        self.source = source
        self.outcome = outcome
        self.members = members
        self.ingest_id = 0
        self.counts: Counter[tuple[str, str]] = Counter()
        self.refused: Counter[tuple[str, str]] = Counter()

    def ingest(self, digest: str) -> None:
        source = self.source
        self.ingest_id = self.store.insert(
            "ingest",
            {
                "run_id": self.run_id,
                "path": source.name,
                "format": source.format,
                "reader_version": source.version + 1000 * VERSION,
                "sha256": digest,
                "bytes": source.path.stat().st_size,
                "truncated": 0,
                "last_ns": None,
            },
        )
        for part in source.read():
            self.take(part)
        self.settle()
        self.store.connection.executemany(
            "INSERT INTO ingest_count (ingest_id, what, fate, count) VALUES (?, ?, ?, ?)",
            [(self.ingest_id, what, fate, count) for (what, fate), count in sorted(self.counts.items())],
        )
        self.outcome.counts.update(self.counts)

    def take(self, part: Part) -> None:
        match part:
            case Rows():
                self.write(part)
            case Process():
                self.name_process(part)
            case Counted():
                self.counts[part.what, part.fate] += part.count
            case Rejected():
                self.reject(part)
            case Fact():
                self.store.connection.execute(
                    "INSERT OR REPLACE INTO run_fact (run_id, ingest_id, part, key, value) VALUES (?, ?, ?, ?, ?)",
                    [self.run_id, self.ingest_id, part.part, part.key, part.value],
                )
            case Ending():
                self.end(part)

    def reject(self, part: Rejected) -> None:
        self.store.insert(
            "quarantine",
            {"ingest_id": self.ingest_id, "reason": part.reason, "place": part.place, "raw": part.raw},
        )

    def end(self, part: Ending) -> None:
        self.store.connection.execute(
            "UPDATE ingest SET truncated = ?, last_ns = ? WHERE id = ?",
            [int(part.truncated), part.last_ns, self.ingest_id],
        )
        if part.truncated:
            self.outcome.truncated.append(self.source.name)
        for how, count in part.repaired.items():
            self.counts["repaired value", how] += count
            self.outcome.notes.append(f"{count:,} {'value' if count == 1 else 'values'} repaired: {how}")

    def name_process(self, process: Process) -> None:
        row_id = self.process_id(process.index)
        rank = self.source.rank if self.source.rank is not None else process.rank
        self.store.connection.execute(
            "UPDATE process SET pid = ?, rank = ?, name = ? WHERE id = ?",
            [process.pid, rank, process.name, row_id],
        )

    def process_id(self, index: int) -> int:
        # Rows may come before the record that names their process: it gets its row with the first of either.
        known = self.members.process_ids
        if index >= len(known):
            known = np.zeros(index + 1, dtype=np.int64)
            known[: len(self.members.process_ids)] = self.members.process_ids
            self.members.process_ids = known
        if not known[index]:
            known[index] = self.store.insert(
                "process",
                {
                    "run_id": self.run_id,
                    "ingest_id": self.ingest_id,
                    "pid": "unknown",
                    "rank": self.source.rank,
                    "name": None,
                },
            )
        return int(known[index])

    def write(self, part: Rows) -> None:
        try:
            rows = self.admit(part)
            processes = self.processes_of(rows)
            ids = self.writer.write(part.table, rows, processes, self.steps.of(part.table, rows, processes))
        except (ValueError, pa.ArrowException) as error:
            raise BadInput(
                self.source.path, f"{next(iter(str(error).splitlines()), 'cannot be read')}"
            ) from error
        if not len(ids) or "correlation" not in rows.column_names:
            return
        gathered = self.members.gathered
        known = _known(rows.column("correlation"))
        keys = _int64(rows.column("correlation"))[known]
        if part.table == "level4_edge":
            gathered.call_ids.append(ids[known])
            gathered.call_processes.append(processes[known])
            gathered.call_correlations.append(keys)
        elif part.table == "level3_device":
            gathered.keyed &= "process" in rows.column_names
            self.members.intervals_of = self.ingest_id
            gathered.interval_ids.append(ids[known])
            gathered.interval_processes.append(processes[known])
            gathered.interval_correlations.append(keys)

    def settle(self) -> None:
        """Each record has one fate: what went to the quarantine here is no longer counted as a row."""
        for (table, fate), count in self.refused.items():
            left = count
            for (what, stored), had in list(self.counts.items()):
                if stored == table and left:
                    moved = min(had, left)
                    left -= moved
                    self.counts[what, stored] -= moved
                    self.counts[what, fate] += moved
            if left:
                self.counts[f"row of {table}", fate] += left
        self.counts += Counter()

    def admit(self, part: Rows) -> pa.Table:
        """The rows whose times can be: the others go to the quarantine with the reason."""
        rows = part.rows
        for name in rows.column_names:
            kind = rows.schema.field(name).type
            if name.endswith("_ns") and pa.types.is_uint64(kind):
                rows = self.keep(
                    rows,
                    pc.less(rows.column(name), pa.scalar(2**63, pa.uint64())),
                    part.table,
                    f"{name} beyond 2^63 - 1",
                )
        if "start_ns" in rows.column_names and "end_ns" in rows.column_names:
            start, end = rows.column("start_ns"), rows.column("end_ns")
            if pa.types.is_integer(start.type) and pa.types.is_integer(end.type):
                rows = self.keep(
                    rows,
                    pc.greater_equal(end.cast(pa.int64()), start.cast(pa.int64())),
                    part.table,
                    "ends before it begins",
                )
        return rows

    def keep(self, rows: pa.Table, good: pa.ChunkedArray, table: str, reason: str) -> pa.Table:
        good = pc.fill_null(good, True)
        refused = rows.filter(pc.invert(good))
        if not refused.num_rows:
            return rows
        for row in refused.to_pylist():
            raw = ", ".join(f"{k}={v!r}" for k, v in row.items() if v is not None)
            self.reject(Rejected(reason, f"row of {table}", raw))
        self.refused[table, f"quarantine: {reason}"] += refused.num_rows
        return rows.filter(good)

    def processes_of(self, rows: pa.Table) -> Ints:
        if "process" not in rows.column_names:
            return np.full(rows.num_rows, self.process_id(0), dtype=np.int64)
        local = rows.column("process")
        if not pa.types.is_integer(local.type) or local.null_count:
            raise BadInput(self.source.path, "column 'process' must hold whole numbers")
        index = local.to_numpy()
        for one in np.unique(index):
            if not 0 <= one < 100_000:
                raise BadInput(
                    self.source.path, f"column 'process' holds {one}, which is not a number of a process"
                )
            self.process_id(int(one))
        owners: Ints = self.members.process_ids[index]
        return owners


def _write_links(store: Store, run_id: int, members: _Members, outcome: Outcome) -> None:
    links = link.by_correlation(members.gathered)
    count = len(links.call_ids)
    store.connection.executemany(
        "INSERT INTO link (run_id, process_id, call_id, interval_id, made_by) VALUES (?, ?, ?, ?, 'correlation id')",
        zip(
            [run_id] * count,
            links.processes.tolist(),
            links.call_ids.tolist(),
            links.interval_ids.tolist(),
            strict=True,
        ),
    )
    if links.ambiguous:
        fate = "left out: the id occurs in several processes"
        outcome.notes.append(
            f"{links.ambiguous:,} device records left unlinked: their id occurs in several processes"
        )
        outcome.counts["link", fate] += links.ambiguous
        store.insert(
            "ingest_count",
            {"ingest_id": members.intervals_of, "what": "link", "fate": fate, "count": links.ambiguous},
        )


def _finish(store: Store, run_id: int, declared: Manifest | None, steps: _Steps) -> None:
    """What needs all rows of the run: warm-up, the step of each host row, and what was seen."""
    parameters = {"run": run_id, "cut": declared.warm_up_steps if declared else None}
    if store.one("SELECT 1 FROM step WHERE run_id = ? LIMIT 1", [run_id]):
        store.connection.execute(link.NESTED_STATEMENT, parameters)
        if parameters["cut"]:
            store.connection.execute(link.WARM_UP_STATEMENT, parameters)
        if steps.late:
            for statement in link.STEP_STATEMENTS:
                store.connection.execute(statement, parameters)
    store.connection.execute("DELETE FROM seen WHERE run_id = :run", parameters)
    for statement in link.SEEN_STATEMENTS:
        store.connection.execute(statement, parameters)


def _known(column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.is_valid(column).to_numpy(), dtype=bool)


def _int64(column: pa.ChunkedArray) -> Ints:
    bits: Ints = pc.fill_null(column, 0).to_numpy().astype(np.int64, copy=False)
    return bits


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
