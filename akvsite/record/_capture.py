"""One capture: facts before, the command, facts after, and a bundle of what there is."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from akvsite.errors import BadInput
from akvsite.manifest import DEVICE_CLOCK
from akvsite.record import (
    device,
    files,
    host,
    launch,
    levels,
    logs,
    plain,
    processes,
    program,
    quiet,
    reference,
    software,
    stated,
)
from akvsite.record.bundle import Bundle, write_declaration, write_table
from akvsite.record.clean import Facts, Value, clean, cleaned
from akvsite.record.sampler import FIRST_INTERVAL_NS, Sampler
from akvsite.tables import LEVELS

NO_CALLS = 3
ROLES = ("dev", "proof")
TIMINGS = ("on", "off", "asis")
RUNTIMES = ("auto", *levels.LIBRARIES)

_INSIDE = "libsycl.so.9"
#: A recorder's file starts with less; where this much is not free, that may be why there is none.
_ROOM_BYTES = 4 << 20

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What to capture, as the command line says it."""

    name: str
    command: tuple[str, ...]
    level: str
    out: Path = Path("captures")
    timing: str = "asis"
    host: str | None = None
    role: str | None = None
    warm_up: int | None = None
    engine: str | None = None
    note: str | None = None
    contract: Mapping[str, str] = field(default_factory=dict)
    runtime: str = "auto"
    interval_ns: int = FIRST_INTERVAL_NS
    compress: bool = False


@dataclass(frozen=True)
class Captured:
    """What came of it. ``calls`` is None where the level records none; ``code`` is that of ``akvsite capture``."""

    bundle: Path
    code: int
    ended: str
    calls: int | None
    #: Records for which there was no room; None where the level records none.
    lost: int | None
    libraries: tuple[str, ...]
    because: tuple[str, ...]
    files: tuple[str, ...]
    left_out: tuple[str, ...]
    samples: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Moment:
    """Facts of one moment, before or after the command."""

    host: Facts
    device: Facts
    users: Facts

    @classmethod
    def now(cls) -> Moment:
        return cls(host.load(), device.load(), device.users_facts(device.users()))

    def facts(self) -> Facts:
        return {**self.host, "device": {**self.device, **self.users}}


def capture(
    request: Request, environment: Mapping[str, str] = os.environ, progress: Progress = lambda _: None
) -> Captured:
    """Run the command at the level asked for, and leave a bundle.

    Raises ``BadInput`` before the command runs where the request cannot be met; afterwards a bundle is written,
    however the command ended.
    """
    _check(request)
    found = program.find(request.command)
    preload = levels.shim_libraries(request.runtime, environment) if request.level == LEVELS[-1] else []
    with Bundle(request.out, request.name) as bundle:
        own = (bundle.folder / "own").absolute()
        own.mkdir()
        folder = None
        if request.level != LEVELS[0]:
            folder = (bundle.folder / "akv").absolute()
            folder.mkdir()
        inside = levels.environment_for(
            request.level, environment, folder=folder, timing=request.timing, preload=preload, files=own
        )
        progress("reading the host's facts")
        facts = _standing_facts(found, inside)
        if request.level == LEVELS[0]:
            # Of the environment as it came: an outer capture looks on, whatever the command is told.
            looking = ", ".join(software.looking(environment))
            held = quiet.hold(environment, "nothing was run") if request.role == "proof" else []
            facts["capture"] = {
                "tracers_switched_on": looking or None,
                "quiet": {c.what: str(c) for c in held},
            }
        before = Moment.now()
        started = datetime.now(UTC).isoformat(timespec="seconds")
        progress("")
        watch = _Watch(request)
        with launch.signals_held() as mask:
            ended = launch.run(found.path, request.command, inside, mask, watch.begin if folder else None)
            bundle.keep = True
            seen = logs.Logs()
            if folder:
                seen = logs.collect(folder, bundle.folder, compress=request.compress)
                seen.left_out += plain.remove(folder, "$AKV_DIR")
            said = stated.take(own)
            taken = files.collect(
                own,
                bundle.folder / "files",
                request.out / f"{request.name}.left-out",
                compress=request.compress,
            )
            seen.left_out += plain.remove(own, "$AKV_FILES")
            seen.kept += taken.kept
            seen.left_out += taken.left_out
            facts["software"] = said.under("software", facts["software"])
            facts["device"] = said.under("device", facts["device"])
            facts["contract"] = said.under("contract", _contract(request))
            seen.left_out += said.left_out
            done = _outcome(request, found, ended, watch.sampler, seen, bundle.place)
            facts["load"] = {"before": before.facts(), "after": Moment.now().facts()}
            facts["capture"] = {
                **facts.get("capture", {}),
                **({"engine": said.tables["engine"]} if said.tables.get("engine") else {}),
                **_capture_facts(request, found, ended, watch, seen, done),
            }
            _write(bundle.folder, request, facts, started, ended, watch.sampler, seen)
            bundle.publish()
            launch.forget_signals()
    return done


