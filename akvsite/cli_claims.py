"""Commands of the ledger: claims, what they stand on, their controls, their retractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from akvsite import wording
from akvsite.errors import BadInput
from akvsite.terminal import STORE, AsJson, StoreFile, as_json, reading, say, table, tell

if TYPE_CHECKING:
    from akvsite.ledger import Claim, Entry, Ledger
claim = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="A falsifiable statement, what it stands on, and its control.",
    epilog="Example: akvsite claim status",
)
RETRACT = 'Example: akvsite retract copies-hide --because "With timing events off the copies took as long" --control quiet'

Captures = Annotated[
    Path, typer.Option("--captures", help="Folder with claims/, retractions/ and the captures.")
]
FOLDER = Path("captures")
Runs = Annotated[list[str] | None, typer.Option("--run", help="A run that it stands on; several.")]
Comparisons = Annotated[list[str] | None, typer.Option("--comparison", help="A comparison; several.")]
Charts = Annotated[
    list[str] | None,
    typer.Option("--chart", help="A chart: PAGE#KEY, such as runs/my-run#step-series; several."),
]
Body = Annotated[Path | None, typer.Option("--body", help="A file of Markdown: the text beneath.")]


@claim.command(
    epilog='Example: akvsite claim new copies-hide --statement "Copies of KV blocks run while the card computes"'
    ' --predicts "A step with copies takes less than copies alone and compute alone together"'
    " --about overlap --scope timeline --run my-run"
)
def new(
    name: Annotated[str, typer.Argument(metavar="ID", help="Lower-case letters, digits, '.', '_' and '-'.")],
    statement: Annotated[str, typer.Option("--statement", help="What is claimed: it could turn out false.")],
    predicts: Annotated[str, typer.Option("--predicts", help="What would be seen if it holds.")],
    about: Annotated[
        list[str],
        typer.Option(
            "--about", help="overlap, serialisation, waiting, idleness, time, memory or other; several."
        ),
    ],
    scope: Annotated[
        str,
        typer.Option(
            "--scope", help="Where the evidence is: application, timeline, kernel, source, instruction."
        ),
    ],
    run: Runs = None,
    comparison: Comparisons = None,
    chart: Charts = None,
    body: Body = None,
    store: StoreFile = STORE,
    captures: Captures = FOLDER,
    json: AsJson = False,
) -> None:
    """Make a claim. It begins open; what it says is sealed, and its history is only appended to from then on."""
    from akvsite.ledger import ABOUT, SCOPES, Claim, Entry, writing

    today = date.today().isoformat()
    made = Claim(
        name, today, _one_of("--scope", scope, SCOPES),
        tuple(dict.fromkeys(_one_of("--about", w.strip(), ABOUT) for words in about for w in words.split(","))),
        _sentence("--statement", statement), _sentence("--predicts", predicts), _text(body),
        (Entry(today, "made"), *_cited(today, run, comparison, chart)),
    )  # fmt: skip
    path = writing.new_claim(captures, made, _check(store, name, made.history))
    if not json:
        say(f"{name} is open; its file is {path}")
    _sync(store, captures)
    _shown(captures, store, name, json)


@claim.command(
    epilog="Example: akvsite claim link copies-hide --run my-run --chart runs/my-run#step-series"
    " · akvsite claim link copies-hide --control my-overlap-experiment"
)
def link(
    name: Annotated[str, typer.Argument(metavar="CLAIM", help="Id of the claim.")],
    run: Runs = None,
    comparison: Comparisons = None,
    chart: Charts = None,
    control: Annotated[
        list[str] | None,
        typer.Option("--control", help="A run with capture off that supports it: the claim leaves open."),
    ] = None,
    store: StoreFile = STORE,
    captures: Captures = FOLDER,
    json: AsJson = False,
) -> None:
    """Add to what a claim stands on. A control moves it to supported, where the rule of controls allows."""
    from akvsite.ledger import Entry

    today = date.today().isoformat()
    entries = _cited(today, run, comparison, chart)
    entries += [Entry(today, "supported", "control", _name("--control", "control", c)) for c in control or ()]
    if not entries:
        raise BadInput(
            "--run, --comparison, --chart or --control", "is missing: say what the claim is linked to"
        )
    _append(name, entries, store, captures, json)


@claim.command(
    epilog='Example: akvsite claim drop copies-hide --chart runs/my-run#steps --because "the chart meant is another"'
)
def drop(
    name: Annotated[str, typer.Argument(metavar="CLAIM", help="Id of the claim.")],
    because: Annotated[str, typer.Option("--because", help="The reason, for everybody to read.")],
    run: Runs = None,
    comparison: Comparisons = None,
    chart: Charts = None,
    store: StoreFile = STORE,
    captures: Captures = FOLDER,
    json: AsJson = False,
) -> None:
    """Take a wrong citation back in writing: the history shows both. After a retraction it removes no stamp."""
    from dataclasses import replace

    because = _said("--because", because)
    entries = [
        replace(entry, event="dropped", because=because)
        for entry in _cited(date.today().isoformat(), run, comparison, chart)
    ]
    if not entries:
        raise BadInput("--run, --comparison or --chart", "is missing: say what the claim does not stand on")
    _append(name, entries, store, captures, json)


@claim.command(
    "open", epilog='Example: akvsite claim open copies-hide --because "its control shared the card"'
)
def reopen(
    name: Annotated[str, typer.Argument(metavar="CLAIM", help="Id of the claim.")],
    because: Annotated[str, typer.Option("--because", help="The reason, for everybody to read.")],
    store: StoreFile = STORE,
    captures: Captures = FOLDER,
    json: AsJson = False,
) -> None:
    """Take the support of a claim back: it is open again, and what supported it stays in its history."""
    from akvsite.ledger import Entry

    today = date.today().isoformat()
    _append(name, [Entry(today, "opened", because=_said("--because", because))], store, captures, json)


@claim.command(epilog="Example: akvsite claim status · akvsite claim status copies-hide --json")
def status(
    name: Annotated[
        str | None, typer.Argument(metavar="[CLAIM]", help="Id of a claim; without it, all.")
    ] = None,
    store: StoreFile = STORE,
    captures: Captures = FOLDER,
    json: AsJson = False,
) -> None:
    """The claims, or one with its whole history, and what is missing before it can leave open."""
    from akvsite import ledger
    from akvsite.ledger import writing

    if name is not None:
        writing.find(captures, name)
        _shown(captures, store, name, json)
        return
    keys = ("id", "state", "date", "scope", "about", "statement")
    rows = [
        {key: value for key, value in _facts(c).items() if key in keys} for c in ledger.load(captures).claims
    ]
    as_json(rows) if json else table([{**row, "about": ", ".join(row["about"])} for row in rows])


@claim.command(epilog="Example: akvsite claim seal captures/claims/copies-hide.md")
def seal(
    file: Annotated[Path, typer.Argument(help="A claim's file that was written, or appended to, by hand.")],
) -> None:
    """Seal the entries at the end of a claim's history that have no seal. What is sealed is left as it is."""
    from akvsite.ledger import writing

    count = writing.seal(file)
    say(f"{file}: {count} {'entry' if count == 1 else 'entries'} sealed")


