"""The lives of all tokens of a run: what they add up to, what is unknown in them, what is cut, and where the longest lead."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import words
from bundles import ask, interval, read_in, write_capture

from akvsite import site
from akvsite.milestones import TOKEN
from akvsite.pages import _token_life, _token_proof, home, tokens
from akvsite.pages._listed import BY_NAME, behind
from akvsite.pages._run import load
from akvsite.record.reference import ENGINE
from akvsite.store import Store

Rows = list[dict[str, Any]]
Made = Callable[..., tuple[str, str]]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """The page of a run with these steps and tokens, and the list of runs, as they are written."""

    def page(steps: Rows, of: Rows, top: str = "", level: str = "runner") -> tuple[str, str]:
        write_capture(tmp_path / "captures" / "run", {"step": steps, "token": of}, level=level, top=top)
        read_in(tmp_path / "akvsite.db", tmp_path / "captures")
        with Store.open(tmp_path / "akvsite.db") as store:
            site.take_notes(store, tmp_path / "captures")
            listed, one = tokens.write(site.SiteDesk(store))
        for text in (listed.text, one.text):
            assert words.VERDICT.search(words.RULE.sub("", words.of_page(text))) is None
        return one.text, listed.text

    return page


def step(number: int, **more: object) -> dict[str, Any]:
    return {"name": f"step.{number}", "start_ns": 1000 * number, "end_ns": 1000 * number + 900, "number": number, "kind": "decode", "source": "probe", "warm_up": 0, **more}  # fmt: skip


def token(request: str, number: int, of: int | None, **stamps: int | None) -> dict[str, Any]:
    """Scheduled 10 ns into its step, launched after 100 more, sampled after 500 more, sent after 200 more."""
    at = 1000 * (of or 0)
    times = {
        "arrived_ns": 5,
        "scheduled_ns": at + 10,
        "launched_ns": at + 110,
        "sampled_ns": at + 610,
        "sent_ns": at + 810,
    }
    return {"request": request, "number": number, "tokens": 1, "step": of, **times, **stamps}  # fmt: skip


def test_segments_add_up_and_what_is_not_on_record_stands_apart(made: Made) -> None:
    text = words.of_page(made([step(n) for n in range(1, 251)], [token("a", n, n) for n in range(1, 251)])[0])
    assert (
        "until launched 100.0 ns [100.0, 100.0] 95 %, this run only 12.50 % 250 of 250 25.00 us (total) 0"
        in text
    )
    assert "unknown: launched to sampled 500.0 ns [500.0, 500.0] 95 %, this run only 62.50 %" in text
    # Nobody saw what happened from sampled to sent either.
    assert "unknown: sampled to sent 200.0 ns" in text
    assert "the life 800.0 ns [800.0, 800.0] 95 %, this run only 100.00 % 250 of 250 200.0 us (total)" in text
    assert "unknown inside, in all as above 87.50 % 250 of 250 175.0 us (total) as above" in text


def test_a_step_is_one_sample_however_many_tokens_it_makes(made: Made) -> None:
    """Two tokens of 800 and 1,800 ns are one step of 1,300 ns; its neighbour has one of 800."""
    of = [token("a", 1, 1), token("b", 1, 1, sent_ns=2810), token("a", 2, 2)]
    text = words.of_page(made([step(1), step(2)], of)[0])
    assert "the life 1.05 us no band: n 2 < 200 100.00 % 3 of 3 3.400 us (total)" in text


def test_what_a_token_lacks_is_no_length_of_0(made: Made) -> None:
    """One token in three has device milestones: 300 ns from first to last device record are the mean of that one, and not 100 of all."""
    device = {"device_first_ns": 1_200, "device_last_ns": 1_500, "device_bound_ns": 40}
    of = [token("a", 1, 1, **device), token("b", 1, 1), token("a", 2, 2)]
    text = words.of_page(made([step(1), step(2)], of, level="edge")[0])
    assert (
        "from its first to its last device record 300 ns no band: n 1 < 200 12.50 % 1 of 3 300.0 ns (total) 0"
        in text
    )
    assert "from its first to its last device record, 1 of 3 tokens: 300 ns" in text
    assert "unknown: launched to sampled 500 ns no band: n 2 < 200" in text
    alike = "from the first to the last device record work and waiting lie alike"
    assert f"unknown stretches last; {alike} segment" in text and f"{alike}:" not in text
    # It is of the row's steps too that some lack it.
    assert "2 tokens from its first to its last device record 300 ns no band: n 1 < 200 1 1 of 2" in text
    assert "steps whose kind is not known" not in text


def test_timing_events_are_said_to_be_no_record_of_work(tmp_path: Path) -> None:
    """In the table, under the chart and beside the token: a stretch between two events looks like work, and is none."""
    span = {**interval(1_200, 1_500, None), "kind": "span", "step": 1}
    of = [token("a", 1, 1, device_first_ns=1_200, device_last_ns=1_500, device_bound_ns=40)]
    capture = tmp_path / "captures" / "run"
    write_capture(capture, {"step": [step(1)], "token": of, "level3_device": [span]}, level="device")
    read_in(tmp_path / "akvsite.db", tmp_path / "captures")
    with Store.open(tmp_path / "akvsite.db") as store:
        left: dict[str, str] = {}
        page = list(tokens.write(site.SiteDesk(store, left.__setitem__)))[1].text
    said = "the records of this run are timing events, and none of them is of work"
    assert f"lie alike: {said}" in words.of_page(page) and said in left["data/tokens/run/life.js"]
    assert said in about(page)["alike"]


def test_text_that_was_held_back_names_the_token_that_it_came_with(made: Made) -> None:
    """The first two come out with the third, which step 3 made; two tokens of one step are not held back."""
    out = {"copied_ns": 3_700, "detokenised_ns": 3_750, "sent_ns": 3_810}
    of = [
        token("a", 0, 1, **(out | {"copied_ns": 1_700})),
        token("a", 1, 2, **(out | {"copied_ns": 2_700})),
        token("a", 2, 3, **out),
        token("b", 0, 3, detokenised_ns=3_790),
        token("b", 1, 3, detokenised_ns=3_790),
    ]
    page = made([step(n) for n in (1, 2, 3)], of)[0]
    assert page.count('run.html#token=2">held back') == 2
    text = words.of_page(page)
    assert (
        "2 of 5 tokens (counted) were detokenised at the same time as a later token of their request" in text
    )
    assert "until detokenised ( held back, came out with token 2 ), 2,050 ns" in text
    assert "until detokenised ( held back, came out with token 2 ), 1,050 ns" in text


def test_what_would_show_a_cause_stands_beside_the_token_with_what_the_site_has(tmp_path: Path) -> None:
    """Runs, comparisons and experiments of the same engine on the same host, by name, and how far they reach."""
    engine = f'engine = "{_token_proof.REFERENCE_ENGINE}"\n'
    of = [token("a", 0, 1)]
    for name, level, said in (
        ("on", "runner", engine),
        ("still", "off", engine),
        ("other", "off", 'engine = "b"\n'),
    ):
        write_capture(tmp_path / "captures" / name, {"step": [step(1)], "token": of}, level=level, top=said)
    versus = tmp_path / "captures" / "comparisons" / "levels.toml"
    versus.parent.mkdir()
    versus.write_text(COMPARED)
    read_in(tmp_path / "akvsite.db", tmp_path / "captures")
    with Store.open(tmp_path / "akvsite.db") as store:
        site.take_notes(store, tmp_path / "captures")
        pages = {page.path: page.text for page in tokens.write(site.SiteDesk(store))}
    own, other = (_why(pages[f"tokens/{name}"]) for name in ("on", "other"))
    assert "no cause" in own and "with capture off" in own
    assert 'href="../discipline.html#what-it-stands-on-and-its-control"' in own
    assert (
        'comparisons (none with capture off on both sides) <a href="../comparisons/levels.html">levels</a>'
        in own
    )
    assert 'capture off <a href="../tokens/still.html">still</a>' in own and "other" not in own
    assert "levels" not in other and own.count("<p>") == other.count("<p>") == 3


def _why(page: str) -> str:
    found = page.split('<div class="akv-why">')[1].split("</div>")[0]
    return html.unescape(found)


COMPARED = """
name = "levels"
title = "What does level runner change?"
design = "two runs"
[a]
label = "runner"
runs = ["on"]
[b]
label = "off"
runs = ["still"]
"""


def test_why_text_is_held_back_is_said_of_the_engine_that_is_known(made: Made) -> None:
    assert _token_proof.REFERENCE_ENGINE == ENGINE
    out = {"copied_ns": 2_700, "detokenised_ns": 2_750, "sent_ns": 2_810}
    of = [token("a", 0, 1, **(out | {"copied_ns": 1_700})), token("a", 1, 2, **out)]
    page = made([step(1), step(2)], of, top=f'engine = "{ENGINE}"\n')[0]
    assert "waits until the bytes of its tokens make whole characters" in words.of_page(page)
    assert "whole characters" in about(page)["holds"]


def about(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(html.unescape(re.findall(r'data-akv-reader-about="([^"]*)"', page)[0]))
    return found


def test_steps_with_device_records_are_named_where_not_all_have_them(made: Made) -> None:
    """With the capture's own reason, and each as a link to a token of it; where all have them there is nothing to say."""
    device = {"device_first_ns": 1_200, "device_last_ns": 1_500}
    of = [token("a", 1, 1), token("a", 2, 2, **device), token("b", 2, 2, **device)]
    page = made([step(1), step(2)], of, level="edge", top='note = "As far as 3 MiB go."\n')[0]
    assert 'Of 2 steps with tokens 1 have device records: step <a href="run.html#token=1">2</a>.' in page
    assert "In the words of the capture:" in page and "<p>As far as 3 MiB go.</p>" in page