class _Watch:
    """The sampler, from when there is a process."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.sampler: Sampler | None = None

    def begin(self, pid: int) -> Callable[[], int]:
        sampler = self.sampler = Sampler(processes.Tree(pid), self.request.interval_ns)

        def again() -> int:
            sampler.sample()
            return sampler.next_at

        return again


def _check(request: Request) -> None:
    if not request.command:
        raise BadInput("COMMAND", "is missing: put it behind `--`")
    for option, value, choices in (
        ("--level", request.level, LEVELS),
        ("--timing", request.timing, TIMINGS),
        ("--runtime", request.runtime, RUNTIMES),
    ):
        if value not in choices:
            raise BadInput(option, f"is {value!r}; one of {', '.join(choices)}")
    check_host(request.host, request.role)
    if request.warm_up is not None and request.warm_up < 0:
        raise BadInput("--warm-up", "is a number of steps, from 0")
    for option, text in (("--engine", request.engine), ("--note", request.note)):
        if text is not None and not text.strip():
            raise BadInput(option, "is empty")


def check_host(name: str | None, role: str | None) -> None:
    """Raises ``BadInput`` where host and role cannot stand in a bundle."""
    if role is not None and role not in ROLES:
        raise BadInput("--host-role", f"is {role!r}; one of {', '.join(ROLES)}")
    if role and not name:
        raise BadInput("--host-role", "needs --host NAME: a role belongs to a host")
    if name is not None and (not name.strip() or clean(name) != name):
        raise BadInput("--host", "is empty, or says whose machine this is; give it a public name")


def _standing_facts(found: program.Program, inside: Mapping[str, str]) -> dict[str, Facts]:
    return {
        "host": host.about(),
        "device": device.about(),
        "software": {**software.packages(found.python, inside), "environment": software.switches(inside)},
    }


def _outcome(
    request: Request,
    found: program.Program,
    ended: launch.Ended,
    sampler: Sampler | None,
    seen: logs.Logs,
    place: Path,
) -> Captured:
    calls = seen.calls if request.level == LEVELS[-1] else None
    mapped = (sampler.libraries if sampler else set()) | {
        n for n in seen.libraries if processes.is_runtime(n)
    }
    runtimes = tuple(sorted(n for n in mapped if not n.startswith("libakv_")))
    because: list[str] = []
    if calls == 0:
        because = _why_none(found, runtimes, any(n.startswith("libakv_") for n in mapped), seen)
        if (free := plain.free_bytes(place.parent)) < _ROOM_BYTES:
            because.insert(
                0, f"the recorder needs room for its file, and there is little: {free:,} bytes free"
            )
    return Captured(
        bundle=place,
        code=ended.code or (NO_CALLS if calls == 0 else 0),
        ended=ended.said,
        calls=calls,
        lost=seen.lost if request.level == LEVELS[-1] else None,
        libraries=tuple(map(clean, runtimes)),
        because=tuple(because),
        files=tuple(seen.kept),
        left_out=tuple(seen.left_out),
        samples=len(sampler.columns[0]) if sampler else 0,
        notes=tuple(seen.notes),
    )


def _why_none(found: program.Program, runtimes: tuple[str, ...], mapped: bool, seen: logs.Logs) -> list[str]:
    """What is known of why no call was seen; a list of observations, the most telling first."""
    why = [
        note for note in seen.notes if note.startswith(("tables=", "exports=unknown", "path=none", "off="))
    ]
    if found.refuses_preload:
        why.append(found.refuses_preload)
    elif not mapped and not seen.libraries:
        why.append(
            "the recorder was not seen in any process: each ended before it was looked at, or takes no preloaded library"
        )
    elif not runtimes:
        why.append("no runtime was loaded, or it is linked into another library")
    elif _INSIDE in runtimes:
        why.append(
            f"{_INSIDE} holds its loader and the OpenCL adapter inside: calls to an OpenCL device are not seen"
        )
    elif not why:
        why.append("a runtime is mapped, and none of its calls came through the functions that are looked at")
    return why


def _capture_facts(
    request: Request,
    found: program.Program,
    ended: launch.Ended,
    watch: _Watch,
    seen: logs.Logs,
    done: Captured,
) -> Facts:
    facts: dict[str, Value | Facts] = {
        "tool": "akvsite capture",
        "command": found.about,
        "arguments": len(request.command) - 1,
        "ended": ended.said,
        "exit_code": ended.code,
        "duration_ns": ended.ended_ns - ended.started_ns,
        "user_ns": ended.user_ns,
        "system_ns": ended.system_ns,
        "peak_resident_bytes": ended.peak_resident_bytes,
        "signals_passed_on": ended.passed_on,
        "looking_failed": ended.looking_failed,
        # Below edge nothing of ours touches the queues: there it is a statement about the command.
        "timing_events_by": "the recorder" if request.level == LEVELS[-1] else "declared",
        "started_monotonic_ns": ended.started_ns,
    }
    if seen.left_out:
        facts["left_out"] = {f"{number:02}": clean(line) for number, line in enumerate(seen.left_out)}
    if ended.signal is not None:
        facts["ended_by_signal"] = signal.Signals(ended.signal).name
    if watch.sampler is not None:
        facts["memory_sampling"] = watch.sampler.facts()
        facts["descendants_still_running"] = len(watch.sampler.tree.alive())
        facts["runtime_libraries"] = ", ".join(done.libraries) or "none seen"
    if request.level != LEVELS[0]:
        facts["probe"] = {
            "files": seen.probe.files,
            "records_lost": seen.probe.lost,
            "processes_closed": seen.probe.closed,
            "processes_not_closed": seen.probe.open,
            "files_still_written": seen.probe.still_written,
        }
    if request.level == LEVELS[-1]:
        facts["edge"] = {
            "runtime": request.runtime,
            "calls_seen": seen.calls,
            "records_lost": seen.lost,
            "files": seen.files,
            "processes_closed": seen.closed,
            "processes_not_closed": seen.open,
            "files_still_written": seen.still_written,
            "no_calls_because": "; ".join(done.because) or None,
            "notes": {f"{number:02}": note for number, note in enumerate(seen.notes)},
        }
    return facts


def _write(
    folder: Path, request: Request, facts: Mapping[str, Facts], started: str, ended: launch.Ended,
    sampler: Sampler | None, seen: logs.Logs,
) -> None:  # fmt: skip
    # Loaded here, after the command: what runs beside it stays small, and starts no thread that takes its signals.
    import pyarrow as pa

    files: list[Facts] = [{"path": "trials.parquet", "table": "trial"}]
    trial = {"arm": "command", "treatment": f"capture at level {request.level}", "repeat": 0, "number": 0,
             "duration_ns": ended.ended_ns - ended.started_ns}  # fmt: skip
    write_table(folder / "trials.parquet", {name: pa.array([value]) for name, value in trial.items()})
    named: list[Facts] = []
    if sampler is not None and len(sampler.columns[0]):
        _, *columns = sampler.columns
        names = ("process", "at_ns", "resident_bytes", "anonymous_bytes")
        arrays = (pa.array(memoryview(column).tolist(), pa.int64()) for column in columns)
        write_table(folder / "memory.parquet", dict(zip(names, arrays, strict=True)))
        files.append({"path": "memory.parquet", "table": "memory_sample"})
        named = [{"pid": str(pid), "name": _name(w.name)} for (pid, _), w in sampler.watched.items()]
    files += [{"path": path} for path in seen.kept]
    engine = reference.arguments_of(request.command)
    head = {
        "name": request.name,
        "level": request.level,
        "started": started,
        "engine": request.engine or (None if engine is None else reference.ENGINE),
        "timing_events": request.timing,
        "warm_up_steps": request.warm_up,
        "clock": _clock(request),
        "note": request.note,
    }
    tables: dict[str, Facts] = {
        "host": {"name": request.host, "role": request.role, "facts": facts["host"]},
        **{part: facts[part] for part in ("contract", "software", "device", "load", "capture")},
    }
    write_declaration(
        folder, cleaned(head), {part: cleaned(table) for part, table in tables.items()},
        {"process": named, "file": files},
    )  # fmt: skip


def _contract(request: Request) -> Facts:
    """Of our own engine the workload is known: its arguments are told, and no other command's."""
    engine = reference.arguments_of(request.command)
    return {**({} if engine is None else {"engine": reference.workload(engine)}), **request.contract}


def _clock(request: Request) -> str:
    """The axis of device times, where the level has any."""
    if request.level == "edge" and request.timing == "on":
        return DEVICE_CLOCK
    return "vendor, unproven" if request.level == "device" else "host only"


def _name(name: str | None) -> str | None:
    return (clean(name) or None) if name else None
