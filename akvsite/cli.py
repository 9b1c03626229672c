"""The command line: thin, and the only place where an error becomes an exit code.

Exit codes: 0 done, 2 the input cannot be used (one line on standard error says why), 130 interrupted, 143 told
to stop.
"""

from __future__ import annotations

import gc
import io
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from akvsite import __version__, cli_claims, cli_compare, cli_export
from akvsite.errors import BadInput, visible
from akvsite.terminal import (
    STORE,
    AsJson,
    StoreFile,
    as_json,
    clear,
    progress,
    reading,
    run_named,
    say,
    table,
    tell,
)
from akvsite.wording import number_of

if TYPE_CHECKING:
    from akvsite.ingest import Outcome

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Read captures of LLM decode engines, and build a site that a team can review.",
)

app.add_typer(cli_claims.claim, name="claim")
app.command(epilog=cli_claims.RETRACT)(cli_claims.retract)
app.command(epilog=cli_compare.EXAMPLE)(cli_compare.compare)
app.command(epilog=cli_export.EXAMPLE)(cli_export.export)
INTERRUPTED = 130
TOLD_TO_STOP = 143

#: The environment as it came: what this program sets for itself is not for the commands that it runs.
_INHERITED: dict[str, str] = {}


class _ToldToStop(BaseException):
    """SIGTERM: an end as orderly as an interrupt's, which no handler of errors takes for an error."""


def _stop_in_order(*_: object) -> NoReturn:
    raise _ToldToStop


#: How many new objects let the garbage collector look for cycles. Reading a trace makes millions of objects and hardly
#: a cycle: at Python's own 700 an eighth of an ingest is spent on looking, and memory is the same.
COLLECT_AFTER = 200_000


def main() -> None:
    """Run the command and turn what went wrong into a line and an exit code."""
    if threading.current_thread() is not threading.main_thread():
        _run_command()
        return
    before = signal.signal(signal.SIGTERM, _stop_in_order)
    gc.set_threshold(COLLECT_AFTER, 20, 100)
    try:
        _run_command()
    except _ToldToStop:
        _stop("told to stop; nothing was half written", TOLD_TO_STOP)
    finally:
        signal.signal(signal.SIGTERM, before)


def _run_command() -> None:
    _INHERITED.clear()
    _INHERITED.update(os.environ)
    # Before numpy is loaded: no product here is large enough for threads, and to start them takes a third of its import.
    # And a thread that it makes could take the signals that a capture passes on.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    try:
        # Where a file says something that the terminal cannot show, it is spelled out.
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        # Typer hands back the code of an exit, and of an interrupt, instead of leaving with it.
        code = app(standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code if isinstance(code, int) else 0)
    except BadInput as error:
        _stop(str(error), 2)
    except (typer.Abort, KeyboardInterrupt):
        _stop("interrupted; nothing was half written", INTERRUPTED)
    except BrokenPipeError:
        # The reader of a pipe went away: no error, and nothing more may be written to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise
    except sqlite3.DatabaseError as error:
        _stop(f"the store: {error}", 2)
    except OSError as error:
        _stop(f"{error.filename or 'files'}: {error.strerror or error}", 2)
    except Exception as error:
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):
            _stop(error.format_message(), 2)
        raise


def _stop(line: str, code: int) -> None:
    clear()
    print(f"akvsite: {visible(line)}", file=sys.stderr)
    sys.exit(code)