def test_a_run_without_a_life_does_not_open_with_the_longest_one(made: Made) -> None:
    chunks = [{"request": "q", "number": n, "tokens": n, "client_ns": 900 + n} for n in range(2)]
    assert "no life is known" in about(made([], chunks, level="off")[0])["unasked"]


def test_what_would_tell_is_what_this_run_lacks(made: Made) -> None:
    """A level that the run is at already would tell nothing."""
    device = {"device_first_ns": 1_200, "device_last_ns": 1_500}
    of = [token("a", 1, 1, **device), token("a", 2, 2)]
    found = about(made([step(1), step(2)], of, level="edge")[0])
    tells = {one["name"]: one["tells"] for one in found["milestones"]}
    assert (
        tells["device_first"]
        == "device records that are linked with its step (that of 1 of 2 steps is on record)"
    )
    assert tells["copied"] == "an engine that writes it down (that of 0 of 2 steps is on record)"
    assert tells["client"] == "a file of its client"
    assert not any(found["levels"].values())


def test_first_tokens_begin_at_their_arrival_and_have_a_list_of_their_own(made: Made) -> None:
    text = words.of_page(made([step(1), step(2)], [token("a", 0, 1), token("a", 1, 2)])[0])
    assert "First tokens: the 1 longest of 1 life," in text
    assert "a, token 0 1,805 ns waiting for its first step, 1,005 ns, 55.68 %" in text
    assert "a, token 1 800 ns" in text
    # Beside other tokens it is drawn from its step on, and the wait is in the table.
    assert "token 0, from its schedule: 800 ns" in text
    assert "token 0, from its schedule waiting for its first step 1.00 us" in text


