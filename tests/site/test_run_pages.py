"""What single pages say: cases from other tools' reports, and the rules."""

from __future__ import annotations

import html as entities
import json
from pathlib import Path

import built_site
import words
from test_build import html


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
    assert "1 of 2 records begin before their call on this axis: kept as they are" in text
    assert "unproven" in text
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
    assert "stays open until a control" in text


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


def test_one_run_a_side_has_no_band_for_the_configuration(project: Path) -> None:
    text = said(project, "comparisons/one-run-a-side")
    assert "these two runs only" in text
    assert "between runs: unknown (1 run)" in text


def test_an_excluded_run_stays_and_says_why(project: Path) -> None:
    text = said(project, "runs/two-devices")
    assert "Excluded: excluded on" in text and "a second job ran" in text
    assert "two-devices" not in said(project, "index")
    assert (project / "captures" / "exclusions" / "two-devices.md").is_file()


def test_a_retraction_stamps_everything_that_used_the_claim(project: Path) -> None:
    for page in (f"runs/{built_site.RETRACTED_RUN}", "comparisons/h200-prefetch", "claims"):
        text = entities.unescape(html(project, page))
        assert "akv-stamp" in text and "Retracted on 2026-11-30" in text, page
    assert "Retracted" not in html(project, "runs/h200-decode-off-a1")
    assert "withdrawn-1" in html(project, "index")
    claims = html(project, "claims")
    assert "Prefetching is faster" in claims, "the old text stays readable under its stamp"
    assert "<script>document.title" not in claims


def test_serving_results_show_first_tokens_with_bands(project: Path) -> None:
    text = said(project, "runs/serving")
    assert "TTFT" in text and "TPOT" in text
    assert "260" in text and "259" in text


def test_every_figure_prints_level_clock_and_sight(project: Path) -> None:
    for script in (project / "site" / "data").rglob("*.js"):
        text = script.read_text(encoding="utf-8")
        for part in ("level ", "clock ", "seen: "):
            assert part in text, f"{script} has no {part!r} in its printed line"


def test_quarantine_and_account_are_on_the_page(project: Path) -> None:
    text = said(project, "runs/h200-kv-prefetch-device")
    assert "a flow arrow" in text and "7,512" in text
