"""A look at ourselves: what looking costs on each host, what each capture saw and lost, where its sources disagree."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import looked_at
import pytest
import words
from bundles import call, interval, read_in, write_capture

from akvsite import site
from akvsite.charts import missing_parts
from akvsite.pages import instruments
from akvsite.store import Store


class Looked:
    """The page's text, its tables as lists of cells by caption, and its charts by key."""

    def __init__(self, text: str, left: dict[str, str]) -> None:
        self.text = text
        self.charts = {
            path.rsplit("/", 1)[-1].removesuffix(".js"): words.spec_of(script)
            for path, script in left.items()
            if path.endswith(".js")
        }
        self.tables: dict[str, list[list[str]]] = {}
        for caption, body in re.findall(r"<caption>(.*?)</caption>.*?<tbody>(.*?)</tbody>", text, re.S):
            rows = [
                re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)
                for row in re.findall(r"<tr>(.*?)</tr>", body, re.S)
            ]
            self.tables[plain(caption)] = [[plain(cell) for cell in row] for row in rows]

    def table(self, begins: str) -> list[list[str]]:
        (found,) = (rows for caption, rows in self.tables.items() if caption.startswith(begins))
        return found

    def row(self, begins: str, *cells: str) -> list[str]:
        (found,) = (row for row in self.table(begins) if row[: len(cells)] == list(cells))
        return found


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())


def look(folder: Path, *more: Path) -> Looked:
    store = folder / "akvsite.db"
    read_in(store, folder, *more)
    left: dict[str, str] = {}
    with Store.open(store) as opened:
        site.take_notes(opened, folder)
        (page,) = instruments.write(site.SiteDesk(opened, left.__setitem__))
    assert page.path == "instruments"
    return Looked(page.text, left)


def test_a_level_without_an_experiment_costs_what_nobody_knows(tmp_path: Path) -> None:
    write_capture(tmp_path / "a", {"step": []}, host="quiet")
    found = look(tmp_path)
    rows = found.table("What each level adds")
    assert [row[:3] for row in rows] == [
        [level, "unknown: no experiment", "unknown: no experiment"]
        for level in ("runner", "host", "device", "edge")
    ]
    assert not found.charts
    assert "Noise floor unknown: no A/A experiment of this host counts" in plain(found.text)
    assert "What a tracer adds to a runtime call here: unknown" in plain(found.text)


def test_each_level_has_the_effect_of_each_experiment_newest_first(tmp_path: Path) -> None:
    looked_at.experiment(tmp_path / "probe-old", started="2026-11-01T10:00:00+00:00")
    looked_at.experiment(tmp_path / "probe-new", started="2026-11-02T10:00:00+00:00")
    looked_at.experiment(tmp_path / "elsewhere", host="other")
    found = look(tmp_path)
    bench = found.text.split("### bench")[1].split("### other")[0]
    bench = bench[: bench.index("</table>")]
    rows = [plain(row) for row in re.findall(r"<tr>(.*?)</tr>", bench, re.S)]
    edge = [row for row in rows if row.startswith("edge")]
    assert [re.search(r"probe-(new|old)", row)[1] for row in edge] == ["new", "old"]  # type: ignore[index]
    for row in edge:
        # A step of 2.00 ms at level off has 2.66 ms at this one.
        value, low, high = map(float, re.match(r"edge(-?[\d.]+) % \[(-?[\d.]+), (-?[\d.]+)\]", row).groups())  # type: ignore[union-attr]
        assert low <= 33 <= high and value == pytest.approx(33, abs=0.5)
    assert set(found.charts) == {"looking-bench", "looking-other"}
    for spec in found.charts.values():
        assert spec
        footer = spec["usermeta"]["akv"]["footer"]
        assert not missing_parts(footer)
        assert any("not a speed" in line for line in footer)
        assert {row["state"] for row in spec["datasets"]["rows"]} == {"value with band"}


def test_a_level_that_an_experiment_left_out_is_drawn_hollow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(looked_at.STEP_NS, "device")
    looked_at.experiment(tmp_path / "probe-x")
    found = look(tmp_path)
    spec = found.charts["looking-bench"]
    assert spec
    drawn = {row["name"]: (row["state"], row["value"]) for row in spec["datasets"]["rows"]}
    assert drawn["device"] == ("unknown", None) and drawn["edge"][0] == "value with band"


def test_an_experiment_under_a_retraction_says_so_beside_its_name_and_in_the_chart(tmp_path: Path) -> None:
    looked_at.experiment(tmp_path / "probe-x")
    store = tmp_path / "akvsite.db"
    read_in(store, tmp_path)
    left: dict[str, str] = {}
    with Store.open(store) as opened:
        site.take_notes(opened, tmp_path)
        with opened.transaction():
            opened.insert(
                "claim",
                {
                    "claim": "c",
                    "date": "2026-11-01",
                    "state": "retracted",
                    "scope": "timeline",
                    "statement": "s",
                    "body": "",
                },
            )
            opened.insert("claim_run", {"claim": "c", "kind": "run", "name": "probe-x"})
            opened.insert(
                "retraction",
                {"retraction": "r1", "date": "2026-11-02", "claim": "c", "reason": "no", "body": ""},
            )
        (page,) = instruments.write(site.SiteDesk(opened, left.__setitem__))
    found = Looked(page.text, left)
    assert "retractions.html#r1" in page.text
    spec = found.charts["looking-bench"]
    assert spec and any("RETRACTED 2026-11-02" in line for line in spec["usermeta"]["akv"]["footer"])


