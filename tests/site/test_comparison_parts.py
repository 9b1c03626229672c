"""Every part of a comparison: what vanished and what is new, what is not seen, mixtures, and one set of numbers everywhere."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from bundles import call, interval, read_in, write_capture

from akvsite import ingest, site
from akvsite.estimate import counted, unknown
from akvsite.estimators import mean, quantile
from akvsite.pages import _compare, _compare_shown, comparison
from akvsite.pages._compare_facts import Difference, differences
from akvsite.pages._compare_form import PAIRS, TWO_RUNS, Design, Line, Part
from akvsite.store import Store

STEPS, STEP_NS = 200, 1000
#: Kernels of a run in each step: name, and how long, ns.
KERNELS: dict[str, dict[str, int]] = {
    "before": {"gemm": 100, "old": 40},
    "after": {"gemm": 90, "new": 30},
    "unseen": {"gemm": 90, "new": 30},
}


def tables(kernels: Mapping[str, int], *, unseen: bool = False) -> dict[str, list[dict[str, Any]]]:
    """A run of steps in which each kernel is launched once by its own call; ``unseen``: one record is lost."""
    rows: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("step", "level1_runner", "level2_host", "level4_edge", "level3_device")
    }
    for n in range(STEPS):
        at = n * STEP_NS
        about = {"number": n, "kind": "decode", "source": "engine annotation", "warm_up": 0}
        end = at + 900 + n * 37 % 11
        rows["step"].append({"name": f"decode.step.{n}", "start_ns": at, "end_ns": end, **about})
        rows["level1_runner"].append(
            {"name": "launch", "start_ns": at, "end_ns": at + 300 + n % 7, "thread": "1"}
        )
        for place, (name, ns) in enumerate(kernels.items()):
            start, of = at + 10 + 100 * place, len(kernels) * n + place + 1
            rows["level2_host"].append(
                {"name": f"run {name}", "start_ns": start, "end_ns": start + 50, "category": "region", "thread": "1"}
            )  # fmt: skip
            rows["level4_edge"].append(call(start, start + 20 + n % 5, of))
            if not (unseen and of == 7):
                rows["level3_device"].append(interval(start + 30, start + 30 + ns + n % 3, of, name))
    return rows


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    for name, kernels in KERNELS.items():
        contract = f'[contract]\noutput_hash = "{"aa" if name == "before" else "bb"}"\n'
        write_capture(folder / name, tables(kernels, unseen=name == "unseen"), level="edge", more=contract)
    write_capture(folder / "lower", tables(KERNELS["after"]), level="device")
    write_capture(folder / "off-1", {"step": tables({})["step"]})
    write_capture(folder / "off-2", {"step": tables({})["step"]})
    (folder / "comparisons").mkdir()
    (folder / "comparisons" / "one.toml").write_text(
        'name = "one"\ntitle = "Which?"\ndesign = "two runs"\n'
        '[a]\nlabel = "a"\nruns = ["before"]\n[b]\nlabel = "b"\nruns = ["after"]\n'
    )
    read_in(folder / "akvsite.db", folder)
    return folder / "akvsite.db"


@pytest.fixture
def desk(store: Path) -> Iterator[site.SiteDesk]:
    with Store.open(store) as opened:
        ingest.install_views(opened)
        site.take_notes(opened, store.parent)
        yield site.SiteDesk(opened)


def compared(desk: site.SiteDesk, a: str, b: str) -> _compare.Compared:
    members = [
        {"side": side, "place": 0, "run": name, "run_id": desk.ask("run_list", name=name)[0]["run_id"]}
        for side, name in (("A", a), ("B", b))
    ]
    return _compare.compare(desk, members, (a, b), TWO_RUNS)


def parts(desk: site.SiteDesk, a: str, b: str) -> dict[str, Part]:
    return {part.name: part for part in compared(desk, a, b).parts}


def line_of(part: Part, name: str, statistic: str) -> Line:
    (line,) = [x for x in part.lines if x.name.startswith(name) and x.statistic.startswith(statistic)]
    return line


# Vanished, new, and unknown.


def test_a_kernel_that_vanished_is_none_counted_where_all_is_seen(desk: site.SiteDesk) -> None:
    kernels = parts(desk, "before", "after")["kernels"]
    vanished, new = (line_of(kernels, name, "device time") for name in ("old", "new"))
    assert (vanished.state, new.state) == ("vanished: in A alone", "new: in B alone")
    assert (vanished.b.value, vanished.b.kind) == (0, "counted")
    assert vanished.a.value == pytest.approx(41, abs=0.02) and vanished.difference.value == -vanished.a.value
    assert vanished.difference.low is not None, "a count of none is known exactly: the band is that of A"
    assert vanished.ratio.value is None and "above 0" in vanished.ratio.refusal
    both = line_of(kernels, "gemm", "device time")
    assert both.state == "" and both.difference.value == pytest.approx(-10)
    assert both.ratio.value == pytest.approx(90.995 / 100.995, rel=1e-3)
    assert line_of(kernels, "gemm", "records").a.value == 1
    assert kernels.refusal == "" and "kernels 400 of 400 launched" in kernels.seen


@pytest.mark.parametrize(("a", "b"), [("before", "unseen"), ("unseen", "before")])
def test_what_may_only_be_unseen_has_not_vanished(desk: site.SiteDesk, a: str, b: str) -> None:
    kernels = parts(desk, a, b)["kernels"]
    old = line_of(kernels, "old", "device time")
    blind = old.b if b == "unseen" else old.a
    assert blind.value is None and "not every record was seen" in blind.text()
    seen = "A" if a == "before" else "B"
    assert old.state == f"seen in {seen} alone; of {'B' if seen == 'A' else 'A'} it is unknown"
    assert "not every record was seen" in kernels.refusal and "unseen" in kernels.refusal
    for line in kernels.lines:
        assert line.difference.value is None and line.ratio.value is None
        assert "not everything is seen" in line.difference.refusal
    assert line_of(kernels, "gemm", "device time").b.value is not None, "what was seen stands there"
    # That the other run has none of it is known, since all of that is seen.
    new = line_of(kernels, "new", "records")
    assert new.state == ("new: in B alone" if b == "unseen" else "vanished: in A alone")


def test_the_host_s_parts_are_there_beside_unseen_records(desk: site.SiteDesk) -> None:
    found = parts(desk, "before", "unseen")
    assert line_of(found["calls"], "cudaLaunchKernel", "calls").difference.value == 0
    assert line_of(found["regions"], "run gemm", "mean").difference.value == 0
    assert line_of(found["regions"], "run old", "mean").state == "vanished: in A alone"
    assert line_of(found["phases"], "launch", "mean").a.value == pytest.approx(303, abs=0.1)
    rest = line_of(found["regions"], "not attributed", "mean")
    step = line_of(found["steps"], "step", "mean")
    assert rest.a.value == pytest.approx(step.a.value - 100), "regions and remainder add up to the step"


def test_a_name_that_only_other_steps_have_has_not_vanished(tmp_path: Path) -> None:
    late = tables(KERNELS["after"])
    late["level4_edge"].append(call(STEPS * STEP_NS + 50, STEPS * STEP_NS + 60, 9999))
    late["level3_device"].append(interval(STEPS * STEP_NS + 70, STEPS * STEP_NS + 80, 9999, "old"))
    write_capture(tmp_path / "before", tables(KERNELS["before"]), level="edge")
    write_capture(tmp_path / "late", late, level="edge")
    read_in(tmp_path / "akvsite.db", tmp_path / "before", tmp_path / "late")
    with Store.open(tmp_path / "akvsite.db") as opened:
        ingest.install_views(opened)
        old = line_of(parts(site.SiteDesk(opened), "before", "late")["kernels"], "old", "records")
    assert old.state == "" and old.b.value == 0


# Levels.


def test_a_mixture_stands_side_by_side_and_no_difference_is_formed(desk: site.SiteDesk) -> None:
    found = parts(desk, "before", "lower")
    for name in ("steps", "regions", "phases", "kernels", "calls"):
        for line in found[name].lines:
            assert line.difference.value is None and line.ratio.value is None, name
            assert "levels device and edge are not pooled" in line.difference.refusal
        assert all(
            n.value is not None for line in found[name].lines if not line.state for n in (line.a, line.b)
        )


def test_a_part_that_a_side_lacks_names_the_level_that_would_tell(desk: site.SiteDesk) -> None:
    assert parts(desk, "off-1", "before")["calls"].absent.startswith("A (off-1): runtime calls not on record")
    found = parts(desk, "off-1", "off-2")
    levels = {"regions": "host", "layers": "host", "phases": "runner", "kernels": "device", "calls": "edge", "tokens": "runner"}  # fmt: skip
    for name, level in levels.items():
        assert not found[name].lines and f"level {level} would tell" in found[name].absent
        assert "off-1" not in found[name].absent, "what holds of all runs is said once"
    assert found["steps"].lines and not found["steps"].absent


def test_where_a_side_has_no_run_nothing_is_new(desk: site.SiteDesk) -> None:
    members = [
        {"side": "A", "place": 0, "run": "gone", "run_id": None},
        {"side": "B", "place": 0, "run": "after", "run_id": desk.ask("run_list", name="after")[0]["run_id"]},
    ]
    for part in _compare.compare(desk, members, ("a", "b"), TWO_RUNS).parts:
        assert part.lines == () and part.absent == "no run is left on side A"


def test_steps_of_two_kinds_are_not_alike(tmp_path: Path) -> None:
    rows = tables(KERNELS["after"])
    for row in rows["step"]:
        row["kind"] = "prefill"
    write_capture(tmp_path / "decode", tables(KERNELS["after"]), level="edge")
    write_capture(tmp_path / "prefill", rows, level="edge")
    read_in(tmp_path / "akvsite.db", tmp_path / "decode", tmp_path / "prefill")
    with Store.open(tmp_path / "akvsite.db") as opened:
        ingest.install_views(opened)
        found = parts(site.SiteDesk(opened), "decode", "prefill")
    for name in ("regions", "phases", "kernels", "calls"):
        assert found[name].refusal == "decode and prefill steps are not alike"
        assert all(line.difference.value is None and line.a.value is not None for line in found[name].lines)


def test_device_and_edge_parts_are_structure(desk: site.SiteDesk) -> None:
    found = parts(desk, "before", "after")
    for name in ("kernels", "calls"):
        assert all(line.difference.use.startswith("structure") for line in found[name].lines)


# The design.


def test_bands_within_runs_are_not_carried_over_to_between_runs() -> None:
    runs = [
        [mean([base + n % 2 for n in range(400)], unit="ns") for base in side]
        for side in ((100, 110, 120), (90, 105, 111))
    ]
    minus, over = Design(PAIRS, "structure only", order="ABBAAB").difference(runs[0], runs[1], "ns")
    assert minus.value == pytest.approx(-8) and minus.n == 3 and "t over" in minus.method
    # By hand: differences -10, -5, -9; t of 2 degrees 4.3027 times s / sqrt(3).
    assert minus.high == pytest.approx(-8 + 4.302653 * 2.645751 / 3**0.5, rel=1e-4)
    assert over.scope.startswith("3 pairs") and minus.use == "structure only"
    drift, _ = Design(PAIRS, "", order="AAABBB").difference(runs[0], runs[1], "ns")
    assert drift.low is None and "not interleaved" in drift.refusal
    none, _ = Design("unpaired", "").difference(runs[0], runs[1], "ns")
    assert none.value is None and "not paired" in none.refusal
    lost, _ = Design(PAIRS, "", order="ABBAAB").difference(
        runs[0], [*runs[1][:2], unknown("gone", "ns")], "ns"
    )
    assert lost.value is None and lost.refusal == "gone"


def test_two_counts_make_a_count() -> None:
    minus, over = Design(TWO_RUNS, "").difference([counted(4, "calls")], [counted(1, "calls")], "calls")
    assert (minus.value, minus.kind) == (-3, "counted") and over.value == 0.25 and over.low is None
    estimated = quantile([10 + n % 3 for n in range(300)], 0.5, unit="ns")
    minus, over = Design(TWO_RUNS, "").difference([estimated], [counted(0, "ns")], "ns")
    assert minus.kind == "estimated" and minus.value == -11 and over.value is None


# One set of numbers: page, file, command.


def test_page_file_and_command_have_the_same_numbers(
    desk: site.SiteDesk, store: Path, akvsite: Any, tmp_path: Path
) -> None:
    pages = {page.path + page.ending: page.text for page in comparison.write(desk)}
    page, file = pages["comparisons/one.md"], pages["data/comparisons/one/all.csv"]
    assert 'href="../data/comparisons/one/all.csv"' in html.unescape(page)
    assert 'href="../data/comparisons/one/words.csv"' in html.unescape(page)
    done = akvsite("compare", "before", "after", "--store", store, "--csv", tmp_path / "all.csv", "--json")
    assert (done.code, done.err) == (0, "")
    written = (tmp_path / "all.csv").read_text()
    assert written == file
    said = pages["data/comparisons/one/words.csv"]
    assert (tmp_path / "all-words.csv").read_text() == said
    words = {row["words"]: row for row in csv.DictReader(io.StringIO(said))}
    rows = list(csv.DictReader(io.StringIO(file)))
    told = json.loads(done.out)["parts"]
    lines = [(part["part"], line) for part in told for line in part["lines"]]
    assert len(rows) == len(lines) > 10
    shown = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    for row, (part, line) in zip(rows, lines, strict=True):
        assert (row["part"], row["name"], row["statistic"], row["state"]) == (
            part, line["name"], line["statistic"], line["state"],
        )  # fmt: skip
        assert row["outputs and retractions"] == "THE OUTPUTS OF THE TWO SIDES DIFFER"
        for of in _compare_shown.NUMBERS:
            number = line[of]
            assert row[f"{of}: value"] == ("" if number["value"] is None else str(number["value"]))
            assert row[f"{of}: low"] == ("" if number["low"] is None else str(number["low"]))
            assert row[f"{of}: unit"] == number["unit"] and row[f"{of}: n"] == str(number["n"])
            of_it = words[row[f"{of}: words"]]
            assert "noise floor" in of_it["noise floor"]
            assert [of_it[k] for k in ("method", "scope", "use", "no band because")] == [
                number[k] for k in ("method", "scope", "use", "refusal")
            ]
            assert row["use"] == number["use"]
            if part != "steps":
                assert " ".join(number["text"].split()) in shown
    assert "rows/before.html#of=intervals&name=gemm&kind=kernel" in html.unescape(page)
    # A name that one side alone has leads to rows of that side.
    for run, other, name in (("before", "after", "old"), ("after", "before", "new")):
        assert f"rows/{run}.html#of=intervals&name={name}&" in html.unescape(page)
        assert f"rows/{other}.html#of=intervals&name={name}&" not in html.unescape(page)
    steps = "#of=steps&kind=decode&source=engine+annotation&nested=0&warm_up=0"
    assert f"rows/before.html{steps}" in html.unescape(page)
    plain = akvsite("compare", "before", "after", "--store", store).out
    assert plain.startswith("The outputs differ.\n") and "new: in B alone" in plain
    for line in plain.splitlines():
        if line.strip().startswith(("B minus A", "B over A")) or " B over A " in line:
            assert line.endswith("; structure, not speed")
    assert "B over A (structure, not speed)" in shown and not re.search(r"B over A (?!\(structure)", shown)


def test_outputs_and_facts_stand_before_every_number(desk: site.SiteDesk) -> None:
    (page,) = [page.text for page in comparison.write(desk) if page.ending == ".md"]
    places = [
        page.index(w) for w in ("The outputs differ", "What differs before", "Step time", "Part by part")
    ]
    assert places == sorted(places)


def test_every_value_of_a_fact_is_told() -> None:
    def written(*values: str) -> str:
        return Difference("contract", "x", values, ("1",)).written("A")

    assert written("7", "7") == "7"
    assert written("1", "2", "3", "4", "5") == "1; 2; 3; 4; 5 (a value each run, in their order)"
    assert (
        written("a", "b", "a", "c", "d")
        == "a (2 of 5 runs); b (1 of 5 runs); c (1 of 5 runs); d (1 of 5 runs)"
    )


@dataclass(frozen=True)
class Stated:
    side: str
    facts: dict[tuple[str, str], str]


def facts_of(a: Mapping[str, str], b: Mapping[str, str]) -> list[Difference]:
    """What is not the same of two runs whose facts are given as "part key"."""
    made = ({tuple(key.split(" ", 1)): value for key, value in of.items()} for of in (a, b))
    return differences([Stated(side, facts) for side, facts in zip("AB", made, strict=True)])


@pytest.mark.parametrize(
    ("fact", "under"),
    [
        ("duration_ns", "own"), ("user_ns", "own"), ("peak_resident_bytes", "own"), ("engine.profiler.file", "own"),
        ("memory_sampling.reads", "own"), ("memory_sampling.interval_ns", "capture"), ("exit_code", "capture"),
        ("engine.kv_bytes", "contract"), ("engine.failed", "contract"), ("engine.timeout_ns", "contract"),
    ],
)  # fmt: skip
def test_what_a_run_measured_of_itself_is_no_difference_before_the_numbers(fact: str, under: str) -> None:
    (found,) = facts_of({f"capture {fact}": "1"}, {f"capture {fact}": "2"})
    assert found.under == under
    assert [f.under for f in facts_of({"load after.load_1_min": "1"}, {"load after.load_1_min": "2"})] == [
        "own"
    ]


def test_what_a_side_does_not_state_is_not_known_to_differ() -> None:
    (found,) = facts_of({"contract cache": "on"}, {})
    assert not found.known and (found.written("A"), found.written("B")) == ("on", "not stated on B")
    (found,) = facts_of({"contract cache": "on"}, {"contract cache": "off"})
    assert found.known and found.written("B") == "off"
    assert not Difference("contract", "cache", ("on", None), ("on", "on")).known
    assert Difference("contract", "cache", ("on", "off"), (None, None)).known


def test_an_option_is_not_told_beside_what_the_engine_says_that_it_did() -> None:
    def keys(a: Mapping[str, str], b: Mapping[str, str]) -> list[str]:
        return [f.key for f in facts_of(a, b)]

    graphs = {"contract graphs": "on"}
    assert keys({"contract graphs": "off"}, graphs | {"contract engine.graphs": "yes"}) == ["graphs"]
    assert keys({"contract ipex": "off", "contract engine.no_ipex": "yes"}, {"contract ipex": "on"}) == [
        "ipex"
    ]
    one, two = ({"contract batch": n, "contract engine.batch": n} for n in "12")
    assert keys(one, two) == ["batch"]
    assert keys(one, two | {"contract engine.batch": "3"}) == ["batch", "engine.batch"], "they say two things"
    assert keys({}, {"contract engine.graphs": "yes"}) == ["engine.graphs"], "nothing else says it"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["before", "nothing", "--csv", "x.csv"], ["nothing", "no such run"]),
        (["before", "after", "--csv", "no/such/x.csv"], ["no/such/x.csv", "does not exist"]),
        (["before", "after", "--csv", "."], [".", "is not a file"]),
        (["--last-same-load", "before", "--csv", "x.csv"], ["before", "of no run before it"]),
    ],
)
def test_a_file_that_cannot_be_written_leaves_nothing(
    words: Sequence[str], said: Sequence[str], store: Path, akvsite: Any, tmp_path: Path
) -> None:
    akvsite("compare", *words, "--store", store).refused(*said)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_old_file(
    store: Path, akvsite: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    old = "part,name,statistic,old"
    (tmp_path / "x.csv").write_text(old)
    monkeypatch.setattr(Path, "replace", full)
    akvsite("compare", "before", "after", "--store", store, "--csv", "x.csv").refused(
        "x.csv", "No space left"
    )
    assert [p.name for p in tmp_path.iterdir()] == ["x.csv"] and (tmp_path / "x.csv").read_text() == old


def test_a_file_stays_small_however_many_names_it_has(desk: site.SiteDesk) -> None:
    one = quantile([10 + n % 3 for n in range(300)], 0.5, unit="ns")
    minus, over = Design(TWO_RUNS, "").difference([one], [one], "ns")
    lines = tuple(
        Line(f"kernel {n}", "p50 of a launch", replace(one, n=n), one, minus, over) for n in range(200)
    )
    part = Part("kernels", "Kernels", "kernel", lines=lines, noise="no noise floor: " + "reasons " * 40)
    rows, words = _compare_shown.csv_texts(replace(compared(desk, "before", "after"), parts=(part,)))
    assert len(rows) / len(lines) < 200 and words.count("\n") <= 1 + len(_compare_shown.NUMBERS)


def test_what_no_comparison_wrote_is_not_replaced(store: Path, akvsite: Any, tmp_path: Path) -> None:
    (tmp_path / "mine-words.csv").write_text("mine")
    for path in (store, tmp_path / "mine.csv"):
        before = store.read_bytes()
        akvsite("compare", "before", "after", "--store", store, "--csv", path).refused(
            "is no file of a comparison"
        )
        assert store.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["mine-words.csv"]