def test_the_longest_gaps_at_the_client_are_a_list_of_their_own(made: Made) -> None:
    """A later life begins at its schedule: of 990 ns between two chunks, the second of them of two tokens, 710 are in no life."""
    seen = [
        ("a", 0, 1, 1_900),
        ("a", 1, 3, 3_290),
        ("b", 0, 1, 1_900),
        ("b", 1, 2, 2_890),
        ("b", 2, 2, 2_890),
    ]
    unseen = [token("c", 0, 1, client_ns=1_900), token("c", 1, 2), token("c", 2, 3, client_ns=9_000)]
    of = [token(name, number, own, scheduled_ns=at - 280, launched_ns=at - 200, sampled_ns=at - 100, sent_ns=at - 50, client_ns=at) for name, number, own, at in seen]  # fmt: skip
    page = made([step(n) for n in (1, 2, 3)], of + unseen)[0]
    text = words.of_page(page)
    # Between two chunks of c one has no time at the client: how long it waited is not known.
    assert "Gaps at the client: the 2 longest of 2 gaps, one record each" in text
    assert "a, token 1 1,390 ns 280 ns" in text and "b, token 1 990 ns 280 ns" in text
    assert text.index("a, token 1 1,390 ns") < text.index("b, token 1 990 ns")
    assert 'href="run.html#token=' in page.split("Gaps at the client")[1].split("b, token 1")[0]


