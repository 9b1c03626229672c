"""Files of the command's own that belong into the capture: what it leaves in ``$AKV_FILES``, such as a profiler's trace.

They go in as they are, since a raw file is never changed; only an akvlog, such as an engine's own counters, loses the
paths in it as those of the recorders do. One that names this machine, its user or somebody's home
folder, or that holds a secret, does not go in: it stays beside the bundle, and the capture says so.
"""

from __future__ import annotations

import gzip
import os
import platform
import re
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from akvsite.errors import BadInput
from akvsite.record import logs
from akvsite.record.clean import own_names
from akvsite.record.plain import is_folder, may_be_told, shown

#: Bytes that are looked at in one go; a name may lie across two of them.
_PIECE, _OVERLAP = 1 << 22, 256
# Each pattern begins with one rare letter, and looks behind itself for what is in front: gigabytes are searched so.
_HOMES = [re.compile(rb"/(?:home|Users)/[^/\s\"']+|/root/")]
# Narrower than what is taken out of a text by `without_secrets`: there a value is hidden, here a whole file stays out,
# and a trace of an engine is full of tokens that open nothing.
_ISSUED = rb"(?:(?=[\w.-]{0,99}\d)[\w.-]{8}|[A-Za-z0-9]{20})"
_EDGE = rb"(?<![A-Za-z0-9]"
_SECRETS = [
    re.compile(rb"B(?<=-----B)EGIN "),
    re.compile(
        rb"_(?:(?<=gh[pousr]_)"
        + _EDGE
        + rb"gh[pousr]_)|(?<=hf_)"
        + _EDGE
        + rb"hf_)|(?<=github_pat_))"
        + _ISSUED
    ),
    re.compile(
        rb"-(?:(?<=sk-)"
        + _EDGE
        + rb"sk-)|(?<=glpat-)|(?<=xox[abeprs]-)"
        + _EDGE
        + rb"xox[abeprs]-))"
        + _ISSUED
    ),
    re.compile(rb"A(?:KIA" + _EDGE + rb"AKIA)|SIA" + _EDGE + rb"ASIA))" + _ISSUED),
    re.compile(rb"J(?<=eyJ)" + _EDGE + rb"eyJ)" + _ISSUED),
]
_VALUE = (
    rb"[\w.-]{0,40}\\{0,8}[\"']?\s{0,8}[=:](?!:)\s{0,8}\\{0,8}[\"']?"
    rb"(?![\d.]+\b)[^\s,;&\"'{}\[\]()\\]{8}"
)
#: Searched for in lower case.
_NAMED = [
    re.compile(rb"b(?<=\bb)earer\s+[^\s\"',]{8}"),
    *(
        re.compile(name + _VALUE)
        for name in (
            rb"k(?:(?<=tok)en(?!s\b|iz)|(?<=cook)ie)",
            rb"k(?=ey)(?:(?<=private_k)|(?<=privatek)|(?<=api_k)|(?<=apik)|(?<=access_k)|(?<=accessk))",
            rb"w(?<=passw)o?r?d", rb"h(?<=passph)rase", rb"c(?:(?<=sec)ret|redential)", rb"z(?<=authoriz)ation",
        )
    ),
]  # fmt: skip
_FOLDERS_TRIED = 100


@dataclass
class Files:
    """Names relative to the bundle, and one line for each file that was left out."""

    kept: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def collect(source: Path, target: Path, beside: Path, *, compress: bool = False) -> Files:
    """Move the regular files of ``source`` to ``target``; those that tell on somebody to ``beside``, or a folder with a
    number behind that name where it is taken. Folders and links are left out. ``compress`` packs akvlogs."""
    made = Files()
    if not is_folder(source):
        made.left_out.append(
            "$AKV_FILES: the command removed or replaced the folder; what it held is missing"
        )
        return made
    aside: Path | None = None
    for path in sorted(source.iterdir()):
        name = _told_name(path.name)
        if path.is_symlink() or not path.is_file():
            made.left_out.append(f"{name}: no plain file")
            continue
        pack = False
        if path.suffix == ".akvlog":
            # What is one by its name alone is a file like any other.
            with suppress(BadInput, OSError):
                logs.settle(path)
                pack = compress
        told = "something in its name that is nobody's business" if name != path.name else _tells(path)
        try:
            if told:
                aside = aside or _new_folder(beside)
                path.rename(aside / path.name)
                made.left_out.append(f"{name}: names {told}; it is beside the bundle, in {aside.name}")
            else:
                target.mkdir(exist_ok=True)
                kept = path.rename(target / path.name)
                if pack:
                    kept = logs.packed(kept)
                made.kept.append(kept.relative_to(target.parent).as_posix())
        except OSError as error:
            made.left_out.append(f"{name}: could not be moved ({error.strerror}), and is missing")
    return made


def _new_folder(beside: Path) -> Path:
    """A folder that was not there: nothing that an earlier capture left is overwritten."""
    for number in range(1, _FOLDERS_TRIED):
        folder = beside if number == 1 else beside.with_name(f"{beside.name}-{number}")
        if not os.path.lexists(folder):
            folder.mkdir()
            return folder
    raise FileExistsError(0, "too many folders of left-out files", str(beside))


def _told_name(name: str) -> str:
    """The name itself where it may stand in a bundle. Profilers put the host and a `_` in front of theirs."""
    told = name if may_be_told(name) else shown(name)
    for host in {platform.node(), platform.node().partition(".")[0]} - {"localhost"}:
        if len(host) > 2:
            told = re.sub(rf"(?<![A-Za-z0-9]){re.escape(host)}(?![A-Za-z0-9])", "[redacted]", told)
    if told == name and _is_secret(os.fsencode(name)):
        return "[redacted]"
    return told


def _tells(path: Path) -> str | None:
    """What the file tells that it should not, if anything: this host or user, a home folder, or a secret."""
    own = [
        re.compile(name + rb"(?<=\b" + name + rb")\b")
        for name in (re.escape(name.encode("utf-8", "surrogateescape")) for name in own_names())
    ]
    try:
        with path.open("rb") as file:
            packed = path.name.endswith(".gz") or file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as file:
            before = b""
            while piece := file.read(_PIECE):
                text = before + piece
                if _has(own, text):
                    return "this machine or its user"
                if _has(_HOMES, text):
                    return "a home folder"
                if _is_secret(text):
                    return "what looks like a secret"
                before = piece[-_OVERLAP:]
    except (OSError, EOFError, zlib.error) as error:
        # Cut short or not gzip at all: what it says cannot be known.
        return f"nobody knows whom ({type(error).__name__})"
    return None


def _is_secret(text: bytes) -> bool:
    return _has(_SECRETS, text) or _has(_NAMED, text.lower())


def _has(patterns: Sequence[re.Pattern[bytes]], text: bytes) -> bool:
    return any(pattern.search(text) for pattern in patterns)
