"""Prototypes of releases whose headers are not installed, as what differs from those that are.

    prototypes.py ur_api.h NAME=HEADER...

Prints a file of `prototypes/`: the calls of the first header whose prototypes none of the others has.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from headers import CONSTANTS, Function, Header, Parameter, read_header
from pycparser.plyparser import ParseError


class PrototypeError(Exception):
    """A file of prototypes that cannot be read. The message is one line."""


def read_prototypes(path: Path, headers: dict[str, Header]) -> Header:
    """The calls of a release: those of the headers it is like, the first first, but for what its file says.

    Raises `PrototypeError`.
    """
    functions: dict[str, Function] = {}
    constants: dict[str, int] = {}
    structs: dict[str, tuple[tuple[str, str], ...]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            if words[0] == "like":
                for like in (headers[name] for name in words[1:]):
                    functions = like.functions | functions
                    constants = like.constants | constants
                    structs = like.structs | structs
            else:
                functions[words[0]] = Function(words[0], tuple(map(_parameter, words[1:])))
        except (KeyError, ValueError):
            raise PrototypeError(f"{path}:{number}: not understood: {line}") from None
    return Header(functions, constants, structs)


def _parameter(word: str) -> Parameter:
    spelled, reduced, name = (part.replace("~", " ") for part in word.split("|"))
    return Parameter(name, spelled, reduced)


def written(header: Header, bases: dict[str, Header]) -> str:
    lines = [
        "# What differs in this release. Made by shim/ur/prototypes.py.",
        "# A call, and of each parameter the type, what the calling convention knows of it, and the name; ~ is a blank.",
        f"like {' '.join(bases)}",
    ]
    for name, function in sorted(header.functions.items()):
        first = next((b.functions[name] for b in bases.values() if name in b.functions), None)
        if first is None or first.reduced() != function.reduced():
            words = (f"{p.spelled}|{p.reduced}|{p.name}".replace(" ", "~") for p in function.parameters)
            lines.append(" ".join([name, *words]))
    return "\n".join([*lines, ""])


def main() -> int:
    try:
        header = read_header(Path(sys.argv[1]))
        bases = {name: read_header(Path(path)) for name, _, path in (a.partition("=") for a in sys.argv[2:])}
        for constant in CONSTANTS:
            if {h.constants.get(constant) for h in bases.values()} != {header.constants.get(constant)}:
                raise ValueError(f"{sys.argv[1]}: {constant} has another value")
    except (OSError, ParseError, ValueError, subprocess.CalledProcessError) as error:
        print(f"prototypes: {error}", file=sys.stderr)
        return 2
    print(written(header, bases), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