def test_warm_up_is_in_no_number_and_in_no_list(made: Made) -> None:
    of = [token("a", 1, 1, sent_ns=99_000), token("a", 2, 2), token("a", 3, None)]
    text = words.of_page(made([step(1, warm_up=1), step(2)], of, top="warm_up_steps = 1")[0])
    assert "the life 800 ns no band: n 1 < 200 100.00 % 1 of 1 800.0 ns (total)" in text
    assert "1 of steps that are declared as warm-up, 1 whose step is not known" in text
    assert "The longest of them is that of a, token 1 , 97,990 ns." in text and text.count("a, token 1") == 1


def test_what_is_out_of_order_keeps_its_sign_and_is_counted(made: Made) -> None:
    of = [token("a", 1, 1, copied_ns=1_600, detokenised_ns=1_700)]
    text = words.of_page(made([step(1)], of)[0])
    assert "until copied to the host -10.0 ns no band: n 1 < 200 -1.25 % 1 of 1 -10.00 ns (total) 1" in text
    assert "the life 800 ns" in text


def test_a_device_time_has_its_clock_and_a_life_of_the_host_has_none(made: Made) -> None:
    device = {"device_first_ns": 1_200, "device_last_ns": 1_500, "device_bound_ns": 40}
    text = words.of_page(made([step(1)], [token("a", 1, 1, **device)], level="device")[0])
    assert "until its first device record 90.0 ns no band: n 1 < 200, clock ±40 ns" in text
    assert "from its first to its last device record 300 ns no band: n 1 < 200 37.50 %" in text
    assert "the life 800 ns no band: n 1 < 200 100.00 %" in text


def test_a_life_that_ends_on_the_device_is_as_wide_as_its_clock(made: Made) -> None:
    last = {"device_last_ns": 1_500, "sampled_ns": None, "sent_ns": None}
    text = words.of_page(made([step(1)], [token("a", 1, 1, **last)], level="device")[0])
    assert "the life 490 ns no band: n 1 < 200, clock, unproven: bound unknown" in text


def test_a_list_of_lives_leads_to_rows_of_the_listing(made: Made, tmp_path: Path) -> None:
    of = [
        token(f"r{n}", number, number + 1, sent_ns=5_000 + 7 * n + number)
        for n in range(6)
        for number in range(3)
    ]
    random.Random(7).shuffle(of)
    page, _ = made([step(n) for n in range(1, 4)], of)
    order = BY_NAME["tokens"].order
    listing = ask(tmp_path / "akvsite.db", f"SELECT request, number FROM row_token ORDER BY {order}")
    linked = re.findall(r'href="run\.html#token=(\d+)">([^<]*)</a>', page)
    assert len(linked) == 16
    for place, label in linked:
        row = listing[int(place)]
        assert words.of_page(label).strip() == f"{row['request']}, token {row['number']}"


