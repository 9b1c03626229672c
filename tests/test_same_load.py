"""What differs before any number is named where it belongs, and a difference takes loads that are known to be the same."""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import looked_at
import pytest
from bundles import read_in, steps, write_capture

from akvsite import ingest, site
from akvsite.pages import comparison, hosts, run
from akvsite.store import Store

Facts = Mapping[str, Mapping[str, object]]

BASE: Facts = {
    "host.facts": {"cpus": 4, "kernel": "6.1"},
    "contract": {"workload": "decode", "output_hash": "aa", "weight_bytes": 1024, "kv_cache_bytes": 512},
    "contract.versions": {"driver": "1.0"},
    "software": {"torch": "2.11.0"},
    "software.environment": {"SYCL_CACHE_PERSISTENT": "1"},
    "device.gpu_0": {"name": "Card", "clock_most_mhz": "1980", "memory_mib": "16384", "power_limit_w": "700"},
    "load.before": {"load_1_min": 1.0, "governor": "powersave"},
    "load.before.device": {"other_processes": 1, "other_memory_mib": 64},
    "load.before.device.gpu_0": {"clock_mhz": "345", "temperature_c": "35"},
    "capture.engine": {"kv_blocks": 64},
}
#: One difference at a time: where it is planted, its key, and the value on side B; None leaves it out there.
PLANTED = {
    "workload": ("contract", "workload", "prefill"),
    "a version": ("software", "torch", "2.12.0"),
    "a version of the contract": ("contract.versions", "driver", "1.1"),
    "a version that one side states": ("software", "torch", None),
    "the device's clock": ("device.gpu_0", "clock_most_mhz", "1500"),
    "the governor": ("load.before", "governor", "performance"),
    "the governor that one side states": ("load.before", "governor", None),
    "the power limit": ("device.gpu_0", "power_limit_w", "500"),
    "the cache": ("contract", "kv_cache_bytes", 2048),
    "the cache that one side states": ("contract", "kv_cache_bytes", None),
    "the weights": ("contract", "weight_bytes", 2048),
    "device memory": ("device.gpu_0", "memory_mib", "8192"),
    "blocks of the engine": ("capture.engine", "kv_blocks", 128),
    "a switch": ("software.environment", "SYCL_CACHE_PERSISTENT", "0"),
    "a switch that one side sets": ("software.environment", "UR_ADAPTERS_FORCE_LOAD", "x"),
    "the kernel": ("host.facts", "kernel", "6.2"),
}
#: Loads of side B beside a load a core of 0.25, and whether they are the same.
LOADS: dict[str, tuple[dict[str, dict[str, object]], int | None]] = {
    "same": ({"load.before": {"load_1_min": 1.4}}, 1),
    "apart": ({"load.before": {"load_1_min": 1.41}}, 0),
    "quieter": ({"load.before": {"load_1_min": 0.59}}, 0),
    "governor": ({"load.before": {"governor": "performance"}}, 0),
    "more processes": ({"load.before.device": {"other_processes": 2}}, 0),
    "silent": ({"load.before": {"load_1_min": None}}, None),
    "silent of cores": ({"host.facts": {"cpus": None}}, None),
    "silent of processes": ({"load.before.device": {"other_processes": None}}, None),
    "silent of the governor": ({"load.before": {"governor": None}}, None),
}  # fmt: skip


