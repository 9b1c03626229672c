"""One run, one transaction: what is in the store already, what would be lost, and what needs all rows of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from akvsite import link, manifest, questions, readers
from akvsite.errors import BadInput
from akvsite.ingest._captures import Capture, Outcome, Progress, one_role_a_host
from akvsite.ingest._file import AXIS, AXIS_BOUND, MONOTONIC, Boots, File, Members, Steps
from akvsite.ingest._host_axis import bring_others, bring_to_host
from akvsite.ingest._tokens import find_device_milestones, join_client_rows, share_steps
from akvsite.link import same_call
from akvsite.manifest import Manifest
from akvsite.store import RowWriter, Store
from akvsite.tables import LEVELS
from akvsite.wording import number_of


def ingest(
    store: Store, captures: Iterable[Capture], *, replace: bool = False, progress: Progress | None = None
) -> Iterator[Outcome]:
    """Read each capture into the store, one transaction each, and say what was done.

    Raises ``BadInput``; the captures before it are whole in the store, the one that raised is not there at all.
    """
    captures = list(captures)
    together = one_role_a_host(captures)
    bring_others(store)
    for capture in captures:
        yield _ingest_one(store, capture, together, replace, progress or (lambda _: None))


def install_views(store: Store) -> None:
    """Make the store's views equal to the questions."""
    with store.transaction():
        for statement in questions.statements(store.connection):
            store.connection.execute(statement)


def take_statistics(store: Store) -> None:
    """Let the planner know the tables, once their rows are there."""
    # Without statistics the planner takes any index that begins with the run for as good as one by id.
    store.connection.execute("PRAGMA analysis_limit = 1000")
    # By itself it would read first and then want to write, which fails at once where another process is writing.
    with store.transaction():
        store.connection.execute("PRAGMA optimize = 0x10002")


def _ingest_one(
    store: Store, capture: Capture, together: frozenset[str], replace: bool, progress: Progress
) -> Outcome:
    hashes = {source.name: _sha256(source.path) for source in capture.sources}
    wanted = {(s.name, hashes[s.name], s.format, s.made_by) for s in capture.sources}
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
        steps = Steps(store, run_id, again=outcome.action == "read again")
        shared: dict[int | None, Members] = {}
        epoch = _has_epoch(store, run_id, capture)
        boots = Boots(declared=capture.manifest is not None)
        for source in capture.sources:
            progress(f"{capture.name}: {source.name}")
            members = shared.setdefault(source.rank, Members(keyed=True)) if source.level_file else Members()
            file = File(store, writer, steps, run_id, source, outcome, members, boots, epoch=epoch)
            file.ingest(hashes[source.name])
            if not source.level_file:
                _write_links(store, run_id, writer, members, outcome)
        for members in shared.values():
            _write_links(store, run_id, writer, members, outcome)
        _refuse_unlike(store, run_id, capture)
        if epoch:
            _refuse_two_axes(store, run_id, capture)
        _finish(store, run_id, capture.manifest, steps, outcome)
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


def _write_links(store: Store, run_id: int, writer: RowWriter, members: Members, outcome: Outcome) -> None:
    by_id = link.by_correlation(members.gathered)
    _insert_links(store, run_id, by_id, link.CORRELATION)
    _insert_links(store, run_id, link.by_event(members.gathered, by_id.interval_ids), link.EVENT)
    _write_waits(store, writer, members, outcome)
    if by_id.ambiguous:
        outcome.notes.append(
            f"{number_of(by_id.ambiguous, 'device record')} left unlinked: the id occurs in several processes"
        )
        _count_left_out(
            store, outcome, members.intervals_of, "link", "left out: the id occurs in several processes",
            by_id.ambiguous,
        )  # fmt: skip


def _insert_links(store: Store, run_id: int, links: link.Links, made_by: str) -> None:
    store.connection.executemany(
        f"INSERT INTO link (run_id, process_id, call_id, interval_id, made_by) VALUES ({run_id:d}, ?, ?, ?, '{made_by}')",
        zip(links.processes.tolist(), links.call_ids.tolist(), links.interval_ids.tolist(), strict=True),
    )