def test_every_record_is_in_tables_counted_or_in_quarantine_and_unknown_is_not_0(tmp_path: Path) -> None:
    write_capture(
        tmp_path / "seen",
        {
            "level4_edge": [call(0, 5, 1), call(10, 15, 2), call(20, 25, 3, name="cudaMemcpyAsync")],
            "level3_device": [interval(2, 8, 1)],
            "token": [{"request": "a", "number": n, "sent_ns": 5 * n} for n in range(4)],
        },
        level="edge",
    )
    cut = tmp_path / "cut.json"
    cut.write_text(
        '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}, {"ph"'
    )
    found = look(tmp_path, cut)
    seen = found.row("Records of 2 runs", "seen")
    assert seen[1:7] == ["edge", "4", "8", "8", "0", "0"]
    assert seen[7] == "unknown: no file tells it" and seen[8] == "unknown: no recorder tells it"
    assert seen[9] == "copy 0 of 1, kernel 1 of 2" and seen[10] == "kernel 1 of 1"
    assert seen[11].startswith("4 tokens: 1 of 10 milestones of all of them; arrived 0 of 4")
    assert seen[12:14] == ["none recorded", "none recorded"]
    assert 'href="runs/seen.html#records"' in found.text
    (other,) = (row for row in found.table("Records of 2 runs") if row[0] != "seen")
    assert other[2] == "1, 1 cut short" and other[11] == "none recorded"


def steps_of(source: str, starts: list[int], length: int, first: int = 0) -> list[dict[str, Any]]:
    return [
        {
            "name": f"step.{n}", "start_ns": start, "end_ns": start + length, "number": n, "kind": "decode",
            "source": source, "warm_up": 0,
        }
        for n, start in enumerate(starts, first)
    ]  # fmt: skip


def test_pairs_beyond_what_the_clocks_leave_open_are_listed_and_the_others_counted(tmp_path: Path) -> None:
    own = steps_of("probe", [1000 * n for n in range(20)], 500)
    # The profiler's are as long, but for eight, each longer than the one before.
    other = steps_of("profiler step", [1000 * n for n in range(20)], 500)
    for n in range(8):
        other[n]["end_ns"] += 10 * (n + 1)
    write_capture(tmp_path / "two", {"step": own + other}, level="host")
    found = look(tmp_path)
    assert found.row("How many steps", "two")[2:] == ["probe 20; profiler step 20", "20", "0"]
    row = found.row("The same thing", "two", "length of a step")
    assert row[2:4] == ["probe, profiler step", "20"]
    assert row[4:8] == ["8", "12", "0", "80.00 ns, ±4.0 ns"]
    listed = found.table("Beyond what the clocks leave open: length of a step")
    assert [cells[1] for cells in listed] == [
        "step 7",
        "step 6",
        "step 5",
        "step 4",
        "step 3",
        "and 3 more pairs",
    ]
    assert listed[0][2:4] == ["500.0 ns", "580.0 ns"]
    # The starts are the same: counted, and no list of them.
    assert found.row("The same thing", "two", "start of a step")[4:7] == ["0", "20", "0"]
    assert not any(
        caption.endswith("start of a step; the widest of each run, up to 5") for caption in found.tables
    )


def test_client_and_engine_are_set_beside_each_other(tmp_path: Path) -> None:
    tokens = [
        {
            "request": f"r{r}", "number": n, "tokens": 1, "step": n, "arrived_ns": 100, "scheduled_ns": 200,
            "sent_ns": 1000 + 100 * n, "client_ns": 1050 + 100 * n if r else 990 + 100 * n,
        }
        for r in range(2)
        for n in range(3)
    ]  # fmt: skip
    requests = [
        {
            "name": f"r{r}", "start_ns": 90, "end_ns": 2000 + r, "zero": "capture", "output_tokens": 3 - r, "ttft_ns": 960,
            "ok": 1,
        }
        for r in range(2)
    ]  # fmt: skip
    write_capture(tmp_path / "served", {"token": tokens, "request": requests}, level="runner")
    found = look(tmp_path)
    last = found.row("The same thing", "served", "last token: sent, and seen by the client")
    # One was seen before it was sent, by more than two clocks' steps.
    assert last[3] == "2" and last[4:7] == ["2", "0", "1"]
    first = found.row("The same thing", "served", "time to first token")
    assert first[7].startswith("60.00 ns") and first[4] == "2"
    assert found.row("Tokens of a request", "served")[1:] == ["2", "1", "1", "r1: client 2, engine 3"]


def test_sources_that_were_not_there_are_no_agreement(tmp_path: Path) -> None:
    write_capture(tmp_path / "one", {"step": steps_of("probe", [0, 1000], 500)})
    found = look(tmp_path)
    assert found.table("The same thing") == [["none"]]
    assert not any(caption.startswith("Beyond") for caption in found.tables)


def test_the_page_passes_no_verdict(tmp_path: Path) -> None:
    looked_at.experiment(tmp_path / "probe-x")
    found = look(tmp_path)
    assert not words.verdicts(words.of_page(found.text))
