"""What single pages say: cases from other tools' reports, and the rules."""

from __future__ import annotations

import html as entities
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import built_site
import claims
import pytest
import words
from test_build import html

from akvsite import site
from akvsite.errors import BadInput
from akvsite.pages import claims as claim_pages
from akvsite.pages import comparison as comparison_pages
from akvsite.store import Store


def said(project: Path, page: str) -> str:
    return words.of_page(html(project, page))


def test_a_metadata_only_trace_has_a_page_that_says_0_events(project: Path) -> None:
    """D17: facebookresearch/HolisticTraceAnalysis#337."""
    text = said(project, "runs/metadata-only")
    assert "0 events" in text
    assert "metadata" in text


def test_launches_without_records_are_unknown_and_not_idle(project: Path) -> None:
    """D8: intel/torch-xpu-ops#3985."""
    text = said(project, "runs/launches-unseen")
    assert "kernels 0 of 200 launched" in text
    assert "copies 12 of 12 launched" in text
    assert "idle time is unknown" in text
    assert "100 %" not in text.replace("95 %", "")
    rows = json.loads(
        built_site.run(
            project,
            "sql",
            "SELECT * FROM coverage c JOIN run r ON r.id = c.run_id WHERE r.name = 'launches-unseen'",
            "--json",
        ).stdout
    )
    assert {(r["direction"], r["kind"]): (r["seen"], r["expected"]) for r in rows} == {
        ("calls with device records", "kernel"): (0, 200),
        ("calls with device records", "copy"): (12, 12),
        ("device records with a call", "copy"): (12, 12),
    }


def test_a_device_is_busy_once_and_a_stream_is_listed_once_a_device(project: Path) -> None:
    """D9: GindaChen/nsys-ai#574. Times are in the trace's microseconds."""
    query = "SELECT device, lane, union_ns, sum_ns FROM device_time t JOIN run r ON r.id = t.run_id WHERE r.name = 'two-devices' AND lane = 'all' ORDER BY device"
    rows = json.loads(built_site.run(project, "sql", query, "--json").stdout)
    assert [(r["device"], r["union_ns"], r["sum_ns"]) for r in rows] == [
        ("0", 150_000, 200_000),
        ("1", 150_000, 150_000),
    ]
    text = said(project, "runs/two-devices")
    assert "200.0 us (a sum over queues)" in text
    queues = json.loads(
        built_site.run(
            project,
            "sql",
            "SELECT device, queue FROM device_queues q JOIN run r ON r.id = q.run_id WHERE r.name = 'two-devices'",
            "--json",
        ).stdout
    )
    assert sorted((q["device"], q["queue"]) for q in queues) == [("0", "7"), ("0", "8"), ("1", "7")]


def test_a_kernel_before_its_launch_keeps_its_link_and_its_time(project: Path) -> None:
    """D3: pytorch/kineto#1380."""
    text = said(project, "runs/kernel-before-launch")
    assert "begin before their call on this axis: 1 of 2 records, kept as recorded" in text
    # Against the clock's bound, which the vendor does not tell: what causality alone says stands in its place.
    assert "by the vendor, unproven: bound unknown" in text
    assert "1 of 2 (counted), by 600.0 ns at most" in text
    assert "from causality alone unknown" in text
    chart = (project / "site" / "data" / "runs" / "kernel-before-launch" / "delay-percentiles.js").read_text()
    assert "clock: bound unknown" in chart
    delays = json.loads(
        built_site.run(
            project,
            "sql",
            "SELECT delay_ns FROM launch_delay d JOIN run r ON r.id = d.run_id WHERE r.name = 'kernel-before-launch' ORDER BY 1",
            "--json",
        ).stdout
    )
    assert [d["delay_ns"] for d in delays] == [-600, 2000]


def test_a_file_cut_short_says_so(project: Path) -> None:
    assert "Cut short: cut-short.json" in said(project, "runs/cut-short")