def _write_waits(store: Store, writer: RowWriter, members: Members, outcome: Outcome) -> None:
    """Put the ids of the calls in the place of their indexes; a wait of a call that is no row is no row either."""
    gone = 0
    for waits in members.gathered.waits:
        calls = link.rows_of_calls(members.gathered.call_index.calls, waits.processes, waits.calls)
        makers = link.rows_of_calls(members.gathered.call_index.calls, waits.processes, waits.makers)
        there = calls > 0
        gone += int(np.count_nonzero(~there))
        unknown = ~(waits.maker_known & (makers > 0))[there]
        rows = {
            "call_id": pa.array(calls[there]),
            "event": pa.array(waits.events[there]),
            "maker_id": pa.array(makers[there], mask=unknown),
        }
        writer.write("edge_wait", pa.table(rows), waits.processes[there])
    if gone:
        fate = "left out: the call that waited is no row"
        _count_left_out(store, outcome, members.waits_of, "event waited for", fate, gone)


def _count_left_out(store: Store, outcome: Outcome, file: int, what: str, fate: str, count: int) -> None:
    outcome.counts[what, fate] += count
    store.insert("ingest_count", {"ingest_id": file, "what": what, "fate": fate, "count": count})


def _has_epoch(store: Store, run_id: int, capture: Capture) -> bool:
    """Whether a file of the run has host times of CLOCK_REALTIME, so that all are brought to them."""
    stored = {r["format"] for r in store.rows("SELECT format FROM ingest WHERE run_id = ?", [run_id])}
    return any(source.epoch for source in capture.sources) or any(
        reader.EPOCH for reader in readers.readers() if reader.NAME in stored
    )


def _refuse_two_axes(store: Store, run_id: int, capture: Capture) -> None:
    """A file that is in the store already keeps its axis: one that would need another comes together with it."""
    path = store.one(
        "SELECT min(i.path) FROM run_fact f JOIN ingest i ON i.id = f.ingest_id "
        "WHERE f.run_id = ? AND f.key = ? AND f.value = ?",
        [run_id, AXIS, MONOTONIC],
    )
    if path is not None:
        raise BadInput(
            capture.sources[0].path,
            f"run {capture.name!r} is in the store with {path!r} on CLOCK_MONOTONIC; give all files of the run together",
        )


def _find_same_calls(store: Store, run_id: int) -> None:
    """Which calls of the shim are calls of the vendor's tracer too, and the steps that those lie in."""
    store.connection.execute("DELETE FROM same_call WHERE run_id = ?", [run_id])
    bound_ns = store.one(
        "SELECT max(CAST(value AS INTEGER)) FROM run_fact WHERE run_id = ? AND key = ?", [run_id, AXIS_BOUND]
    )
    for pair in store.rows(same_call.PROCESSES_QUERY, {"run": run_id}):
        groups: dict[tuple[str, str], int] = {}
        shim, vendor = (
            same_call.Calls.of(
                store.connection.execute(
                    same_call.CALLS_QUERY, {"run": run_id, "process": pair[tool], "shim": tool == "shim"}
                ),
                groups,
            )
            for tool in ("shim", "vendor")
        )
        shim_ids, vendor_ids = same_call.same_calls(shim, vendor, (bound_ns or 0) + same_call.VENDOR_NS)
        store.connection.executemany(
            # Two files of one process may claim the same row of the vendor's: the first has it.
            f"INSERT OR IGNORE INTO same_call (run_id, shim_id, vendor_id, made_by) VALUES ({run_id:d}, ?, ?, '{same_call.ORDER}')",
            zip(shim_ids.tolist(), vendor_ids.tolist(), strict=True),
        )
        if pair["shim"] != pair["vendor"]:
            store.connection.execute(same_call.STEPS_STATEMENT, {"run": run_id, **pair})