@app.command(
    epilog="Example: akvsite ingest captures/ · akvsite ingest rank0.json.gz rank1.json.gz --run two-ranks"
)
def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files, capture folders, or folders of captures.")],
    store: StoreFile = STORE,
    run: Annotated[
        str | None, typer.Option("--run", help="Make all files one run of this name, a file a rank.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace runs whose files have changed.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Read captures into the store. The same capture is not read twice."""
    from akvsite import ingest as way
    from akvsite.store import Store

    captures = way.plan(paths, run)
    done: list[dict[str, Any]] = []
    with Store.open(store) as opened:
        # Before the rows, so that a store whose ingest is broken off can be asked.
        way.install_views(opened)
        for outcome in _each_stored(
            way.ingest(opened, captures, replace=replace, progress=progress), len(captures)
        ):
            clear()
            stored = sum(n for (_, fate), n in outcome.counts.items() if fate in way.STORED)
            counted = sum(outcome.counts.values()) - stored - outcome.quarantined
            done.append(
                {
                    "run": outcome.run, "action": outcome.action, "stored": stored, "counted": counted,
                    "quarantined": outcome.quarantined, "truncated": outcome.truncated, "notes": outcome.notes,
                }
            )  # fmt: skip
            if not json:
                said = (
                    outcome.action
                    if outcome.action == "unchanged"
                    else (
                        f"{outcome.action}: {number_of(stored, 'record')} in tables, {counted:,} counted by reason, {outcome.quarantined:,} in quarantine"
                    )
                )
                say(f"{outcome.run}: {said}")
                for name in outcome.truncated:
                    say(f"  {name} was cut short: what came before the cut is stored")
                for note in outcome.notes:
                    say(f"  {note}")
        way.take_statistics(opened)
    if json:
        as_json(done)


def _each_stored(outcomes: Iterator[Outcome], captures: int) -> Iterator[Outcome]:
    """The outcomes; where one of several captures cannot be read, the error says what became of the others."""
    done = 0
    try:
        for outcome in outcomes:
            done += 1
            yield outcome
    except BadInput as error:
        if captures == 1:
            raise
        why = f"{error.why}; of {captures} captures, {done} before it are whole in the store, this one and those after it are not"
        raise BadInput(error.source, why, place=error.place) from error


@app.command(epilog="Example: akvsite build --out site")
def build(
    store: StoreFile = STORE,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the HTML; replaced when the build is done.")
    ] = Path("site"),
    project: Annotated[
        Path, typer.Option("--project", help="Checkout that holds mkdocs.yml and site_src/.")
    ] = Path(),
    captures: Annotated[
        Path,
        typer.Option("--captures", help="Folder with claims/, retractions/, exclusions/ and comparisons/."),
    ] = Path("captures"),
    json: AsJson = False,
) -> None:
    """Write the pages and make the site. `mkdocs serve` shows the same pages and reloads when this runs again."""
    from akvsite import site
    from akvsite.store import Store

    if not store.is_file():
        raise BadInput(store, "no such store; make one with `akvsite ingest PATH`")
    with Store.open(store) as opened:
        built = site.build(opened, project, captures, out, progress, tell)
    clear()
    if json:
        as_json(
            [{"pages": built.pages, "charts": built.charts, "changed_files": built.changed, "out": str(out)}]
        )
    else:
        say(f"{built.pages} pages, {built.charts} charts in {out}/ ({built.changed} files changed)")


@app.command(epilog="Example: akvsite runs --json")
def runs(store: StoreFile = STORE, json: AsJson = False) -> None:
    """The runs in the store, and what each holds."""
    from akvsite.desk import SiteDesk
    from akvsite.pages._stamps import stamped_runs

    with reading(store) as opened:
        desk = SiteDesk(opened)
        under = stamped_runs(desk)
        rows = [
            row | {"retractions": ", ".join(under.get(row["name"], ())) or None}
            for row in desk.ask("run_list", order="name")
        ]
    if json:
        as_json(rows)
    else:
        keep = (
            "name",
            "level",
            "host",
            "role",
            "use",
            "steps",
            "requests",
            "intervals",
            "calls",
            "trials",
            "quarantined",
            *(["retractions"] if under else []),
        )
        table([{k: row[k] for k in keep} for row in rows])


@app.command(epilog="Example: akvsite show h200-kv-prefetch-device")
def show(
    run: Annotated[str, typer.Argument(help="Name of a run.")], store: StoreFile = STORE, json: AsJson = False
) -> None:
    """One run: what it may be used for, what was seen, its facts, and its step times with their bands."""
    from akvsite.desk import SiteDesk
    from akvsite.pages._run import load, step_numbers

    with reading(store) as opened:
        desk = SiteDesk(opened)
        found = load(desk, run_named(desk, run))
        facts = desk.ask("fact_list", run_id=found.id, order="part,key")
        account = desk.ask("record_account", run_id=found.id, order="path,fate,what")
        numbers = {f"{name}, {label}": number for label, made in step_numbers(found) for name, number in made}
    if json:
        as_json(
            {
                "run": found.listed, "because": found.use_because, "retracted": list(found.withdrawn), "seen": list(found.coverage), "facts": facts,
                "records": account, "numbers": {k: v.as_row() for k, v in numbers.items()},
            }
        )  # fmt: skip
        return
    host = f"{found.listed['host']} ({found.listed['role']})" if found.listed["host"] else "no host stated"
    say(f"{found.name}: level {found.level}, host {host}: {found.use} ({found.use_because})")
    for line in found.withdrawn:
        say(line)
    say(f"seen: {found.seen() or 'no device records and no calls'}")
    for name, number in numbers.items():
        say(number.text(name))
        say(f"  {number.footer()}")
    say()
    table([{k: f[k] for k in ("part", "key", "value")} for f in facts])
    say()
    table([{k: r[k] for k in ("path", "what", "fate", "count")} for r in account])


@app.command(epilog='Example: akvsite exclude h200-decode-off-a3 --because "another job ran on the card"')
def exclude(
    run: Annotated[str, typer.Argument(help="Name of a run.")],
    because: Annotated[str, typer.Option("--because", help="The reason, for everybody to read.")],
    store: StoreFile = STORE,
    captures: Annotated[
        Path, typer.Option("--captures", help="Folder in which the dated note is kept.")
    ] = Path("captures"),
) -> None:
    """Leave a run out of numbers and comparisons, with a dated note. Nothing is deleted."""
    from akvsite import controls, ledger, site
    from akvsite.desk import SiteDesk
    from akvsite.ledger import writing
    from akvsite.store import Store

    if not because.strip():
        raise BadInput("--because", "is empty: say why")
    with reading(store) as opened:
        run_named(SiteDesk(opened), run)
        if not captures.is_dir():
            raise BadInput(captures, "does not exist: the note is kept there; name a folder with --captures")

        def check(supposed: ledger.Ledger) -> None:
            controls.suppose(opened, supposed)
            controls.hold_exclusion(opened, captures, run)

        note = writing.exclude(captures, run, because.strip(), date.today(), check)
    with Store.open(store) as opened:
        site.take_notes(opened, captures, tell)
    say(f"{run} is excluded; the note is {note}")


@app.command(epilog="Example: akvsite formats --json")
def formats(json: AsJson = False) -> None:
    """The capture formats that can be read."""
    from akvsite import readers

    rows = [
        {"format": "bundle", "version": 1, "about": "a folder with a capture.toml and its level files"},
        *({"format": r.NAME, "version": r.VERSION, "about": r.ABOUT} for r in readers.readers()),
    ]
    as_json(rows) if json else table(rows)


@app.command(epilog='Example: akvsite sql "SELECT name, count(*) FROM level4_edge GROUP BY name" --json')
def sql(
    query: Annotated[str, typer.Argument(help="One SQL statement; the store is open for reading only.")],
    store: StoreFile = STORE,
    json: AsJson = False,
) -> None:
    """Ask the store. Tables and questions are described on the Schema and Method pages."""

    with reading(store) as opened:
        opened.allow_reading_only()
        try:
            rows = opened.rows(query)
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            denied = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_AUTH
            raise BadInput("query", "the store is open for reading only" if denied else str(error)) from error
    as_json(rows) if json else table(rows)


@app.command(
    epilog="Example: akvsite capture --level edge --timing on --host arc-a770 --host-role dev --name decode-edge"
    " -- python decode.py --steps 200",
    context_settings={"ignore_unknown_options": False},
)
def capture(
    command: Annotated[list[str], typer.Argument(help="The command, behind `--`.")],
    level: Annotated[str, typer.Option("--level", help="off, runner, host, device or edge.")],
    name: Annotated[str, typer.Option("--name", help="Name of the run and of its folder.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of captures.")] = Path("captures"),
    timing: Annotated[
        str,
        typer.Option(
            "--timing",
            help="Timing events on the queues: on, off or asis. Set at edge; at other levels, what the command does itself.",
        ),
    ] = "asis",
    host: Annotated[
        str | None, typer.Option("--host", help="Public name of the host, never its own.")
    ] = None,
    host_role: Annotated[
        str | None,
        typer.Option("--host-role", help="dev, or proof: a quiet host, which is checked at level off."),
    ] = None,
    warm_up: Annotated[
        int | None, typer.Option("--warm-up", help="Steps that every number leaves out.")
    ] = None,
    engine: Annotated[str | None, typer.Option("--engine", help="The engine that runs, in words.")] = None,
    note: Annotated[str | None, typer.Option("--note", help="What to know about this capture.")] = None,
    contract: Annotated[
        list[str] | None,
        typer.Option("--contract", help="KEY=VALUE that must match in a comparison; several."),
    ] = None,
    runtime: Annotated[
        str, typer.Option("--runtime", help="Whose calls are recorded at edge: auto, ur or cudart.")
    ] = "auto",
    interval_ms: Annotated[
        int, typer.Option("--interval", help="Milliseconds between two looks at memory, at first.", min=1)
    ] = 100,
    compress: Annotated[bool, typer.Option("--compress", help="Pack the records with gzip.")] = False,
    json: AsJson = False,
) -> None:
    """Run a command at a capture level and write a bundle. Signals reach it, and its exit code is handed back.

    Files that the command leaves in the folder $AKV_FILES, such as a profiler's trace, become files of the capture.

    Exit code 3: no call was seen at level edge, where the command itself ended with 0.
    """
    from akvsite import record

    done = record.capture(
        record.Request(
            name=name, command=tuple(command), level=level, out=out, timing=timing, host=host, role=host_role,
            warm_up=warm_up, engine=engine, note=note, contract=_pairs(contract or []), runtime=runtime,
            interval_ns=interval_ms * 1_000_000, compress=compress,
        ),
        _INHERITED,
        progress,
    )  # fmt: skip
    mapped = ", ".join(done.libraries) or "none"
    if json:
        as_json(
            {
                "bundle": str(done.bundle), "code": done.code, "ended": done.ended, "calls": done.calls,
                "records_lost": done.lost, "runtime_libraries": done.libraries, "because": done.because,
                "files": done.files, "left_out": done.left_out, "memory_samples": done.samples, "notes": done.notes,
            }
        )  # fmt: skip
    elif sys.stderr.isatty():
        seen = "" if done.calls is None else f"{number_of(done.calls, 'call')} (counted), "
        tell(f"{done.bundle}: {done.ended}, {seen}{number_of(done.samples, 'memory sample')}")
    for line in done.left_out:
        tell(f"left out: {line}")
    if done.lost:
        tell(f"{number_of(done.lost, 'record')} lost (counted): calls are missing from this capture")
    if done.calls == 0:
        tell(f"0 calls seen; runtime libraries mapped: {mapped}; {'; '.join(done.because)}")
    # Not by way of an interrupt: a code of 130 is the command's own.
    sys.stdout.flush()
    raise SystemExit(done.code)


@app.command(
    epilog="Example: akvsite experiment overlap --pairs 8 --device cuda"
    " · akvsite experiment probe --pairs 8 --device cuda -- --model small --schedule fixed"
    " · akvsite experiment probe --pairs 8 -- python3 my_engine.py --steps 100"
    " · akvsite experiment tracer --pairs 10 · akvsite experiment aa --pairs 8 -- python3 my_engine.py"
)
def experiment(
    which: Annotated[
        str,
        typer.Argument(
            help="overlap: whether copies and kernels share a device's time; "
            "probe: what each capture level costs the reference engine or any command, at level edge by the shim libraries "
            "(`make shim`); "
            "tracer: what looking on costs, one micro-loop with and without tracers; "
            "aa: the same thing twice, the noise floor of a host."
        ),
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            help="Behind `--`, for probe and aa: arguments of the reference engine, or a command with its own."
        ),
    ] = None,
    pairs: Annotated[int, typer.Option("--pairs", help="Blocks in which every treatment is run once.")] = 10,
    iterations: Annotated[
        int | None,
        typer.Option(
            "--iterations", help="Iterations of the loop, or measured steps or cycles, in each run.", min=1
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option("--device", help="Where it computes: cuda, xpu, sycl or cpu; not with a command."),
    ] = None,
    warm_up: Annotated[
        int | None,
        typer.Option(
            "--warm-up",
            help="Decode steps to cut from each run of probe and aa: 100 of the reference engine, none of a command.",
            min=0,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Makes the order; drawn where not given.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the run and of its folder.")] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder of captures.")] = Path("captures"),
    host: Annotated[str | None, typer.Option("--host", help="Public name of the host.")] = None,
    host_role: Annotated[
        str | None,
        typer.Option(
            "--host-role",
            help="dev, or proof: a quiet host, which is checked. A control of a claim needs --host and this.",
        ),
    ] = None,
    note: Annotated[str | None, typer.Option("--note", help="What to know about this experiment.")] = None,
    json: AsJson = False,
) -> None:
    """Carry out a designed set of runs, a fresh process each. Broken off, the same command goes on where it was.

    Refused where a tracer looks on from outside. What a run leaves running is ended, and told.
    """
    from akvsite import experiments

    plan = experiments.Plan(
        pairs, iterations or 0, seed, out, name, host, host_role, note, tuple(arguments or ()), device, warm_up
    )  # fmt: skip
    done = experiments.carry_out(experiments.find(which), plan, _INHERITED, progress, tell)
    clear()
    if json:
        rows = [{"statistic": key, **number.as_row()} for key, number in done.numbers.items()]
        about = {
            "bundle": str(done.place), "seed": done.seed, "quiet": done.quiet, "shared": done.shared,
            "no_control_because": done.no_control,
        }  # fmt: skip
        as_json({**about, "numbers": rows})
        return
    say(f"{done.place}: {len(done.results)} runs, seed {done.seed}")
    for check in done.quiet.values():
        say(f"  {check}")
    for key, number in done.numbers.items():
        say(number.text(key))
        say(f"  {number.footer()}")


def _pairs(words: list[str]) -> dict[str, str]:
    made: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.strip() or not value.strip() or key in made:
            raise BadInput("--contract", f"{word!r}: KEY=VALUE, each key once")
        made[key.strip()] = value.strip()
    return made


@app.command(epilog="Example: akvsite scan captures/edge/ur-4711.akvlog --engine python")
def scan(
    paths: Annotated[list[Path], typer.Argument(help="Akvlog files, Unified Runtime text logs, or folders.")],
    engine: Annotated[
        str | None, typer.Option("--engine", help="rust or python; without it rust, where it is installed.")
    ] = None,
    json: AsJson = False,
) -> None:
    """What a shim or a tracer wrote: records, lost and open ones, the time span, calls by name. All are counts."""
    from akvsite.scan import summary

    found = [summary.summarise(path, engine) for path in summary.find(paths)]
    if json:
        as_json(found)
        return
    for each in found:
        for line in summary.lines(each):
            say(line)
        table(each["calls"])


@app.command(epilog="Example: akvsite doctor")
def doctor(store: StoreFile = STORE, json: AsJson = False) -> None:
    """Whether what the commands need is there, and what a store holds. Says what to do about what is not."""
    from akvsite import doctor as checks

    rows = checks.examine(store)
    as_json(rows) if json else table(rows)
    if any(row["state"] == "missing" for row in rows):
        raise typer.Exit(1)


@app.callback(invoke_without_command=True)
def top(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        say(__version__)
        raise typer.Exit()
