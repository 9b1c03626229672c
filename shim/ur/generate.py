"""Write the wrappers of all Unified Runtime calls from the headers of the runtimes that are to be served.

    generate.py OUT NAME=HEADER... [--without FUNCTION]
    generate.py --list NAME=HEADER...

OUT gets `names.h` (ids of calls, constants), `wrappers.inc` (included once for each way in), `stubs.S` (calls that can
only be counted), `layouts.inc` (orders of the adapters' tables) and `exports.map`. `--list` prints what is recorded of
each call. An error is one line and exit 2.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from headers import CONSTANTS, Function, Header, read_header
from layout import LayoutError, read_layout
from prototypes import PrototypeError, read_prototypes
from pycparser.plyparser import ParseError
from roles import AFTER, BEFORE, Roles, roles

WAYS = 5  # exported symbols, and the tables of four adapters

MADE = "/* Made by shim/ur/generate.py. */\n"


class Calls:
    """The union of several headers. A call may have another prototype in each release, and has a wrapper for each."""

    def __init__(self, headers: dict[str, Header], layouts: list[list[str]], without: set[str]) -> None:
        self.headers = headers
        self.versions: dict[str, list[Function]] = {}  # different prototypes, in the order of the headers
        self.wrappers: dict[str, dict[str, str]] = {}  # by release and name of the call
        for release, header in headers.items():
            self.wrappers[release] = {}
            for name, function in header.functions.items():
                if name in without:
                    continue
                versions = self.versions.setdefault(name, [])
                same = next(
                    (n for n, v in enumerate(versions) if v.reduced() == function.reduced()), len(versions)
                )
                if same == len(versions):
                    versions.append(function)
                self.wrappers[release][name] = f"wrap_{name}_{same}"
        listed = {name for names in layouts for name in names if name != "-"} | without
        self.counted = sorted(listed - self.versions.keys())
        self.names = sorted(self.versions.keys() | set(self.counted))

    def constants(self) -> dict[str, int]:
        found = {}
        for name in CONSTANTS:
            values = {header.constants.get(name) for header in self.headers.values()}
            if len(values) != 1 or None in values:
                raise SystemExit(f"generate: {name} is not the same in all headers")
            found[name] = int(next(v for v in values if v is not None))
        return found

    def structs(self) -> dict[str, tuple[tuple[str, str], ...]]:
        found: dict[str, tuple[tuple[str, str], ...]] = {}
        for header in self.headers.values():
            for name, fields in header.structs.items():
                if found.setdefault(name, fields) != fields:
                    raise SystemExit(f"generate: struct {name} is not the same in all headers")
        return found


def wrapper(function: Function, what: Roles, version: int) -> Iterator[str]:
    """One wrapper, in C; wrap.c has the macros. Its own variables end in an underscore: no parameter's name does."""
    name = function.name
    declared = ", ".join(f"{p.reduced} {p.name}".replace("* ", "*") for p in function.parameters)
    passed = ", ".join(p.name for p in function.parameters)
    types = ", ".join(p.reduced for p in function.parameters) or "void"
    yield f"static int32_t wrap_{name}_{version}({declared or 'void'}) {{"
    yield f"  int32_t (*real_)({types}) = REAL({name});"
    rooms = []
    if what.waits:
        count, events = what.waits
        yield f"  size_t waits_ = {events} ? {count} : 0;"
        rooms.append("akv_room(waits_)")
    if what.work:
        rooms.append("1")
    if what.addresses:
        rooms.append("1")
    yield f"  unsigned flags_ = {f'{what.blocking} ? AKV_BLOCKING : 0' if what.blocking else '0'};"
    # Before the time of entry: what is done here is not the call's.
    if hook := BEFORE.get(name):
        yield f"  {hook}"
    yield f"  struct akv_call call_ = akv_enter(N_{name}, {' + '.join(rooms) or '0'});"
    yield from fill(what)
    if what.timed:
        yield "  uint64_t asked_ = 0;"
        yield f"  if (ur_timing_on() && !{what.event} && ur_ask(&call_, &flags_)) {what.event} = &asked_;"
    yield f"  int32_t result_ = real_({passed});"
    yield from after_call(function, what)
    yield "  return result_;"
    yield "}"
    yield ""