#: A trace that nobody declared is of the level that its rows show: a profiler that saw no device was at level host, and
#: a probe is at that of the most that it recorded.
LEVEL_STATEMENT = """
    UPDATE run SET
        level = CASE WHEN level < 3 THEN max(level, CASE
                         WHEN EXISTS (SELECT 1 FROM level3_device d WHERE d.run_id = :run) THEN 3
                         WHEN EXISTS (SELECT 1 FROM level2_host t WHERE t.run_id = :run) THEN 2
                         WHEN EXISTS (SELECT 1 FROM level1_runner f WHERE f.run_id = :run) THEN 1
                         ELSE level END)
                     WHEN EXISTS (SELECT 1 FROM level3_device d WHERE d.run_id = :run)
                       OR EXISTS (SELECT 1 FROM level4_edge c WHERE c.run_id = :run) THEN level
                     ELSE 2 END,
        clock = CASE WHEN EXISTS (SELECT 1 FROM level3_device d WHERE d.run_id = :run) THEN clock ELSE 'unknown' END
    WHERE id = :run
    """


def _refuse_unlike(store: Store, run_id: int, capture: Capture) -> None:
    """Files are ranks of one run only where nothing in them says otherwise."""
    if capture.manifest is not None:
        return
    devices = store.rows(
        "SELECT f.value AS device, min(i.path) AS path FROM run_fact f JOIN ingest i ON i.id = f.ingest_id "
        "WHERE f.run_id = ? AND f.part = 'device' AND f.key LIKE '%.name' GROUP BY f.value ORDER BY path, device",
        [run_id],
    )
    if len(devices) > 1:
        said = " and ".join(f"{d['path']} names {d['device']!r}" for d in devices[:2])
        raise BadInput(f"run {capture.name!r}", f"{said}: files of unlike devices are not one run")
    ranks = store.rows(
        "SELECT rank, count(DISTINCT ingest_id) AS files, min(i.path) AS path FROM process p JOIN ingest i ON i.id = p.ingest_id "
        "WHERE p.run_id = ? AND rank IS NOT NULL GROUP BY rank HAVING files > 1 ORDER BY rank",
        [run_id],
    )
    if ranks:
        raise BadInput(
            f"run {capture.name!r}",
            f"{ranks[0]['files']} files say that they are rank {ranks[0]['rank']}: ranks of one run differ",
        )


def _finish(store: Store, run_id: int, declared: Manifest | None, steps: Steps, outcome: Outcome) -> None:
    """What needs all rows of the run: warm-up, the step of each host row, what was seen, and the two clocks."""
    parameters = {"run": run_id, "cut": declared.warm_up_steps if declared else None}
    if store.one("SELECT 1 FROM step WHERE run_id = ? LIMIT 1", [run_id]):
        store.connection.execute(link.NESTED_STATEMENT, parameters)
        if declared is not None:
            _refuse_undeclared_warm_up(store, parameters, steps)
        if parameters["cut"]:
            store.connection.execute(link.WARM_UP_STATEMENT, parameters)
        if steps.late:
            for statement in link.STEP_STATEMENTS:
                store.connection.execute(statement, parameters)
    if declared is None:
        store.connection.execute(LEVEL_STATEMENT, parameters)
    _find_same_calls(store, run_id)
    if declared is not None:
        share_steps(store, run_id)
    join_client_rows(store, run_id, outcome)
    store.connection.execute("DELETE FROM seen WHERE run_id = :run", parameters)
    for statement in link.SEEN_STATEMENTS:
        store.connection.execute(statement, parameters)
    bring_to_host(store, run_id)
    find_device_milestones(store, run_id)


def _refuse_undeclared_warm_up(store: Store, parameters: dict[str, int | None], steps: Steps) -> None:
    """Only capture.toml cuts: a file that could mark what it likes could choose its numbers from the data."""
    cut = parameters["cut"] or 0
    (worst,) = store.rows(link.UNDECLARED_WARM_UP_QUERY, {"run": parameters["run"], "cut": cut})
    if worst["marked"] and worst["warm_up"] != (worst["place"] <= cut):
        raise BadInput(
            steps.file_of(worst["id"]),
            f"marks step {worst['place']:,} of its source warm_up = {worst['warm_up']}, and capture.toml declares "
            + (f"warm_up_steps = {cut}" if cut else "no warm_up_steps"),
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
