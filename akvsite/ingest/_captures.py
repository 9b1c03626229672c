"""Which files make a run: bundles, loose files, ranks."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from akvsite import manifest, readers
from akvsite.errors import BadInput
from akvsite.manifest import Manifest
from akvsite.readers import bundle
from akvsite.reading import OfSeveralLevels, Part, Reader
from akvsite.tables import CAPTURED, LEVELS

#: Raised when ingest itself (links, steps, coverage) would give other rows from the same parts.
VERSION = 5


Progress = Callable[[str], None]


#: Fates that are a place in a table; any other is a reason.
STORED = frozenset(CAPTURED)


#: What the torch profiler calls its files by itself: `<host>_<pid>.<time>.pt.trace.json.gz`.
_OF_HOST = re.compile(
    r"(?P<host>.+)_(?P<pid>\d+)\.(?P<time>\d{10,})(?P<ending>(\.pt)?\.trace\.json(\.gz)?)", re.IGNORECASE
)

#: Tables that a run at level off may have: wall clocks of steps, requests, tokens and experiments.
OFF = frozenset({"step", "request", "request_event", "token", "trial"})


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
    #: Whether its host times are those of CLOCK_REALTIME.
    epoch: bool = False

    @property
    def made_by(self) -> int:
        """The version that the store keeps: of the reader, and of the ingest around it."""
        return self.version + 1000 * VERSION

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
        raise BadInput(
            "--run",
            f"{run!r}: lower-case letters, digits, '.', '_' and '-', 100 at most, no two dots in a row",
        )
    captures: list[Capture] = []
    loose: list[Path] = []
    for path in paths:
        if not path.exists():
            raise BadInput(path, "does not exist")
        if not path.is_dir() and not path.is_file():
            # A pipe would be waited for without an end, and could not be read twice.
            raise BadInput(path, "is not a regular file")
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

    >>> name_from_file(Path("Qwen 0.5B.pt.trace.json.gz")), name_from_file(Path("gpu7_41.1764460000000.pt.trace.json"))
    ('qwen-0.5b', 'trace-41')
    """
    stem = public_name(path.name).lower()
    for ending in (".gz", ".akvlog", ".json", ".jsonl", ".sqlite", ".txt", ".trace", ".pt"):
        stem = stem.removesuffix(ending)
    return re.sub(r"\.{2,}", ".", re.sub(r"[^a-z0-9._-]+", "-", stem)).strip("-._")[:100] or "run"


def public_name(name: str, *, timed: bool = False) -> str:
    """The name of a file, without the name of the host that the torch profiler puts in front of it.

    >>> public_name("gpu7.lab_41.1764460000000.pt.trace.json.gz"), public_name("decode.json")
    ('trace-41.pt.trace.json.gz', 'decode.json')
    """
    folder, slash, last = name.rpartition("/")
    found = _OF_HOST.fullmatch(last)
    if found is None:
        return name
    time = f".{found['time']}" if timed else ""
    return f"{folder}{slash}trace-{found['pid']}{time}{found['ending']}"


def _public_names(names: Sequence[str]) -> list[str]:
    """``public_name`` of each; where files of several hosts have one pid, their times tell them apart."""
    public = [public_name(name) for name in names]
    times = Counter(public)
    return [public_name(name, timed=times[short] > 1) for name, short in zip(names, public, strict=True)]


def one_role_a_host(captures: Sequence[Capture]) -> frozenset[str]:
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


def _of_files(name: str, files: Sequence[Path]) -> Capture:
    sources = []
    level = 0
    for path, public in zip(files, _public_names([path.name for path in files]), strict=True):
        reader = readers.find(path)
        sources.append(_sniffed(reader, path, public, None))
        level = max(level, LEVELS.index(_level(reader, path)))
    names = Counter(s.name for s in sources)
    if len(names) != len(sources):
        raise BadInput(
            files[0], f"two files of run {name!r} have the same name, {names.most_common(1)[0][0]!r}"
        )
    return Capture(name, level, tuple(sources))


def _sniffed(reader: Reader, path: Path, name: str, rank: int | None) -> Source:
    return Source(
        path, name, reader.NAME, reader.VERSION, lambda: reader.read(path), rank, epoch=reader.EPOCH
    )


def _bundle(folder: Path) -> Capture:
    declared = manifest.load(folder)

    def facts() -> Iterator[Part]:
        yield from declared.facts

    sources = [
        Source(folder / manifest.FILE_NAME, manifest.FILE_NAME, "capture.toml", manifest.FORMAT, facts)
    ]
    names = _public_names([file.path.relative_to(folder.resolve()).as_posix() for file in declared.files])
    if len({manifest.FILE_NAME, *names}) != len(names) + 1:
        raise BadInput(
            folder / manifest.FILE_NAME, "names two files that differ in their host alone", place="file"
        )
    for file, name in zip(declared.files, names, strict=True):
        if file.table is not None:
            sources.append(_level_file(file, name, declared))
            continue
        reader = readers.find(file.path)
        if declared.level == "off" and (looks := _level(reader, file.path)) != "off":
            raise _instrumented(folder, f"{name} was made by a tool that looks on at level {looks}")
        sources.append(_sniffed(reader, file.path, name, file.rank))
    if declared.level == "off":
        _refuse_unnamed(folder, {file.path for file in declared.files})
    return Capture(declared.name, LEVELS.index(declared.level), tuple(sources), declared)


def _level(reader: Reader, path: Path) -> str:
    """The level of a file that nobody declares, before its rows are looked at."""
    return reader.level(path) if isinstance(reader, OfSeveralLevels) else reader.LEVEL


def _instrumented(folder: Path, why: str) -> BadInput:
    # Speed is stated from level off alone, so an instrumented run may not pass for one.
    return BadInput(folder / manifest.FILE_NAME, f"is 'off', and {why}", place="level")


def _refuse_unnamed(folder: Path, named: set[Path]) -> None:
    """A recorder's file in the folder proves that the run was looked at, whether or not the capture names it."""
    for place, folders, names in os.walk(folder):
        # A bundle inside this one is a run of its own.
        folders[:] = [f for f in folders if not (Path(place, f) / manifest.FILE_NAME).exists()]
        for path in sorted(Path(place, name) for name in names):
            if path.is_symlink() or not path.is_file() or path.resolve() in named or not path.stat().st_size:
                continue
            try:
                reader = readers.find(path)
            except BadInput:
                continue  # no capture's file
            try:
                looks = _level(reader, path)
            except BadInput:
                looks = reader.LEVEL  # too damaged to tell what it saw
            if looks != "off":
                name = public_name(path.relative_to(folder).as_posix())
                raise _instrumented(
                    folder,
                    f"{name}, which it does not name, was made by a tool that looks on at level {looks}",
                )


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