def retract(
    name: Annotated[str, typer.Argument(metavar="CLAIM", help="Id of the claim.")],
    because: Annotated[
        str | None,
        typer.Option(
            "--because",
            help="The reason, for everybody to read. Left out where the note is there, and only to be entered.",
        ),
    ] = None,
    control: Annotated[
        str | None,
        typer.Option("--control", help="The run with capture off that showed it, where there is one."),
    ] = None,
    named: Annotated[
        str | None, typer.Option("--id", help="Id of the retraction; CLAIM-withdrawn without it.")
    ] = None,
    body: Body = None,
    store: StoreFile = STORE,
    captures: Captures = FOLDER,
    json: AsJson = False,
) -> None:
    """Withdraw a claim in writing: a dated note, and an entry in the claim's history that names it by its hash.

    Whatever stands on the claim is stamped by the next build. Nothing is deleted.
    """
    from akvsite.ledger import writing

    because = None if because is None else _said("--because", because)
    control = None if control is None else _name("--control", "control", control)
    named = None if named is None else _name("--id", "retraction", named)
    note, retraction = writing.retract(
        captures,
        name,
        _check(store, name, ()),
        date.today(),
        because=because,
        control=control,
        named=named,
        body=_text(body),
    )
    if json:
        as_json({"claim": name, "retraction": retraction.id, "file": str(note), "sha256": retraction.sha256})
    else:
        without = "" if retraction.control else "; no control is stated, which its page will say"
        say(f"{name} is retracted{without}; the note is {note}")
    _sync(store, captures)


def _append(name: str, entries: list[Entry], store: Path, captures: Path, json: bool) -> None:
    from akvsite.ledger import writing

    path, after = writing.append(captures, name, entries, _check(store, name, entries))
    if not json:
        say(f"{name} is {after.state}; its file is {path}")
    _sync(store, captures)
    _shown(captures, store, name, json)