def toml(facts: Facts) -> str:
    lines = []
    for table, values in facts.items():
        lines.append(f"[{table}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items() if value is not None]
    return "\n".join(lines)


def changed(facts: Facts) -> Facts:
    return {part: {**BASE.get(part, {}), **facts.get(part, {})} for part in {**BASE, **facts}}


def capture(folder: Path, facts: Facts, *, minute: int = 0, level: str = "off", **how: Any) -> Path:
    lengths = [1_000_000 + 100 * (n * 37 % 101) + 10 * minute for n in range(200)]
    rows = steps(len(lengths), **how.pop("row", {}))
    for row, end, length in zip(rows, itertools.accumulate(lengths), lengths, strict=True):
        row |= {"start_ns": end - length, "end_ns": end}
    top = f'engine = "toy"\nwarm_up_steps = 0\ntiming_events = "off"\nstarted = "2026-01-01T10:{minute:02}:00+00:00"'
    how = {"host": "busy", **how}
    return write_capture(folder, {"step": rows}, level=level, top=top, more=toml(changed(facts)), **how)


def declare(folder: Path, name: str, a: list[str], b: list[str], design: str = "two runs") -> None:
    (folder / "comparisons").mkdir(exist_ok=True)
    sides = "".join(f"[{s}]\nlabel = '{s}'\nruns = {json.dumps(r)}\n" for s, r in (("a", a), ("b", b)))
    (folder / "comparisons" / f"{name}.toml").write_text(
        f'name = "{name}"\ntitle = "Which?"\ndesign = "{design}"\n{sides}'
    )


def slug(words: str) -> str:
    return re.sub(r"\W+", "-", words)


def pages_of(store: Path, folder: Path, *modules: Any) -> dict[str, str]:
    """The text of each page, without its tags."""
    with Store.open(store) as opened:
        ingest.install_views(opened)
        site.take_notes(opened, folder)
        desk = site.SiteDesk(opened)
        made = {p.path: p.text for module in modules for p in module.write(desk) if p.ending == ".md"}
    return {
        path: " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split()) for path, text in made.items()
    }


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A store with a run, one that differs in one thing for each thing that is planted, and the pages."""
    folder = tmp_path_factory.mktemp("planted")
    capture(folder / "a", {})
    for what, (part, key, value) in PLANTED.items():
        capture(folder / slug(what), {part: {key: value}})
        declare(folder, slug(what), ["a"], [slug(what)])
    for what, (facts, _) in LOADS.items():
        capture(folder / f"load-{slug(what)}", facts)
        declare(folder, f"load-{slug(what)}", ["a"], [f"load-{slug(what)}"])
    capture(folder / "outputs", {"contract": {"output_hash": "bb"}, "software": {"torch": "2.12.0"}})
    declare(folder, "outputs", ["a"], ["outputs"])
    for level, name in (("host", "s1"), ("host", "s2")):
        capture(folder / name, LOADS["apart" if name == "s2" else "quieter"][0], level=level)
    capture(folder / "lying", {}, row={"source": "profiler step"})
    read_in(folder / "akvsite.db", folder)
    return folder / "akvsite.db", pages_of(folder / "akvsite.db", folder, comparison)


def compared(akvsite: Any, store: Path, *runs: str) -> dict[str, Any]:
    done = akvsite("compare", *runs, "--json", "--store", store)
    assert (done.code, done.err) == (0, "")
    found: dict[str, Any] = json.loads(done.out)
    return found


# What differs before any number.


@pytest.mark.parametrize("what", PLANTED)
def test_a_difference_of_the_contract_is_named(
    what: str, planted: tuple[Path, dict[str, str]], akvsite: Any
) -> None:
    store, pages = planted
    table, key, value = PLANTED[what]
    part, _, inner = table.partition(".")
    part, key = ("host", key) if part == "host" else (part, f"{inner}.{key}".lstrip("."))
    sides = (BASE.get(table, {}).get(PLANTED[what][1]), value)
    found = compared(akvsite, store, "a", slug(what))
    told, silent = ("differences", "not_stated_by_every_run")[:: -1 if None in sides else 1]
    a, b = (None if side is None else str(side) for side in sides)
    assert found[told] == [{"under": "contract", "part": part, "key": key, "A": a, "B": b}]
    assert found[silent] == [] and found["of_each_run_alone"] == []
    page = pages[f"comparisons/{slug(what)}"]
    contract, rest = page[page.index("Contract, host and software") :].split("Load before the runs")
    row = f"{part} {key} {a or 'not stated on A'} {b or 'not stated on B'}"
    if None in sides:
        assert "nothing that the captures state differs" in contract
        assert row in rest[rest.index("whether it differs is unknown") :]
    else:
        assert row in contract and "whether it differs is unknown" not in page
    assert "its place in the design: nothing that the captures state differs" in page


@pytest.mark.parametrize("what", ["same", "more processes"])
def test_a_difference_of_the_load_is_none_of_the_contract(
    what: str, planted: tuple[Path, dict[str, str]], akvsite: Any
) -> None:
    store, pages = planted
    found = compared(akvsite, store, "a", f"load-{slug(what)}")
    assert found["differences"] == [] and found["load"]["fingerprints"]["a"]
    assert {d["under"] for d in found["of_each_run_alone"]} == {"load"}
    assert (
        "Contract, host and software: nothing that the captures state differs"
        in pages[f"comparisons/load-{slug(what)}"]
    )


def test_outputs_that_differ_stand_first(planted: tuple[Path, dict[str, str]], akvsite: Any) -> None:
    store, pages = planted
    found = compared(akvsite, store, "a", "outputs")
    assert [d["under"] for d in found["differences"]] == ["outputs", "contract"]
    assert akvsite("compare", "a", "outputs", "--store", store).out.startswith("The outputs differ.\n")
    page = pages["comparisons/outputs"]
    assert (
        page.index("The outputs differ") < page.index("Contract, host and software") < page.index("Step time")
    )


# A difference takes the same load.


@pytest.mark.parametrize("what", LOADS)
def test_two_runs_on_a_busy_host_form_a_difference_under_the_same_load_alone(
    what: str, planted: tuple[Path, dict[str, str]], akvsite: Any
) -> None:
    store, pages = planted
    name, same = f"load-{slug(what)}", LOADS[what][1]
    found = compared(akvsite, store, "a", name)
    assert found["load"]["same"] == same
    assert set(found["load"]["fingerprints"]) == {"a", name}
    assert "load a core at most 0.10 apart" in found["load"]["tolerance"]
    formed = {n["of"] for n in found["numbers"]}
    assert formed == ({"A", "B", "B minus A", "B over A"} if same else {"A", "B"})
    assert found["use"].startswith("for a comparison under the same load" if same else "side by side only")
    assert all("speed" not in n["use"].replace("not a speed", "") for n in found["numbers"])
    page = pages[f"comparisons/{name}"]
    assert ("B minus A" in page) == bool(same)
    assert found["load"]["because"] in page and found["load"]["tolerance"] in page
    for words in found["load"]["fingerprints"].values():
        assert words in page
    if not same:
        assert found["refusal"] in page and f"No difference is formed: {found['refusal']}" in page


def test_structure_is_compared_with_its_load_beside_it(
    planted: tuple[Path, dict[str, str]], akvsite: Any
) -> None:
    found = compared(akvsite, planted[0], "s1", "s2")
    assert found["load"]["same"] == 0 and found["refusal"] == ""
    assert {n["of"] for n in found["numbers"]} == {"A", "B", "B minus A", "B over A"}
    assert all(re.search("not speed|structure", n["use"]) for n in found["numbers"])
    found = compared(akvsite, planted[0], "s1", "load-apart")
    assert found["refusal"] == "levels host and off are not pooled: their runs are shown side by side"


def test_a_run_that_declares_less_than_it_holds_is_not_pooled(
    planted: tuple[Path, dict[str, str]], akvsite: Any
) -> None:
    found = compared(akvsite, planted[0], "a", "lying")
    assert "are not pooled" in found["refusal"] and {n["of"] for n in found["numbers"]} == {"A", "B"}
    assert {n["use"] for n in found["numbers"] if n["of"] == "B"} == {"structure, not speed"}


#: Places of a0, a1, b0 and b1 in the order of the runs. One that is not stated, or stated twice, is none.
ORDERS: dict[str, list[int | None]] = {
    "alternating": [0, 3, 1, 2],
    "not alternating": [0, 1, 2, 3],
    "stated twice": [0, 1, 0, 1],
    "not stated": [None] * 4,
    "not stated by one": [0, 3, 1, None],
}


@pytest.mark.parametrize("how", ORDERS)
def test_interleaved_pairs_stand_for_their_load_by_design(how: str, tmp_path: Path) -> None:
    names = ["a0", "a1", "b0", "b1"]
    for place, name in enumerate(names):
        facts = {"load.before": {"load_1_min": 1.0 + place}, "capture": {"order": ORDERS[how][place]}}
        capture(tmp_path / name, facts, minute=place)
    declare(tmp_path, "pairs", names[:2], names[2:], "ABBA pairs")
    read_in(tmp_path / "akvsite.db", tmp_path)
    (page,) = pages_of(tmp_path / "akvsite.db", tmp_path, comparison).values()
    if how == "alternating":
        assert "the design stands for it, not the fingerprint: runs of A and B alternate as ABBA" in page
        assert "No difference is formed" not in page and "B minus A" in page
    else:
        assert "No difference is formed: the loads were not the same" in page and "B minus A" not in page
        assert "design stands for" not in page


def test_pairs_whose_order_is_not_stated_take_the_same_load(tmp_path: Path) -> None:
    """Where the design is no evidence the fingerprints are."""
    names = ["a0", "a1", "b0", "b1"]
    for place, name in enumerate(names):
        capture(tmp_path / name, {}, minute=place)
    declare(tmp_path, "pairs", names[:2], names[2:], "ABBA pairs")
    read_in(tmp_path / "akvsite.db", tmp_path)
    (page,) = pages_of(tmp_path / "akvsite.db", tmp_path, comparison).values()
    assert "the same within the tolerance: a0 and a1" in page and "B minus A" in page
    assert "design stands for" not in page


def test_pairs_over_two_hosts_have_no_design_that_stands_for_their_load(tmp_path: Path) -> None:
    names = ["a0", "a1", "b0", "b1"]
    for place, name in enumerate(names):
        facts = {"capture": {"order": ORDERS["alternating"][place]}}
        capture(tmp_path / name, facts, minute=place, host=f"host-{name[0]}")
    declare(tmp_path, "pairs", names[:2], names[2:], "ABBA pairs")
    read_in(tmp_path / "akvsite.db", tmp_path)
    (page,) = pages_of(tmp_path / "akvsite.db", tmp_path, comparison).values()
    assert "hosts host-a and host-b are not pooled" in page and "B minus A" not in page
    assert "design stands for" not in page and "not all of one host" in page


def test_every_pair_of_an_unpaired_comparison_is_under_the_same_load(tmp_path: Path) -> None:
    """0.25, 0.33 and 0.41 a core: each is within the tolerance of the next, and the first is not of the last."""
    for place, load in enumerate((1.0, 1.32, 1.64)):
        capture(tmp_path / f"r{place}", {"load.before": {"load_1_min": load}}, minute=place)
    declare(tmp_path, "chain", ["r0"], ["r1", "r2"], "unpaired")
    declare(tmp_path, "near", ["r0"], ["r1"], "unpaired")
    read_in(tmp_path / "akvsite.db", tmp_path)
    pages = pages_of(tmp_path / "akvsite.db", tmp_path, comparison)
    assert "No difference is formed: the loads were not the same: r0 and r2" in pages["comparisons/chain"]
    assert "No difference is formed" not in pages["comparisons/near"]


def test_runs_of_two_hosts_are_never_under_the_same_load(tmp_path: Path, akvsite: Any) -> None:
    for name in ("one", "two"):
        capture(tmp_path / name, {}, host=name)
    read_in(tmp_path / "akvsite.db", tmp_path)
    found = compared(akvsite, tmp_path / "akvsite.db", "one", "two")
    assert found["load"]["same"] is None and "hosts one and two are not pooled" in found["refusal"]
    assert "of one host" in found["noise_floor"]


# The last run under the same load.


def test_a_candidate_is_compared_with_the_last_run_under_the_same_load(tmp_path: Path, akvsite: Any) -> None:
    """Later, of another load, of another workload, of another level, excluded: none of these is it."""
    capture(tmp_path / "first", {}, minute=1)
    capture(tmp_path / "second", {"load.before": {"load_1_min": 1.1}}, minute=2)
    capture(tmp_path / "apart", LOADS["apart"][0], minute=3)
    capture(tmp_path / "unlike", {"contract": {"workload": "prefill"}}, minute=4)
    capture(tmp_path / "watched", {}, minute=5, level="host")
    capture(tmp_path / "lying", {}, minute=5, row={"source": "probe"})
    capture(tmp_path / "out", {}, minute=6)
    capture(tmp_path / "candidate", {"contract": {"prefetch": "on"}}, minute=7)
    capture(tmp_path / "later", {}, minute=8)
    (tmp_path / "captures").mkdir()
    read_in(tmp_path / "akvsite.db", tmp_path)
    assert akvsite("exclude", "out", "--because", "the fan").code == 0
    found = compared(akvsite, tmp_path / "akvsite.db", "--last-same-load", "candidate")
    assert found["runs"] == {"A": "second", "B": "candidate"}
    assert {d["key"] for d in found["not_stated_by_every_run"]} == {"prefetch"}
    assert "B minus A" in {n["of"] for n in found["numbers"]}
    akvsite("compare", "--last-same-load", "first").refused("first", "the load was the same", "0.10 apart")
    akvsite("compare", "--last-same-load", "nowhere").refused("nowhere", "no such run")
    akvsite("compare", "first").refused("--last-same-load")
    akvsite("compare", "first", "second", "--last-same-load").refused("--last-same-load")


# The noise floor, and the hosts.


def test_the_noise_floor_stands_beside_the_bands(tmp_path: Path, akvsite: Any) -> None:
    capture(tmp_path / "a", {})
    capture(tmp_path / "b", {"contract": {"prefetch": "on"}}, minute=1)
    declare(tmp_path, "ab", ["a"], ["b"])
    looked_at.twice(tmp_path / "aa-busy", host="busy")
    read_in(tmp_path / "akvsite.db", tmp_path)
    line = compared(akvsite, tmp_path / "akvsite.db", "a", "b")["noise_floor"]
    assert line.startswith("noise floor (aa-busy): the same thing against itself ")
    assert line in akvsite("compare", "a", "b").out
    left: dict[str, str] = {}
    with Store.open(tmp_path / "akvsite.db") as opened:
        site.take_notes(opened, tmp_path)
        desk = site.SiteDesk(opened, left.__setitem__)
        (page,) = [p.text for p in comparison.write(desk) if p.ending == ".md"]
    assert line in " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    charts = [
        json.loads(script[script.index(",") + 1 : script.rindex(")")])
        for path, script in left.items()
        if path.endswith(".js")
    ]
    assert len(charts) == 4
    for chart in charts:
        footer = " ".join(" ".join(chart["usermeta"]["akv"]["footer"]).split())
        assert line in footer and "load: the same within the tolerance" in footer


def test_a_host_says_what_it_is_for_and_what_changed(tmp_path: Path) -> None:
    capture(tmp_path / "old", {"host.facts": {"kernel": "6.0"}})
    capture(tmp_path / "new", {}, minute=1)
    capture(tmp_path / "quiet", {}, host="still", role="proof")
    looked_at.twice(tmp_path / "aa-busy", host="busy")
    trial = {"arm": "x", "treatment": "y", "repeat": 0, "number": 0, "duration_ns": 5}
    more = "[capture]\nexperiment = 'own'"
    write_capture(tmp_path / "own", {"trial": [trial]}, host="still", role="proof", more=more)
    read_in(tmp_path / "akvsite.db", tmp_path)
    page = pages_of(tmp_path / "akvsite.db", tmp_path, hosts)["hosts"]
    busy, still = page[page.index("## busy") : page.index("## still")], page[page.index("## still") :]
    fixed, changed_ = busy.split("Facts that changed, by the dates of the captures")
    assert "host cpus 4 2 runs" in fixed and "host kernel" not in fixed
    assert "host kernel 6.0 2026-01-01T10:00:00+00:00 2026-01-01T10:00:00+00:00 1 run old" in changed_
    assert "host kernel 6.1 2026-01-01T10:01:00+00:00" in changed_
    assert "It may not be used for: a statement of speed" in busy and "load a core at most 0.10 apart" in busy
    assert "comparison under the same load 3 3 runs: aa-busy , new , old ." in busy
    assert re.search(r"Noise floor: .* aa-busy -?[\d.]+ % \[.*over 8 pairs", busy)
    assert "0.250 powersave 1 345 MHz, 35 °C" in busy
    assert (
        "Thresholds before a run: load a core over 1 min at most 0.10, governor `performance` on every core"
        in still
    )
    assert "Noise floor: unknown" in still
    pages = pages_of(tmp_path / "akvsite.db", tmp_path, run)
    assert (
        "contract complete load before it load a core 0.250 (1 over 4 cores), governor powersave, 1 other"
        in pages["runs/new"]
    )
    assert "contract not stated: the hash of its outputs" in pages["runs/aa-busy"]
    # An experiment of somebody else's kind has no page but that of its run.
    with Store.read(tmp_path / "akvsite.db") as opened:
        (raw,) = [page.text for page in hosts.write(site.SiteDesk(opened))]
    assert 'href="experiments/aa-busy.html"' in raw and 'href="experiments/own.html"' not in raw
