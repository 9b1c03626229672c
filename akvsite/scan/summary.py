"""What ``akvsite scan`` says of a file: counts, the time span, and how fast this scan was."""

from __future__ import annotations

import re
import time
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from akvsite import scan
from akvsite.errors import BadInput
from akvsite.scan._header import MAGIC, RECORD_BYTES
from akvsite.scan._tally import KINDS

_HEAD = 1 << 16
_UR_LINE = re.compile(
    rb"(?:^|\n) *(?:[^\n]* )?(?:(?:--->|<---) ur[A-Z]|(?:end\([0-9]+\) - )?ur[A-Z]\w*\([^\n]*\) -> )"
)
_CALL_NAME = 1


def find(paths: Iterable[Path]) -> list[Path]:
    """The files, and those in folders that begin like an akvlog or a text log of the Unified Runtime, by name.

    Raises ``BadInput`` where a path is not there or a folder has no such file.
    """
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        inside = sorted(file for file in path.rglob("*") if file.is_file() and _is_log(_head(file)))
        if not inside:
            raise BadInput(path, "holds no akvlog file and no text log of the Unified Runtime")
        files += inside
    return files


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise BadInput(path, error.strerror or str(error)) from error
    if head[:2] == b"\x1f\x8b":
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD)
        except zlib.error:
            return b""
    return head


def _is_log(head: bytes) -> bool:
    return head.startswith(MAGIC) or bool(_UR_LINE.search(head))


def summarise(path: Path, engine: str | None = None) -> dict[str, Any]:
    """Counts of one file. Raises ``BadInput`` where it is neither format, or damaged beyond use.

    ``mb_per_s`` (10**6 bytes of the uncompressed file, large holes left out) is of this one scan on this machine.
    """
    began = time.perf_counter()
    # A path that is no file is refused by what opens it, with the reason.
    found = (
        _akvlog(path, engine) if not path.is_file() or _head(path).startswith(MAGIC) else _text(path, engine)
    )
    seconds = time.perf_counter() - began
    return {
        "path": str(path), **found, "seconds": seconds,
        "mb_per_s": found["bytes_read"] / 1e6 / seconds if seconds > 0 else None,
        "speed_of": "one scan on this machine, no band",
    }  # fmt: skip


def _akvlog(path: Path, engine: str | None) -> dict[str, Any]:
    with scan.open_log(path, engine) as log:
        header, tally = log.header, log.tally()
        names = {
            name["id"]: name["text"] for name in reversed(log.names.to_pylist()) if name["what"] == _CALL_NAME
        }
        counted = {row["id"]: row["count"] for row in log.counts.to_pylist()}
        used = log.engine
        size = log.file_bytes
    calls = [
        {"name": names.get(id, f"(no name: id {id})"), "calls": count, "only_counted": counted.get(id, 0)}
        for id, count in (dict.fromkeys(counted, 0) | tally.calls_by_name).items()
    ]
    ends = (tally.first_ns, tally.last_ns)
    return {
        "format": "akvlog", "engine": used, "bytes": size,
        "bytes_read": size - tally.unread * RECORD_BYTES, "producer": header.producer, "pid": header.pid,
        "closed": header.closed, "wraps": header.wraps, "stopped": header.stopped, "reserved": tally.reserved,
        "present": {KINDS.get(kind, f"kind {kind}"): count for kind, count in tally.present.items()},
        "holes": tally.holes, "overwritten": tally.overwritten, "lost": tally.lost, "missing": tally.missing,
        "truncated": tally.truncated, "open_calls": tally.open_calls, "stray_continuations": tally.strays,
        "unknown": {f"kind {kind}": count for kind, count in tally.unknown.items()},
        "names_lost": header.names_lost, "device_times_lost": header.device_times_lost,
        "device_times_unread": header.device_times_unread,
        "first_ns": ends[0], "last_ns": ends[1],
        "span_ns": None if ends[0] is None or ends[1] is None else ends[1] - ends[0],
        "calls": sorted(calls, key=lambda row: (-row["calls"] - row["only_counted"], row["name"])),
    }  # fmt: skip


def _text(path: Path, engine: str | None) -> dict[str, Any]:
    calls: Counter[str] = Counter()
    not_returned: Counter[str] = Counter()
    with scan.read_ur_text(path, engine) as log:
        for batch in log.batches():
            names = batch["name"].to_pylist()
            calls.update(names)
            returned = batch["returned"].to_pylist()
            not_returned.update(name for name, back in zip(names, returned, strict=True) if not back)
        counts, used, size = log.counts, log.engine, log.file_bytes
    if not calls:
        raise BadInput(path, "is no akvlog file, and no line of it is a call of the Unified Runtime")
    return {
        "format": "ur text", "engine": used, "bytes": size, "bytes_read": size, "lines": counts.lines, "other_lines": counts.other,
        "too_long_lines": counts.too_long, "mixed_lines": counts.mixed, "open_calls": not_returned.total(),
        "calls": [
            {"name": name, "calls": count, "not_returned": not_returned[name]}
            for name, count in sorted(calls.items(), key=lambda item: (-item[1], item[0]))
        ],
    }  # fmt: skip


def lines(found: dict[str, Any]) -> list[str]:
    """A summary as lines for people; the calls by name are left to a table."""
    size = f"{found['bytes']:,} bytes, {found['engine']} engine"
    said = [f"{found['path']}: {found['format']}, {size}"]
    if found["format"] == "akvlog":
        state = "closed" if found["closed"] else "not closed"
        said.append(
            f"  by {found['producer']}, process {found['pid']}, {state}{', cut short' * found['truncated']}"
        )
        present = sum(found["present"].values())
        said.append(
            f"  {found['reserved']:,} records reserved = {present:,} present + {found['holes']:,} holes + "
            f"{found['overwritten']:,} written over + {found['lost']:,} lost + {found['missing']:,} missing"
        )
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in found["present"].items())
        said.append(f"  present: {kinds or 'none'}; stray continuations: {found['stray_continuations']:,}")
        unread = found["device_times_unread"]
        said.append(
            f"  lost besides: {found['names_lost']:,} names, {found['device_times_lost']:,} device times; "
            f"device times never read: {'unknown' if unread is None else f'{unread:,}'}"
        )
        span = found["span_ns"]
        said.append(
            f"  time span: {'unknown' if span is None else f'{span:,} ns'}; open calls: {found['open_calls']:,}"
        )
    else:
        said.append(
            f"  {found['lines']:,} lines, of them {found['other_lines']:,} of the application, "
            f"{found['too_long_lines']:,} too long, {found['mixed_lines']:,} with other text before a call; "
            f"calls that did not return: {found['open_calls']:,}"
        )
    speed = found["mb_per_s"]
    said.append(f"  read at {'unknown' if speed is None else f'{speed:,.0f}'} MB/s ({found['speed_of']})")
    return said