def _check(path: Path, name: str, entries: Sequence[Entry]) -> Callable[[Ledger], None]:
    """Holds the ledger as it is going to be to what the store knows, before it is written.

    Where nothing of the store is named, it is not asked: a store that cannot be read hinders nobody from a retraction.
    """

    def check(supposed: Ledger) -> None:
        from akvsite import controls

        of_retraction = any(r.control for r in supposed.retractions if r.claim == name)
        # What is dropped may be what the store never had.
        named = [(entry.kind, entry.name) for entry in entries if entry.name and entry.event != "dropped"]
        if not of_retraction and not named:
            return
        with reading(path) as opened:
            controls.suppose(opened, supposed)
            for kind, cited in named:
                if why := controls.unknown(opened, kind, cited):
                    raise BadInput(f"--{kind}", why)
            for refusal in controls.refusals(opened, name):
                raise BadInput("--control", refusal.why)

    return check


def _sync(path: Path, captures: Path) -> None:
    """The store's copy of the ledger follows, where there is a store; a build takes it from the files in any case."""
    if path.is_file():
        from akvsite import site
        from akvsite.store import Store

        with Store.open(path) as opened:
            site.take_notes(opened, captures, tell)


def _shown(captures: Path, path: Path, name: str, json: bool) -> None:
    from akvsite import controls, ledger

    loaded = ledger.load(captures)
    found = next(c for c in loaded.claims if c.id == name)
    missing, refused, under = None, [], []
    if path.is_file():
        with reading(path) as opened:
            controls.suppose(opened, loaded)
            missing = controls.missing(opened, name)
            refused = [r.why for r in controls.refusals(opened, name)]
            under = controls.under_retraction(opened, found)
    lines = [*refused, *controls.wanted(found, missing)]
    if json:
        admitted = list(missing.admitted) if missing else None
        as_json({**_facts(found), "missing": lines, "admitted": admitted, "under_retraction": under})
        return
    say(
        f"{found.id}: {found.state}, made on {found.date}; scope {found.scope}; about {', '.join(found.about)}"
    )
    say(f"  statement: {found.statement}")
    say(f"  predicts: {found.predicts}")
    say()
    table(
        [
            {
                "date": e.date,
                "event": e.event,
                "of": e.kind,
                "name": e.name,
                "because": e.because,
                "seal": e.seal,
            }
            for e in found.history
        ]
    )
    for line in (*under, *lines):
        say(line)


def _facts(claim: Claim) -> dict[str, Any]:
    return {
        "id": claim.id, "state": claim.state, "date": claim.date, "scope": claim.scope, "about": list(claim.about),
        "statement": claim.statement, "predicts": claim.predicts, "runs": list(claim.cited("run")),
        "comparisons": list(claim.cited("comparison")), "charts": list(claim.cited("chart")),
        "controls": list(claim.controls), "history": [{**e.words(), "seal": e.seal} for e in claim.history],
        "body": claim.body,
    }  # fmt: skip


def _cited(
    today: str, runs: list[str] | None, comparisons: list[str] | None, charts: list[str] | None
) -> list[Entry]:
    from akvsite.ledger import Entry

    given = {"run": runs, "comparison": comparisons, "chart": charts}
    return [
        Entry(today, "cited", kind, _name(f"--{kind}", kind, name))
        for kind, names in given.items()
        for name in names or ()
    ]


def _name(option: str, kind: str, name: str) -> str:
    from akvsite.ledger import wrong_name

    if why := wrong_name(kind, name):
        raise BadInput(option, why)
    return name


def _one_of(option: str, word: str, words: tuple[str, ...]) -> str:
    if word not in words:
        raise BadInput(option, f"{word!r}; one of {', '.join(words)}")
    return word


def _said(option: str, words: str) -> str:
    if not words.strip():
        raise BadInput(option, "is empty")
    return words.strip()


def _sentence(option: str, words: str) -> str:
    said = _said(option, words)
    if (count := wording.words(said)) < wording.FEWEST_TO_CLAIM:
        raise BadInput(
            option,
            f"has {count} {'word' if count == 1 else 'words'}: a falsifiable statement has a subject and what it predicts,"
            f" {wording.FEWEST_TO_CLAIM} words at the least",
        )
    return said


def _text(path: Path | None) -> str:
    from akvsite.ledger import read

    return "" if path is None else read(path).strip()