def test_names_from_captures_are_text_and_nothing_else(project: Path) -> None:
    page = html(project, "runs/hostile-names")
    assert "<img" not in page
    assert "javascript:" not in page.replace(entities.escape("(javascript:alert(1))"), "").replace(
        "&#40;javascript&#58;alert&#40;1&#41;&#41;", ""
    ).replace("(javascript:alert(1))", "")
    assert "onerror" in page, "the name itself is shown"
    assert "\u202e" not in page, "nothing turns the reading direction round"


def test_the_device_page_prints_what_was_seen_beside_its_numbers(project: Path) -> None:
    text = said(project, "runs/h200-kv-prefetch-device")
    assert "copies 384 of 384 launched, kernels 3672 of 3672 launched" in text
    assert "device to host by the vendor, unproven" in text
    assert "32 ns, told from the lengths of its records" in text and "as the runtime gives it" not in text
    assert "stay open until a control" in text


def test_an_instrumented_run_states_no_speed(project: Path) -> None:
    assert "It cannot state speed: captured while it ran" in said(project, "runs/h200-kv-prefetch-device")
    assert "No run here states speed" in said(project, "index")


def test_the_comparison_says_first_that_outputs_differ(project: Path) -> None:
    text = said(project, "comparisons/h200-prefetch")
    assert (
        text.index("The outputs differ")
        < text.rindex("What differs before any number")
        < text.rindex("Step time")
    )
    assert "prefetch one layer ahead" in text
    for number in ("B minus A", "B over A", "6 pairs"):
        assert number in text


def test_levels_are_never_pooled(project: Path) -> None:
    text = said(project, "comparisons/mixed-levels")
    assert "No difference is formed: levels device and off are not pooled" in text
    assert "B over A" not in text


def test_no_difference_is_formed_where_the_load_is_not_known(project: Path) -> None:
    """What the captures say of it is on the page and in every chart; ABBA pairs stand for it by their design."""
    text = said(project, "comparisons/loads-unknown")
    assert (
        "No difference is formed: it is unknown whether the loads were the same: load a core 0.036 and 0.028"
        in text
    )
    assert "load a core at most 0.10 apart" in text and "B minus A" not in text
    text = said(project, "comparisons/one-run-a-side")
    assert (
        "the same within the tolerance: load a core 0.275 and 0.300, 0.025 apart" in text
        and "B minus A" in text
    )
    assert "Beside the bands: noise floor unknown: no A/A experiment of this host counts" in text
    text = said(project, "comparisons/h200-prefetch")
    assert "the design stands for it, not the fingerprint: runs of A and B alternate as ABBAABBAABBA" in text
    for name in ("one-run-a-side", "loads-unknown", "h200-prefetch"):
        charts = [p.read_text() for p in (project / "site/data/comparisons" / name).glob("*.js")]
        for chart in charts:
            spec = json.loads(chart[chart.index(",") + 1 : chart.rindex(")")])
            said_in_it = " ".join(spec["usermeta"]["akv"]["footer"])
            assert "load: " in said_in_it and "noise floor" in said_in_it, name
        assert charts


def test_one_run_a_side_has_no_band_for_the_configuration(project: Path) -> None:
    text = said(project, "comparisons/one-run-a-side")
    assert "these two runs only" in text
    assert "between runs: unknown (1 run)" in text
    table = text[text.index("A, over runs") : text.index("B minus A")]
    assert table.count("no band: between runs: unknown (1 run)") == 6
    # A band for a configuration is one over runs: none is on a page of one run a side, nor on any page of a run.
    pages = [
        project / "site" / "comparisons" / "one-run-a-side.html",
        *(project / "site" / "runs").glob("*.html"),
    ]
    charts = [
        chart
        for page in pages
        for chart in (project / "site" / "data" / page.parent.name / page.stem).glob("*.js")
    ]
    assert len(pages) > 15 and len(charts) > 30
    of_runs = re.compile(r"\] 95(\.\d)? %, \d+ (runs|pairs)")
    for file in [*pages, *charts]:
        if not file.stem.startswith("tracer-"):  # an experiment of many runs, whose page says so
            assert of_runs.search(file.read_text(encoding="utf-8")) is None, file


