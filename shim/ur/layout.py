"""The order of the entries in the function table of an adapter, as a small text file for each release.

    layout.py ADAPTER... [--header ur_ddi.h]

Prints a layout. `UR_API_VERSION` does not tell layouts apart (2025.3 and 2026.2 both say 0.12), and not every release
ships `ur_ddi.h`, so the adapters are asked: each fills one table a `urGet...ProcAddrTable` and holds them all in one;
their symbol tables name what the entries point at. Where the header is there, the adapters must agree with it.
"""

from __future__ import annotations

import argparse
import ctypes
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

CANARY = 0xA5A5_A5A5_DEAD_BEEF
API_VERSION = 12  # 0.12
MOST = 512


class LayoutError(Exception):
    """A layout that cannot be read or made. The message is one line."""


@dataclass(frozen=True)
class Build:
    file: str
    hash: int  # FNV-1a of the file's bytes, 64 bits


@dataclass
class Layout:
    entries: list[str] = field(default_factory=list)  # names of functions; "-": nothing names the entry
    parts: list[tuple[str, int]] = field(
        default_factory=list
    )  # the function that fills this part, entries in it
    builds: list[Build] = field(default_factory=list)


def read_layout(path: Path) -> Layout:
    """Read a file of `layouts/`. Raises `LayoutError`."""
    layout = Layout()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "build" and len(words) == 3:
            layout.builds.append(Build(words[1], int(words[2], 16)))
        elif words[0] == "table" and len(words) == 2:
            layout.parts.append((words[1], 0))
        elif len(words) == 1 and re.fullmatch(r"-|ur[A-Z]\w+", words[0]) and layout.parts:
            part, count = layout.parts[-1]
            layout.parts[-1] = (part, count + 1)
            layout.entries.append(words[0])
        else:
            raise LayoutError(f"{path}:{number}: not understood: {line}")
    if not layout.entries or layout.entries[0] != "urAdapterGet":
        raise LayoutError(f"{path}: the first entry is not urAdapterGet")
    return layout


def hash_of(path: Path) -> int:
    value = 0xCBF2_9CE4_8422_2325
    for byte in path.read_bytes():
        value = (value ^ byte) * 0x100_0000_01B3 & 0xFFFF_FFFF_FFFF_FFFF
    return value


