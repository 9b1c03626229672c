"""The reference engine as those know it who run it: a capture and an experiment state its workload alike.

What a chart of one may say about the other rests on that: see ``akvsite/questions/looking_control.sql``.
"""

from __future__ import annotations

from collections.abc import Sequence

MODULE = "akvsite.runner"
#: What stands in the column ``engine``.
ENGINE = "akvsite reference engine"

#: What the engine is where it is not asked to be another; a test holds it against the engine's own words.
DEFAULTS = {"backend": "torch", "device": "cpu", "model": "tiny"}
#: Options that change nothing that a step does: what is written where, and by which port.
_ASIDE = frozenset({"--result", "--json", "--port"})


def arguments_of(command: Sequence[str]) -> list[str] | None:
    """The engine's own arguments in ``python -m akvsite.runner ...``; None where the command is another one.

    >>> arguments_of(["python3", "-X", "dev", "-m", "akvsite.runner", "--model", "tiny"])
    ['--model', 'tiny']
    """
    for at, word in enumerate(command[:-1]):
        if word == "-m":
            return list(command[at + 2 :]) if command[at + 1] == MODULE else None
    return None


def workload(arguments: Sequence[str]) -> dict[str, str]:
    """What the arguments say, by option without its dashes; an option without a value is ``yes``.

    >>> workload(["--backend", "sycl", "--layers=2", "--int8", "--result", "/tmp/r.json"])
    {'backend': 'sycl', 'device': 'cpu', 'model': 'tiny', 'layers': '2', 'int8': 'yes'}
    """
    made = dict(DEFAULTS)
    words = list(arguments)
    while words:
        option, equals, value = words.pop(0).partition("=")
        if not option.startswith("--") or len(option) < 3:
            continue
        if not equals:
            value = words.pop(0) if words and not words[0].startswith("--") else "yes"
        if option not in _ASIDE:
            made[option[2:].replace("-", "_")] = value
    return made