def test_segments_are_the_life_whatever_is_missing(made: Made, tmp_path: Path) -> None:
    """To the nanosecond, at times that no float holds."""
    draw = random.Random(11)
    base = 2**60 + 1
    of = []
    for n in range(300):
        stamps = {
            f"{name}_ns": base + draw.randrange(10**6) if draw.random() < 0.6 else None for name in TOKEN
        }
        of.append({"request": f"r{n}", "number": draw.randrange(2), "tokens": 1, "step": 1, **stamps})
    made([step(1)], of)
    rows = ask(
        tmp_path / "akvsite.db",
        """SELECT l.token_id, l.life_ns, t.*,
                  (SELECT sum(g.duration_ns) FROM token_life_segment g WHERE g.run_id = l.run_id AND g.token_id = l.token_id) AS whole
           FROM token_life l JOIN token t ON t.id = l.token_id""",
    )
    for row in rows:
        assert row["life_ns"] == row["whole"]
        known = [row[f"{m}_ns"] for m in TOKEN[1 if row["number"] else 0 :] if row[f"{m}_ns"] is not None]
        assert row["life_ns"] == (known[-1] - known[0] if len(known) > 1 else None)
    assert len(rows) == 300
    # The rows that a chart of lives leads to are those that its numbers are made from.
    with Store.open(tmp_path / "akvsite.db") as store:
        desk = site.SiteDesk(store)
        lives = _token_life.lives_of(load(desk, desk.ask("run_list")[0]))
        listed = desk.columns("row_token", order=BY_NAME["tokens"].order)
    assert (listed["counted"] == lives.counted).all() and 0 < lives.counted.sum() < 300
    assert listed["kind"].tolist() == lives.kind.tolist()


def test_charts_of_lives_lead_to_the_rows_of_their_numbers(made: Made) -> None:
    page, _ = made(
        [step(0, warm_up=1), step(1)],
        [token("a", 0, 0), token("a", 1, 1), token("b", 0, 1)],
        top="warm_up_steps = 1\n",
    )
    asked = [html.unescape(one) for one in re.findall(r'#(of=tokens[^"]*)">rows</a>', page)]
    assert asked == [
        "of=tokens&counted=1&kind=decode",
        "of=tokens&counted=1",
        "of=tokens&counted=1&number=1..",
    ]
    # Where no column can tell which rows they are, the link says that it leads to all.
    assert behind({"name": "r", "intervals": 2304}, "kernel_time", "../") == (
        "../rows/r.html#of=intervals",
        "rows: all of the run (device records, 2,304)",
    )


def test_the_list_says_which_milestones_each_run_has(made: Made) -> None:
    of = [token("a", 1, 1), token("a", 2, 1, sent_ns=None)]
    _, listed = made([step(1)], of)
    text = words.of_page(listed)
    assert "2 sent: 1 of 2 first device record, last device record, copied" in text


def test_times_of_a_client_alone_have_no_lives(made: Made) -> None:
    chunk = {"request": "a", "number": 0, "client_ns": 5}
    page, listed = made([], [chunk])
    assert "What happened to a token inside the engine is not known" in words.of_page(page)
    assert "Longest lives" not in page and "Where the time of the tokens goes" not in page
    assert "0 of 1" not in words.of_page(listed)


def test_home_names_every_run_whose_tokens_are_followed_as_far_as_its_list_goes() -> None:
    runs = [{"name": f"run{n}", "tokens": int(n != 7)} for n in range(40)]
    line = home._followed(runs, {"run3": ("note",)}, "tokens", "Tokens", "tokens")
    named = [run["name"] for run in runs if f'href="tokens/{run["name"]}.html"' in line]
    # run3 stands under a retraction, run7 has no token: neither is named, and those that the list has no room for are counted.
    assert named == [f"run{n}" for n in range(26) if n not in (3, 7)]
    assert "(39 runs)" in line and '<a href="tokens.html">15 more</a>' in html.unescape(line)