def fill(what: Roles) -> Iterator[str]:
    fields = {"queue": what.queue, "object": what.object, "bytes": what.bytes and f"({what.bytes})"}
    lines = [f"    call_.slot->{field} = (uint64_t){value};" for field, value in fields.items() if value]
    if lines:
        yield from ("  if (call_.slot) {", *lines, "  }")
    if what.waits:
        yield f"  akv_words(&call_, AKV_WAITS, (const uint64_t *){what.waits[1]}, waits_);"
    if what.work:
        yield f"  ur_work(&call_, {', '.join(what.work)});"
    if what.addresses:
        destination, source = what.addresses
        yield f"  const uint64_t addresses_[] = {{(uint64_t){destination}, (uint64_t){source}}};"
        yield "  akv_words(&call_, AKV_ADDRESSES, addresses_, 2);"


def after_call(function: Function, what: Roles) -> Iterator[str]:
    if what.made:
        yield f"  if (call_.slot && !result_ && {what.made}) call_.slot->object = *(uint64_t *){what.made};"
    event = "0"
    if what.event:
        yield f"  uint64_t event_ = {what.event} && !result_ ? *(uint64_t *){what.event} : 0;"
        event = "event_"
    yield f"  akv_exit(&call_, result_, {event}, flags_);"
    if what.timed:
        yield f"  if (ur_timing_on()) ur_watch(WAY, &call_, (uint64_t){what.queue}, event_, flags_);"
    if what.waits_on_host:
        yield "  if (ur_timing_on()) ur_waited();"
    if hook := AFTER.get(function.name):
        yield f"  if (!result_) {{ {hook} }}"


def names_h(calls: Calls, headers: str) -> str:
    lines = [
        MADE,
        "#ifndef UR_NAMES_H",
        "#define UR_NAMES_H",
        f'#define UR_HEADERS "{headers}"',
        "#define UR_RELEASES " + str(len(headers.split())),
        "#define UR_RELEASE_TEXTS " + ", ".join(f'"{name}"' for name in headers.split()),
        f"#define UR_WAYS {WAYS}",
        "enum ur_name {",
    ]
    lines += [f"  N_{name}," for name in calls.names]
    lines += ["  UR_NAMES", "};"]
    lines += [f"#define {name} {value:#x}u" for name, value in calls.constants().items()]
    for name, fields in calls.structs().items():
        lines.append(f"struct {name} {{ " + " ".join(f"{kind} {field};" for kind, field in fields) + " };")
    names = ", ".join(f'"{name}"' for name in calls.names)
    return "\n".join([*lines, f"#define UR_NAME_TEXTS {names}", "#endif", ""])


def wrappers_inc(calls: Calls) -> str:
    lines = [MADE]
    for versions in calls.versions.values():
        for version, function in enumerate(versions):
            lines += wrapper(function, roles(function), version)
    lines += [f"extern char UR_PASTE(ur_stub_, WAY, _{name})[];" for name in calls.names]
    lines.append("void *const WRAPPERS[UR_RELEASES][UR_NAMES] = {")
    for release in calls.headers:
        lines.append(f"  {{ /* {release} */")
        for name in calls.names:
            made = calls.wrappers[release].get(name)
            lines.append(f"    [N_{name}] = {made or f'UR_PASTE(ur_stub_, WAY, _{name})'},")
        lines.append("  },")
    return "\n".join([*lines, "};", ""])


def stubs_s(calls: Calls) -> str:
    """The exported symbols, what finds out where they lead, and stubs that count a call of which nothing is known."""
    lines = ['#include "stub.h"', "\t.text", "ASK(ur_find_out, ur_first, 0)"]
    lines += [f"ASK(ur_count_{way}, ur_counted, {way})" for way in range(WAYS)]
    for number, name in enumerate(calls.names):
        lines += [
            f"JUMP({name}, {number})",
            f"STUB(ur_first_{name}, {number}, ur_find_out)",
            *(f"STUB(ur_stub_{way}_{name}, {number}, ur_count_{way})" for way in range(WAYS)),
        ]
    for table, prefix in (("ur_entry", "ur_first_"), ("ur_stubs", "ur_stub_0_")):
        lines += ["\t.data", f"\t.globl {table}", f"\t.hidden {table}", "\t.p2align 3", f"{table}:"]
        lines += [f"\t.quad {prefix}{name}" for name in calls.names]
    return "\n".join([*lines, '\t.section .note.GNU-stack,"",@progbits', ""])