class Adapter:
    """A loaded adapter, its symbols by address, and its tables."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.library = ctypes.CDLL(str(path))
        listed = subprocess.run(["nm", "-C", str(path)], check=True, capture_output=True, text=True).stdout
        symbols = [line.split(" ", 2) for line in listed.splitlines() if re.match(r"[0-9a-f]+ \w ", line)]
        self.symbols = {int(address, 16): text for address, _, text in symbols}
        exported = next(a for a, text in self.symbols.items() if text.startswith("urGetAdapterProcAddrTable"))
        at = ctypes.cast(self.library.urGetAdapterProcAddrTable, ctypes.c_void_p).value or 0
        self.base = at - exported

    def name(self, pointer: int) -> str:
        text = self.symbols.get(pointer - self.base, "")
        found = re.search(r"\b(ur[A-Z]\w+)", text.split("(")[0].rpartition("::")[2])
        return found[1] if found else "-"

    def part(self, function: str) -> list[int]:
        table = (ctypes.c_uint64 * MOST)(*([CANARY] * MOST))
        if getattr(self.library, function)(API_VERSION, table):
            raise LayoutError(f"{self.path.name}: {function} refuses version 0.{API_VERSION}")
        last = max((n for n in range(MOST) if table[n] != CANARY), default=-1)
        return [0 if table[n] == CANARY else table[n] for n in range(last + 1)]

    def whole(self) -> list[int]:
        """The adapter's own table, as the first word of each of its handles points at it."""
        getter = next((a for a, t in self.symbols.items() if t.endswith("::ddi_getter::value()")), None)
        size = self._size_of_table()
        if getter is None or not size:
            raise LayoutError(f"{self.path.name}: no symbol tells where its table is")
        at = ctypes.CFUNCTYPE(ctypes.c_void_p)(self.base + getter)()
        return list((ctypes.c_uint64 * (size // 8)).from_address(at))

    def _size_of_table(self) -> int:
        listed = subprocess.run(
            ["nm", "-SC", str(self.path)], check=True, capture_output=True, text=True
        ).stdout
        found = re.search(r"^\w+ (\w+) \w .*::ddi_getter::value\(\)::table$", listed, re.M)
        return int(found[1], 16) if found else 0


def make_layout(paths: list[Path], header: Path | None) -> Layout:
    """The layout that all these adapters share. Raises `LayoutError` where they disagree."""
    adapters = [Adapter(path) for path in paths]
    tables = [adapter.whole() for adapter in adapters]
    if len({len(table) for table in tables}) != 1:
        raise LayoutError("the adapters' tables differ in length")
    layout = Layout()
    for entries in zip(*tables, strict=True):
        names = {a.name(pointer) for a, pointer in zip(adapters, entries, strict=True) if pointer}
        if len(names) > 1:
            raise LayoutError(f"entry {len(layout.entries)}: {' '.join(sorted(names))}")
        layout.entries.append(names.pop() if names else "-")
    layout.parts = _parts(adapters, tables)
    if header and layout.entries != (wanted := names_in_header(header)):
        first = next(
            n for n, pair in enumerate(zip(layout.entries, wanted, strict=False)) if pair[0] != pair[1]
        )
        raise LayoutError(
            f"{header}: entry {first} is {wanted[first]}, in the adapters {layout.entries[first]}"
        )
    layout.builds = [Build(path.name, hash_of(path)) for path in paths]
    return layout


def _parts(adapters: list[Adapter], tables: list[list[int]]) -> list[tuple[str, int]]:
    """Where in the whole table each part lies: where the pointers of one adapter are found in a row."""
    starts: dict[int, tuple[str, int]] = {}
    for adapter, table in zip(adapters, tables, strict=True):
        functions = {t for t in adapter.symbols.values() if re.fullmatch(r"urGet\w+ProcAddrTable", t)}
        for function in functions:
            part = adapter.part(function)
            places = [
                n for n in range(len(table) - len(part) + 1) if part and table[n : n + len(part)] == part
            ]
            if len(places) == 1 and len(part) >= starts.get(places[0], ("", 0))[1]:
                starts[places[0]] = (function, len(part))
    parts, at = [], 0
    for start in sorted(starts):
        if start != at:
            parts.append(("-", start - at))
        parts.append(starts[start])
        at = start + starts[start][1]
    if at < len(tables[0]):
        parts.append(("-", len(tables[0]) - at))
    return parts


def names_in_header(path: Path) -> list[str]:
    """The entries of `ur_dditable_t`, part after part."""
    text = path.read_text(encoding="utf-8")
    structs = dict(re.findall(r"typedef struct (ur_\w*dditable_t) \{(.*?)\}", text, re.S))
    order = re.findall(r"(ur_\w+_dditable_t) \w+;", structs["ur_dditable_t"])
    return [f"ur{name}" for part in order for name in re.findall(r"ur_pfn(\w+)_t\s+pfn\w+;", structs[part])]


def written(layout: Layout) -> str:
    lines = [
        "# The function table of the adapters of one release. Made by shim/ur/layout.py, which asked the adapters.",
        "# build: file, FNV-1a of its bytes. table: what fills these entries. -: an entry that nothing names.",
    ]
    lines += [f"build {build.file} {build.hash:016x}" for build in layout.builds]
    at = 0
    for part, count in layout.parts:
        lines += [f"table {part}", *layout.entries[at : at + count]]
        at += count
    return "\n".join([*lines, ""])


def main() -> int:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("adapter", nargs="+", type=Path)
    arguments.add_argument("--header", type=Path)
    given = arguments.parse_args()
    try:
        print(written(make_layout(given.adapter, given.header)), end="")
    except (LayoutError, OSError, subprocess.CalledProcessError) as error:
        print(f"layout: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
