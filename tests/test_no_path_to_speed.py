"""No run that was looked at reaches a statement of speed: whatever its capture.toml claims, and wherever it is asked for."""

from __future__ import annotations

import gzip
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from akvlogs import AkvLog
from bundles import COMPLETE, COMPLETE_TOP, read_in, steps, write_capture
from probe_logs import ProbeLog

from akvsite import ingest, questions, site
from akvsite.errors import BadInput
from akvsite.store import Store

TRACE = json.dumps(
    {
        "schemaVersion": 1,
        "traceEvents": [
            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1.0, "dur": 2.0, "args": {"device": 0, "stream": 7}}
        ],
    }
).encode()  # fmt: skip
#: The one run that may state speed. Everything below claims the same of itself, on the same host.
HONEST = "honest"
#: What is printed of a run that may, and of no other: its use, and what stands beside its numbers.
SPEAKS = re.compile(r"may state speed|It may state|\bis speed\b")


def lie(folder: Path, **how: Any) -> Path:
    """A capture that declares all that a statement of speed takes."""
    how = {"level": "off", "host": "quiet", "role": "proof", "top": COMPLETE_TOP, "more": COMPLETE, **how}
    return write_capture(folder, how.pop("tables", {"step": steps(60)}), **how)


def probe_log(path: Path, producer: bytes = b"akv_probe 0.1.0") -> None:
    log = ProbeLog(producer)
    log.step(0, 2_000, 3_000)
    log.phase("schedule", 2_100, 2_200)
    log.region("attention", 2_300, 2_400)
    log.span(2_500, 2_600, step=0)
    log.write(path)


def shim_log(path: Path, producer: bytes = b"akv_ur 0.1.0") -> None:
    log = AkvLog(names=["urEnqueueKernelLaunch"], header={"producer": producer})
    log.device(log.call(1, enter=2_000, exit=2_100, event=0xE3), event=0xE3, start=900, end=950)
    log.write(path)


def trace(path: Path) -> None:
    path.write_bytes(gzip.compress(TRACE) if path.suffix == ".gz" else TRACE)


def damaged(path: Path) -> None:
    shim_log(path)
    path.write_bytes(path.read_bytes()[:20])


# Refused when it is read.