def test_an_excluded_run_stays_and_says_why(project: Path) -> None:
    text = said(project, "runs/two-devices")
    assert "Excluded on" in text and "a second job ran" in text
    assert "two-devices" not in said(project, "index")
    done = built_site.run(project, "compare", "two-devices", "h200-decode-off-a1")
    assert "two-devices is left out" in done.stdout and "B minus A" not in done.stdout
    assert (project / "captures" / "exclusions" / "two-devices.md").is_file()


def test_a_retraction_stamps_everything_that_used_the_claim(project: Path) -> None:
    for page in (f"runs/{built_site.RETRACTED_RUN}", "comparisons/h200-prefetch", "claims/withdrawn"):
        text = entities.unescape(html(project, page))
        assert "akv-stamp" in text and "etracted on 2026-11-30" in text, page
    # The claim cites a comparison: every run in it carries the stamp, and a run that it does not stand on does not.
    assert "Claim retracted on" in entities.unescape(html(project, "runs/h200-decode-off-b3"))
    assert "etracted on" not in html(project, "runs/cpu-torch-profiler")
    for chart in ("runs/h200-decode-off-a0/step-series", "comparisons/h200-prefetch/runs-p50"):
        script = (project / "site" / "data" / f"{chart}.js").read_text(encoding="utf-8")
        assert "RETRACTED 2026-11-30" in script, "a screenshot carries the stamp"
    assert (
        "THE OUTPUTS OF THE TWO SIDES DIFFER"
        in (project / "site" / "data" / "comparisons" / "h200-prefetch" / "runs-p50.js").read_text()
    )
    assert "withdrawn-1" in html(project, "index")
    claim = html(project, "claims/withdrawn")
    assert "Prefetching is faster" in claim, "the old text stays readable under its stamp"
    assert "<script>document.title" not in claim


def test_serving_results_show_first_tokens_with_bands(project: Path) -> None:
    text = said(project, "runs/serving")
    assert "TTFT" in text and "TPOT" in text
    assert "260" in text and "259" in text


def test_every_figure_prints_level_clock_and_sight(project: Path) -> None:
    data, figures = project / "site" / "data", 0
    for script in data.rglob("*.js"):
        if script.is_relative_to(data / "rows"):
            continue  # rows that a page loads on demand: what draws them prints the line
        figures += 1
        text = script.read_text(encoding="utf-8")
        for part in ("level ", "clock ", "seen: "):
            assert part in text, f"{script} has no {part!r} in its printed line"
    assert figures > 100


def test_quarantine_and_account_are_on_the_page(project: Path) -> None:
    text = said(project, "runs/h200-kv-prefetch-device")
    assert "a flow arrow" in text and "7,512" in text


def test_notes_are_text_and_cannot_look_like_the_page(small_project: Path, tmp_path: Path) -> None:
    again = tmp_path / "notes"
    shutil.copytree(small_project, again)
    claims.write_claim(
        again / "captures",
        "active",
        body='# Heading\n\n!!! danger "Retracted on 2026"\n    box\n\n[click](javascript:alert(4)) ![p](http://evil.example/x.png)\n\n'
        '*em*{: onclick="alert(21)" .akv-stamp }\n\n' + "[" * 20_000,
    )
    (again / "captures" / "comparisons" / "title.toml").write_text(
        'name = "title"\ntitle = "</title><script>alert(99)</script>"\ndesign = "two runs"\n'
        '[a]\nlabel = "x"\nruns = ["h200-decode-off-a0"]\n[b]\nlabel = "y"\nruns = ["h200-decode-off-a1"]\n'
    )
    built_site.run(again, "build")
    page = html(again, "claims/active")
    assert page.count("<h1") == 1
    for active in ("<img", 'href="javascript', 'onclick="', 'class="admonition'):
        assert active not in page
    assert "<script>alert(99)" not in html(again, "comparisons/title")