def layouts_inc(folder: Path, releases: list[str]) -> str:
    lines, table = [MADE], []
    for number, path in enumerate(sorted(folder.glob("*.txt"))):
        if path.stem not in releases:
            raise LayoutError(f"{path}: no header of release {path.stem} was given")
        layout = read_layout(path)
        entries = ", ".join("-1" if name == "-" else f"N_{name}" for name in layout.entries)
        parts = ", ".join(f'{{"{part}", {count}}}' for part, count in layout.parts)
        builds = ", ".join(f'{{"{build.file}", {build.hash:#018x}}}' for build in layout.builds)
        lines += [
            f"static const int16_t entries_{number}[] = {{{entries}}};",
            f"static const struct ur_part parts_{number}[] = {{{parts}}};",
            f"static const struct ur_build builds_{number}[] = {{{builds}}};",
        ]
        table.append(
            f"  {{{releases.index(path.stem)}, {len(layout.entries)}, {len(layout.parts)}, {len(layout.builds)}, "
            f"entries_{number}, parts_{number}, builds_{number}}},"
        )
    return "\n".join([*lines, "static const struct ur_layout layouts[] = {", *table, "};", ""])


def listed(calls: Calls) -> Iterator[str]:
    """A line for each call and prototype: its parameters by role."""
    for name in calls.names:
        for version, function in enumerate(calls.versions.get(name, ())):
            releases = [r for r, made in calls.wrappers.items() if made.get(name) == f"wrap_{name}_{version}"]
            words = [name, *(() if len(releases) == len(calls.headers) else (f"in={','.join(releases)}",))]
            for role, value in vars(roles(function)).items():
                if isinstance(value, tuple):
                    words.append(f"{role}={','.join(value)}")
                elif value:
                    words.append(role if value is True else f"{role}={value.replace(' ', '')}")
            yield " ".join(words)
    yield from (f"{name} counted" for name in calls.counted)


def main() -> int:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("out", help="a folder")
    arguments.add_argument("header", nargs="*", metavar="NAME=HEADER")
    arguments.add_argument(
        "--list", action="store_true", help="print what is recorded of each call; OUT is left out"
    )
    arguments.add_argument(
        "--without", action="append", default=[], help="a call to treat as one without a prototype"
    )
    given = arguments.parse_args()
    out = Path(given.out)
    if given.list:
        given.header.insert(0, given.out)
    folder = Path(__file__).parent / "layouts"
    try:
        headers = {}
        for name, _, path in (text.partition("=") for text in given.header):
            headers[name] = read_header(Path(path))
        for path in sorted((folder.parent / "prototypes").glob("*.txt")):
            headers[path.stem] = read_prototypes(path, headers)
        layouts = [read_layout(path).entries for path in sorted(folder.glob("*.txt"))]
        calls = Calls(headers, layouts, set(given.without))
        if given.list:
            print("\n".join(listed(calls)))
            return 0
        files = {
            "names.h": names_h(calls, " ".join(headers)),
            "wrappers.inc": wrappers_inc(calls),
            "stubs.S": stubs_s(calls),
            "layouts.inc": layouts_inc(folder, list(headers)),
            # Nothing else leaves the library. Without a version name, so that it stands for symbols of any version.
            "exports.map": "{ global: dlsym; "
            + " ".join(f"{name};" for name in calls.names)
            + " local: *; };\n",
        }
    except (
        OSError,
        LayoutError,
        PrototypeError,
        ParseError,
        ValueError,
        subprocess.CalledProcessError,
    ) as error:
        print(f"generate: {error}", file=sys.stderr)
        return 2
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (out / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