@pytest.mark.parametrize("named", [True, False], ids=["named", "not named"])
@pytest.mark.parametrize(
    ("place", "write"),
    [
        ("trace.json", trace), ("edge/trace.json.gz", trace), ("akv/probe-1.akvlog", probe_log), ("edge/ur-1.akvlog", shim_log),
        ("files/deep/er/ur-1.akvlog", shim_log),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_file_of_a_tool_that_looks_on_is_refused_at_level_off(
    place: str, write: Callable[[Path], None], named: bool, tmp_path: Path, akvsite: Any
) -> None:
    """Also where the capture.toml does not name it: leaving a line out would be the easiest lie."""
    folder = lie(tmp_path / "sly", more=COMPLETE + (f'[[file]]\npath = "{place}"\n' if named else ""))
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    write(folder / place)
    akvsite("ingest", "sly").refused(
        "capture.toml", "level", "is 'off', and", place.split("/")[-1].partition(".")[0]
    )


def test_a_recorder_s_file_too_damaged_to_be_read_is_refused_too(tmp_path: Path, akvsite: Any) -> None:
    folder = lie(tmp_path / "sly")
    damaged(folder / "ur-1.akvlog")
    akvsite("ingest", "sly").refused("ur-1.akvlog, which it does not name")


def test_other_files_beside_a_capture_are_no_sign(tmp_path: Path) -> None:
    """Notes, another run's bundle inside this one, and a client's result are none of a recorder's."""
    folder = lie(tmp_path / "a")
    (folder / "README.md").write_text("notes")
    (folder / "empty.json").touch()
    (folder / "link.json").symlink_to(tmp_path / "elsewhere.json")
    trace(tmp_path / "elsewhere.json")
    inner = write_capture(folder / "inner", {"step": steps()}, level="edge", more='[[file]]\npath = "t.json"')
    trace(inner / "t.json")
    read_in(tmp_path / "akvsite.db", folder)
    with Store.read(tmp_path / "akvsite.db") as store:
        assert {r["name"]: r["use"] for r in store.rows("SELECT name, use FROM run_list")} == {
            "a": "speed",
            "inner": "structure",
        }


def test_files_that_are_added_later_do_not_join_a_run_that_may_state_speed(
    tmp_path: Path, akvsite: Any
) -> None:
    """Two captures of one name, and a loose file under the name of a run: the first of them stays what it is."""
    lie(tmp_path / "first" / HONEST)
    assert akvsite("ingest", "first").code == 0
    trace(tmp_path / "trace.json")
    akvsite("ingest", "trace.json", "--run", HONEST).refused(HONEST, "is declared by a capture.toml")
    write_capture(tmp_path / "second" / HONEST, {"level2_host": []}, level="host", host="quiet", role="proof")
    akvsite("ingest", "second").refused(HONEST, "--replace")
    assert uses_of(tmp_path / "akvsite.db") == {HONEST: "speed"}
    assert akvsite("ingest", "second", "--replace").code == 0
    assert uses_of(tmp_path / "akvsite.db") == {HONEST: "structure"}
    # And back: its level is that of the capture which is there, and nothing of the other stays.
    assert akvsite("ingest", "first", "--replace").code == 0
    assert uses_of(tmp_path / "akvsite.db") == {HONEST: "speed"}


def test_a_run_stays_excluded_when_it_is_read_again(tmp_path: Path, akvsite: Any) -> None:
    (tmp_path / "captures").mkdir()
    lie(tmp_path / HONEST)
    assert akvsite("ingest", HONEST).code == 0
    assert akvsite("exclude", HONEST, "--because", "the fan").code == 0
    lie(tmp_path / HONEST, tables={"step": steps(70)})
    assert akvsite("ingest", HONEST, "--replace").code == 0
    assert uses_of(tmp_path / "akvsite.db") == {HONEST: "nothing"}


def test_a_run_that_was_looked_at_does_not_become_off_by_its_declaration(
    tmp_path: Path, akvsite: Any
) -> None:
    """Its capture.toml alone is rewritten, which is read again without --replace: the files stay what they are."""
    tables: dict[str, Any] = {"step": steps(5), "level2_host": []}
    lie(tmp_path / "run", level="host", tables=tables)
    assert akvsite("ingest", "run").code == 0
    declared = tmp_path / "run" / "capture.toml"
    declared.write_text(declared.read_text().replace('level = "host"', 'level = "off"'))
    akvsite("ingest", "run").refused("level", "holds rows of level2_host")
    assert uses_of(tmp_path / "akvsite.db") == {"run": "structure"}


def uses_of(store: Path) -> dict[str, str]:
    with Store.read(store) as opened:
        return {row["name"]: row["use"] for row in opened.rows("SELECT name, use FROM run_list")}


# Read, and taken for what it is.


def liars(folder: Path) -> dict[str, str]:
    """Captures that claim speed and were looked at, or lack something; by name, what each may be used for."""
    drawn = steps(60)
    trial = {"arm": "command", "repeat": 0, "number": 0, "duration_ns": 5}
    token = {"request": "r", "number": 0, "tokens": 1, "client_ns": 50}
    for level in ("runner", "host", "device", "edge"):
        lie(folder / f"declared-{level}", level=level)
    made: dict[str, dict[str, Any]] = {
        "profiler-steps": {"tables": {"step": steps(60, source="profiler step")}},
        "probe-steps": {"tables": {"step": steps(60, source="probe")}},
        "named-tool": {"more": COMPLETE + '[capture]\ntool = "torch.profiler"\n'},
        "edge-facts": {"more": COMPLETE + "[capture.edge]\ncalls_seen = 12\n"},
        "switched-on": {"more": COMPLETE + '[software.environment]\nSYCL_UR_TRACE = "2"\n'},
        "device-milestones": {"tables": {"step": drawn, "token": [token, {**token, "number": 1, "device_first_ns": 40}]}},
        "timed-at-edge": {"tables": {"step": drawn, "trial": [{**trial, "treatment": "capture at level edge"}]}},
        "probe-experiment": {"tables": {"step": drawn, "trial": [{**trial, "treatment": "device"}]}},
    }  # fmt: skip
    for name, how in made.items():
        lie(folder / name, **how)
    # An engine's own counters are wall clock; a file that calls itself that and holds more is not.
    for name, write in (("counters-of-a-probe", probe_log), ("counters-of-a-shim", shim_log)):
        (lie(folder / name, more=COMPLETE + '[[file]]\npath = "c.akvlog"\n') / "c.akvlog").touch()
        write(folder / name / "c.akvlog", b"akv_counters 1")  # type: ignore[operator]
    (folder / "loose.json").write_bytes(TRACE)
    uses = dict.fromkeys([p.name for p in folder.iterdir() if p.is_dir()], "structure") | {
        "loose": "structure"
    }
    lie(folder / "excluded")
    lie(folder / "timing-on", top=COMPLETE_TOP.replace('"off"', '"on"'))
    lie(folder / "incomplete", more=COMPLETE.replace("output_hash", "hash"))
    lie(folder / "busy-then", more=COMPLETE.replace("load_1_min = 0.1", "load_1_min = 3"))
    lie(folder / "dev", host="busy", role="dev")
    compared = "comparison under the same load"
    return {
        **uses, "excluded": "nothing", "timing-on": compared, "incomplete": compared, "busy-then": compared, "dev": compared,
    }  # fmt: skip


@pytest.fixture(scope="module")
def claimed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("claimed")
    uses = liars(folder / "made")
    lie(folder / "made" / HONEST)
    notes = folder / "captures"
    (notes / "exclusions").mkdir(parents=True)
    (notes / "exclusions" / "excluded.md").write_text(
        "---\nrun: excluded\ndate: 2026-01-01\nbecause: the fan\n---\n"
    )
    (notes / "comparisons").mkdir()
    for name in uses:
        (notes / "comparisons" / f"with-{name}.toml").write_text(
            f'name = "with-{name}"\ntitle = "Two"\ndesign = "two runs"\n'
            f'[a]\nlabel = "a"\nruns = ["{HONEST}"]\n[b]\nlabel = "b"\nruns = ["{name}"]\n'
        )
    read_in(folder / "akvsite.db", folder / "made", folder / "made" / "loose.json")
    with Store.open(folder / "akvsite.db") as store:
        site.take_notes(store, notes)
    return folder, uses


def test_each_is_taken_for_what_it_is(claimed: tuple[Path, dict[str, str]]) -> None:
    folder, uses = claimed
    assert uses_of(folder / "akvsite.db") == {HONEST: "speed", **uses}
    assert len(uses) > 18


def test_no_view_says_speed_of_it(claimed: tuple[Path, dict[str, str]]) -> None:
    """Every question, in every row that is about another run than the honest one."""
    folder, uses = claimed
    spoke = set()
    with Store.open(folder / "akvsite.db") as store:
        ingest.install_views(store)
        ids = {row["id"]: row["name"] for row in store.rows("SELECT id, name FROM run")}
        for name in questions.questions():
            for row in store.rows(f"SELECT * FROM {name}"):
                said = [str(v) for v in row.values() if isinstance(v, str)]
                if not any(v == "speed" or SPEAKS.search(v) for v in said):
                    continue
                spoke.add(name)
                about = {ids[row["run_id"]]} if row.get("run_id") is not None else set(said) & {HONEST, *uses}
                assert about == {HONEST}, f"{name}: {row}"
    assert {"run_use", "run_list", "comparison_list"} <= spoke


def test_no_command_says_it(claimed: tuple[Path, dict[str, str]], akvsite: Any) -> None:
    folder, uses = claimed
    store = ("--store", folder / "akvsite.db")
    assert SPEAKS.search(akvsite("show", HONEST, *store).out)
    shown = json.loads(akvsite("show", HONEST, "--json", *store).out)
    assert shown["numbers"] and all(SPEAKS.search(n["use"]) for n in shown["numbers"].values())
    listed = json.loads(akvsite("runs", "--json", *store).out)
    asked = json.loads(
        akvsite(
            "sql", "SELECT r.name, u.use FROM run_use u JOIN run r ON r.id = u.run_id", "--json", *store
        ).out
    )
    for rows in (listed, asked):
        assert {row["name"] for row in rows if row["use"] == "speed"} == {HONEST}
    for line in akvsite("runs", *store).out.splitlines():
        assert not re.search(r"\bspeed\b", line) or line.startswith(HONEST), line
    for name in uses:
        for words in (
            ["show", name],
            ["show", name, "--json"],
            ["compare", name, HONEST],
            ["compare", name, HONEST, "--json"],
            ["compare", HONEST, name, "--json"],
        ):
            done = akvsite(*words, *store)
            assert (done.code, done.err) == (0, ""), words
            # Not of the honest run either, where it stands beside another: a number claims no more than its comparison.
            assert not SPEAKS.search(done.out), words


#: Folders of pages that are about one run, besides the run's page.
READERS = ("rows", "steps", "tokens", "calls")


def test_no_page_chart_or_table_says_it(claimed: tuple[Path, dict[str, str]]) -> None:
    folder, uses = claimed
    left: dict[str, str] = {}
    with Store.open(folder / "akvsite.db") as store:
        desk = site.SiteDesk(store, left.__setitem__)
        pages = {p.path: html.unescape(p.text) for module in site.page_modules() for p in module.write(desk)}
    # The honest one does say it, in its page, in its charts and in the tables beside them.
    assert SPEAKS.search(pages[f"runs/{HONEST}"])
    assert {
        path.rpartition(".")[2]
        for path, text in left.items()
        if SPEAKS.search(text) and f"runs/{HONEST}/" in path
    } == {"js", "csv"}
    general = ("method", "schema", "instruments")  # these say the rule, and name no run
    for path, text in {**pages, **left}.items():
        if any(f"{own}/{HONEST}" in path for own in ("runs", *READERS)) or path in general:
            continue
        assert not SPEAKS.search(text), path
    assert {f"comparisons/with-{name}" for name in uses} < pages.keys()
    home = pages["index"]
    named = home[home.index("What counts as speed") : home.index("## Proof hosts")]
    assert set(re.findall(r'href="runs/(.*?)\.html"', named)) == {HONEST}
    rows = re.findall(r"<tr><td>speed</td>.*?</tr>", pages["hosts"])
    assert len(rows) == 1 and set(re.findall(r'href="runs/(.*?)\.html"', rows[0])) == {HONEST}


def test_what_is_refused_leaves_nothing(tmp_path: Path) -> None:
    folder = lie(tmp_path / "sly", tables={"step": steps(), "memory_sample": []})
    with pytest.raises(BadInput, match=r"level: is 'off', and .* holds rows of memory_sample"):
        read_in(tmp_path / "akvsite.db", folder)
    assert uses_of(tmp_path / "akvsite.db") == {}