def test_a_claim_cannot_leave_open_without_a_control_that_counts(project: Path, tmp_path: Path) -> None:
    """An instrumented run; an excluded one; one that counts; and one that this store does not have."""
    notes, store = tmp_path / "captures", tmp_path / "akvsite.db"
    for kind in ("claims", "retractions", "inquiries", "exclusions", "comparisons", "histories"):
        shutil.copytree(project / "captures" / kind, notes / kind)
    shutil.copy(project / "akvsite.db", store)

    def take(control: str) -> str:
        history = claims.cited("run", "h200-decode-off-a0"), claims.supported(control)
        claims.write_claim(notes, "bold", *history, about=["overlap"], statement="Copies overlap.")
        with Store.open(store) as opened:
            site.take_notes(opened, notes)
            desk = site.SiteDesk(opened)
            pages = {page.path: page.text for page in claim_pages.write(desk)}
        return entities.unescape(re.sub("<[^>]+>", "", pages["claims/bold"]))

    for control in ("h200-kv-prefetch-device", "two-devices"):
        with pytest.raises(BadInput) as refused:
            take(control)
        assert "bold" in str(refused.value) and control in str(refused.value)
    assert "supported by control h200-overlap-control" in take("h200-overlap-control")
    shown = take("nowhere")
    assert "stateopen" in shown and "nowhere is not in this store" in shown and "supported by" not in shown


def test_an_excluded_run_is_in_no_number_of_a_comparison(project: Path, tmp_path: Path) -> None:
    notes, store = tmp_path / "captures", tmp_path / "akvsite.db"
    for kind in ("claims", "retractions", "inquiries", "exclusions", "comparisons", "histories"):
        shutil.copytree(project / "captures" / kind, notes / kind)
    shutil.copy(project / "akvsite.db", store)
    excluded = ("h200-decode-off-b2", "--because", "the card was shared")
    built_site.run(tmp_path, "exclude", *excluded)
    files: dict[str, str] = {}
    with Store.open(store) as opened:
        site.take_notes(opened, notes)
        pages = {p.path: p.text for p in comparison_pages.write(site.SiteDesk(opened, files.__setitem__))}
    text = " ".join(re.sub("<[^>]+>", " ", entities.unescape(pages["comparisons/h200-prefetch"])).split())
    under = "(under retraction withdrawn-1 )"
    assert f"h200-decode-off-b2 {under} is left out: excluded on" in text
    assert f"h200-decode-off-a2 {under} is left out: the other run of its pair is excluded" in text
    assert "5 pairs" in text and "6 pairs" not in text
    numbers = [
        held for name, held in files.items() if re.fullmatch(r"data/comparisons/h200-prefetch/.*\.csv", name)
    ]
    assert numbers and not any("h200-decode-off-b2" in held for held in numbers)


def test_idle_is_unknown_when_anything_may_be_missing(project: Path) -> None:
    for run in ("cut-short", "launches-unseen", "two-devices"):
        assert "Where no record lies is not known to be idle" in said(project, f"runs/{run}"), run


def test_two_builds_at_once_leave_a_whole_site(small_project: Path, tmp_path: Path) -> None:
    again = tmp_path / "twice"
    shutil.copytree(small_project, again)
    whole = sorted(p.relative_to(again) for p in (again / "site").rglob("*"))
    words_ = [sys.executable, "-c", "from akvsite.cli import main; main()", "build"]
    builds = [
        subprocess.Popen(
            words_,
            cwd=again,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(built_site.ROOT)},
        )
        for _ in range(3)
    ]
    assert [build.wait() for build in builds] == [0, 0, 0]
    assert sorted(p.relative_to(again) for p in (again / "site").rglob("*")) == whole
    assert not [p.name for p in again.iterdir() if p.name.startswith(".site")]
