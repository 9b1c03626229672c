"""The command that hands a run's rows to other tools."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from akvsite.errors import BadInput
from akvsite.terminal import STORE, AsJson, StoreFile, as_json, clear, progress, reading, run_named, say

if TYPE_CHECKING:
    from akvsite.exports import Steps
    from akvsite.store import Store

EXAMPLE = (
    "Example: akvsite export runner-sycl-edge --format perfetto --step 100"
    " · akvsite export runner-sycl-edge --format parquet --out rows"
)


def export(
    run: Annotated[str, typer.Argument(help="Name of a run.")],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="perfetto: one file for ui.perfetto.dev; parquet or csv: a folder with a file for each kind of rows.",
        ),
    ],
    step: Annotated[int | None, typer.Option("--step", help="One step, by its number.")] = None,
    steps: Annotated[
        str | None, typer.Option("--steps", metavar="A:B", help="Steps by their numbers, both counted.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="What to write; named after the run where not given.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an export that is there.")] = False,
    store: StoreFile = STORE,
    json: AsJson = False,
) -> None:
    """Write the rows of a run, or of some of its steps, for another tool. It is there whole or not at all.

    Of some steps are the calls that began in them, the device records of those calls, and the whole lives of the tokens that
    they made. An export of a run that was looked at says nothing about speed, as its pages do.
    """
    from akvsite import exports
    from akvsite.pages._html import number_of

    if form not in exports.FORMATS:
        raise BadInput("--format", f"{form!r}; one of {', '.join(exports.FORMATS)}")
    chosen = _steps(step, steps)
    part = "" if chosen is None else f"-steps-{chosen.first}-{chosen.last}"
    target = out or Path(f"{run}{part}{exports.FORMATS[form].ENDING}")
    with reading(store) as opened:
        run_id, about = _about(opened, run)
        if chosen is not None:
            about["steps"] = f"{chosen.first} to {chosen.last}"
        source = exports.Source(opened, run_id, about, chosen)
        written = exports.write(source, form, target, replace=replace, progress=progress)
    clear()
    if json:
        as_json({"out": str(target), "format": form, "rows": written, **about})
        return
    rows = ", ".join(number_of(count, name[:-1], name) for name, count in written.items() if count)
    say(f"{target}: {rows or 'no rows'} (counted)")
    say(f"  {about['use']}: {about['because']}")
    for line in about["retractions"]:
        say(f"  {line}")
    say(f"  next: {exports.FORMATS[form].NEXT}")


def _steps(step: int | None, steps: str | None) -> Steps | None:
    from akvsite.exports import Steps

    if step is not None and steps is not None:
        raise BadInput("--step and --steps", "are both given: one step, or the first and the last one")
    if step is not None:
        if not 0 <= step < 10**18:
            raise BadInput("--step", f"{step}: a step's number has 1 to 18 digits")
        return Steps(step, step)
    if steps is None:
        return None
    found = re.fullmatch(r"(\d{1,18}):(\d{1,18})", steps)
    if found is None or int(found[1]) > int(found[2]):
        raise BadInput("--steps", f"{steps!r}: A:B, two numbers of steps, the lower one first")
    return Steps(int(found[1]), int(found[2]))


def _about(opened: Store, name: str) -> tuple[int, dict[str, Any]]:
    """The run's row id, and what every export says of it."""
    from akvsite.desk import SiteDesk
    from akvsite.pages._run import load

    desk = SiteDesk(opened)
    listed = run_named(desk, name)
    run = load(desk, listed)
    return run.id, {
        "run": run.name, "level": run.level, "host": listed["host"], "role": listed["role"], "use": run.use,
        "because": run.use_because, "clock": run.clock_line, "device records seen": run.seen() or "none",
        "warm_up_steps": run.warm_up_steps, "links": "an association of two records, never a cause",
        "retractions": list(run.withdrawn),
    }  # fmt: skip
