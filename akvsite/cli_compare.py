"""The command that sets two runs side by side."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from akvsite.errors import BadInput
from akvsite.terminal import STORE, AsJson, StoreFile, as_json, reading, run_named, say, table
from akvsite.wording import number_of

if TYPE_CHECKING:
    from akvsite.estimate import Estimate
    from akvsite.pages._compare import Compared
    from akvsite.pages._compare_facts import Difference
    from akvsite.pages._compare_form import Part

EXAMPLE = (
    "Example: akvsite compare h200-decode-off-a0 h200-decode-off-b0"
    " · akvsite compare runner-h200-device runner-h200-graphs --csv difference.csv"
    " · akvsite compare --last-same-load my-candidate"
)
#: Lines of a part that a terminal shows; --csv and --json have all.
SHOWN = 4


def compare(
    a: Annotated[str, typer.Argument(help="Name of a run.")],
    b: Annotated[str | None, typer.Argument(help="Name of another run.")] = None,
    last_same_load: Annotated[
        bool,
        typer.Option(
            "--last-same-load",
            help="Against the last run before it of the same host, level, engine and workload under the same load.",
        ),
    ] = False,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            help="Write every number of every part to this file, and their words beside it to NAME-words; earlier ones are replaced.",
        ),
    ] = None,
    store: StoreFile = STORE,
    json: AsJson = False,
) -> None:
    """Two runs side by side: what differs before any number, then every part with the differences and their bands."""
    from akvsite.desk import SiteDesk
    from akvsite.pages import _compare, _compare_shown
    from akvsite.pages._stamps import withdrawn

    if (b is None) != last_same_load:
        raise BadInput("RUN", "two names of runs, or one name and --last-same-load")
    if a == b:
        raise BadInput(a, "is the same run twice: a comparison is of two runs")
    if csv is not None:
        files = _files(csv)
    with reading(store) as opened:
        desk = SiteDesk(opened)
        if b is None:
            # The candidate is B, and what was there before it A.
            a, b = _last_same_load(desk, a), a
        members = [
            {"side": side, "place": 0, "run": name, "run_id": run_named(desk, name)["run_id"]}
            for side, name in (("A", a), ("B", b))
        ]
        found = _compare.compare(desk, members, (a, b), "two runs")
        stamped = [f"{name}: {line}" for name in (a, b) for line in withdrawn(desk, "run", name)]
    if csv is not None:
        _write(dict(zip(files, _compare_shown.csv_texts(found, stamped), strict=True)))
    if json:
        as_json(_document(found, stamped, a, b))
        return
    _print(found, stamped, a, b)
    if csv is not None:
        say(f"{csv}: {number_of(sum(len(part.lines) for part in found.parts), 'row')} (counted)")
        say(f"{files[1]}: what the columns named words stand for")


def _numbers(found: Compared) -> list[tuple[str, str, Any]]:
    """Statistics of step time: statistic, of what, number. None of a difference where none is formed."""
    from akvsite.pages._compare import STATISTICS

    sides = {run.side: run.numbers for run in found.runs}
    return [
        (name, key, made[name])
        for name in STATISTICS
        for key, made in (
            ("A", sides.get("A", {})),
            ("B", sides.get("B", {})),
            ("B minus A", found.difference),
            ("B over A", found.ratio),
        )
        if name in made
    ]


def _document(found: Compared, stamped: list[str], a: str, b: str) -> dict[str, Any]:
    from akvsite.pages import _compare_shown

    facts = found.under("outputs", "contract", "capture")
    return {
        "use": found.use,
        "retractions": stamped,
        "left_out": found.left_out,
        "refusal": found.refusal,
        "runs": {"A": a, "B": b},
        "load": {
            "same": found.loads.same,
            "because": found.loads.because,
            "tolerance": found.loads.tolerance,
            "fingerprints": found.loads.fingerprints,
        },
        "noise_floor": found.noise,
        "differences": [{"under": f.under, **_sides(f)} for f in facts if f.known],
        "not_stated_by_every_run": [{"under": f.under, **_sides(f)} for f in facts if not f.known],
        "of_each_run_alone": [{"under": f.under, **_sides(f)} for f in found.under("load", "own")],
        "numbers": [{"statistic": name, "of": key, **e.as_row()} for name, key, e in _numbers(found)],
        "parts": [_compare_shown.as_json(part) for part in found.parts],
    }


def _said(of: str, number: Estimate) -> str:
    """A number; what is formed of both sides says where it stands that it is no statement of speed."""
    from akvsite.pages._compare_form import no_speed

    said = no_speed(number.use) if of.startswith("B ") else ""
    return f"{number.text()}; {said}" if said else number.text()


def _sides(fact: Difference) -> dict[str, str | None]:
    """A fact of both sides; None where no run of a side states it."""
    sides = {side: fact.written(side) if fact.stated(side) else None for side in ("A", "B")}
    return {"part": fact.part, "key": fact.key, **sides}


def _print_facts(found: Compared) -> None:
    """What is not the same, what is not stated by all, and how much more a run states of itself alone."""
    facts = found.under("outputs", "contract", "capture")
    for said, rows in (
        ("Not the same in all runs, as the captures state it:", [f for f in facts if f.known]),
        ("Not stated by every run (whether it differs is unknown):", [f for f in facts if not f.known]),
    ):
        if rows:
            say(said)
            table([{"part": f.part, "fact": f.key, "A": f.written("A"), "B": f.written("B")} for f in rows])
    if not facts:
        say("Of contract, host, software and capture, nothing that the captures state differs.")
    if own := found.under("own", "load"):
        say(
            f"{number_of(len(own), 'more fact')} that a run measured or read of itself (durations, loads): akvsite show RUN"
        )


def _print(found: Compared, stamped: list[str], a: str, b: str) -> None:
    for line in stamped:
        say(line)
    if found.outputs:
        say("The outputs differ.")
    say(f"A: {a}; B: {b}")
    say(f"Use: {found.use}")
    for name, why in found.left_out.items():
        say(f"{name} is left out: {why}")
    say(f"Load before the runs: {found.loads.words}")
    for name, words in found.loads.fingerprints.items():
        say(f"  {name}: {words}")
    say(found.noise)
    if found.refusal:
        say(f"No difference is formed: {found.refusal}")
    _print_facts(found)
    say()
    for name, key, number in _numbers(found):
        say(f"{name:5} {key:10} {_said(key, number)}")
        say(f"{'':16} {number.footer()}")
    for part in found.parts:
        if part.name != "steps":
            _print_part(part, found.apart)


def _print_part(part: Part, apart: str) -> None:
    from akvsite.pages import _compare_shown

    say()
    if part.absent:
        say(f"{part.title}: not compared: {part.absent}")
        return
    say(f"{part.title}:")
    for note in part.notes:
        say(f"  {note}")
    if part.refusal and not apart:
        say(f"  No difference is formed: {part.refusal}")
    shown = _compare_shown.first(part, SHOWN)
    for line in shown:
        say(f"  {line.name[:100]}, {line.statistic}" + (f" ({line.state})" if line.state else ""))
        for of, number in _compare_shown.numbers_of(line).items():
            if number.value is not None or of in ("A", "B"):
                say(f"    {of:10} {_said(of, number)}")
    if len(shown) < len(part.lines):
        say(
            f"  and {number_of(len(part.lines) - len(shown), 'more row')} (counted): --csv FILE or --json has all"
        )


def _last_same_load(desk: Any, name: str) -> str:
    """The last run before this one that was made under the same load."""
    run = run_named(desk, name)
    rows = desk.ask("last_same_load", run_id=run["run_id"])
    if not rows:
        tolerance = desk.ask("threshold")[0]["tolerance"]
        raise BadInput(
            name,
            "of no run before it, on its host, of its level, engine and workload, is it known that the load was the same"
            f" ({tolerance})",
        )
    return str(rows[0]["other"])


def _files(rows: Path) -> tuple[Path, Path]:
    """The two files, before anything is computed. Only what an earlier comparison wrote is replaced."""
    from akvsite.pages._compare_shown import COLUMNS, WORDS_COLUMNS

    if rows.is_dir():
        raise BadInput(rows, "is not a file")
    files = (rows, rows.with_name(f"{rows.stem}-words{rows.suffix}"))
    for path, columns in zip(files, (COLUMNS, WORDS_COLUMNS), strict=True):
        if not path.parent.is_dir():
            raise BadInput(path, "the folder above it does not exist")
        if not path.exists():
            continue
        if not path.is_file():
            raise BadInput(path, "is not a file")
        begins = ",".join(columns[:3]).encode()
        with path.open("rb") as file:
            if file.read(len(begins)) not in (b"", begins):
                raise BadInput(
                    path, "is no file of a comparison; it is left as it is. Name another with --csv"
                )
    return files


def _write(texts: Mapping[Path, str]) -> None:
    """The files whole, or not at all: every one of them is written before any takes its place."""
    halves: dict[Path, Path] = {}
    try:
        for path, text in texts.items():
            handle, half = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.resolve().parent)
            halves[path] = Path(half)
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            halves[path].chmod(0o644)
        for path, written in halves.items():
            written.replace(path)
    except OSError as error:
        raise BadInput(path, f"cannot be written: {error.strerror}") from error
    finally:
        for half_written in halves.values():
            half_written.unlink(missing_ok=True)
