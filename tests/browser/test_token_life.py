"""One token on its page, in a real Chromium, from disk: its life, what is linked with it, how it is chosen and looked into."""

from __future__ import annotations

from pathlib import Path

import checks
import pytest
import reader_site
from axe_playwright_python.sync_playwright import Axe
from bundles import call, interval, write_capture
from playwright.sync_api import Page, expect

from akvsite.pages import rows, tokens

HOSTILE = "<img src=x onerror=\"document.title='hit'\"> r"
MS = 1_000_000


def token(request: str, number: int, step: int | None, at: int, **more: int | None) -> dict[str, object]:
    """Milestones 1 ms apart from ``at`` on, in ms; those of the device are known to within 50 us."""
    names = (
        "scheduled",
        "launched",
        "device_first",
        "device_last",
        "sampled",
        "copied",
        "detokenised",
        "sent",
        "client",
    )
    stamps = {f"{name}_ns": (at + n) * MS for n, name in enumerate(names)}
    row = {
        "request": request,
        "number": number,
        "process": 0,
        "tokens": 1,
        "step": step,
        "arrived_ns": 5 * MS,
        "device_bound_ns": 50_000,
    }
    return {**row, **stamps, **more}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, bundle: str) -> Path:
    """``whole`` has every level, ``client`` nothing but the times of a client; ``odd`` has text that was held back, requests of
    one name, also in two processes, a step number that was given twice and a request that begins at its seventh token."""
    folder = tmp_path_factory.mktemp("life")
    drawn = [{"name": f"step.{n}", "start_ns": 10 * n * MS, "end_ns": (10 * n + 9) * MS, "number": n, "kind": "decode", "source": "probe", "warm_up": 0} for n in range(1, 4)]  # fmt: skip
    captures = folder / "captures"
    write_capture(
        captures / "whole",
        {
            "step": drawn,
            "token": [
                token("r1", 0, 1, 10),
                token("r1", 1, 2, 20, device_first_ns=None, device_last_ns=None, device_bound_ns=None),
                # It was seen by its client before it was sent.
                token("r1", 2, 3, 30, sent_ns=38 * MS, client_ns=37_500_000),
                token("r2", 0, 2, 20, arrived_ns=19 * MS),
                token(HOSTILE, 0, 3, 30, arrived_ns=None, scheduled_ns=None),
            ],
            "request_event": [{"request": "r1", "event": "preempted", "at_ns": 25 * MS, "step": 2}],
            "level1_runner": [{"name": "launch", "start_ns": 11 * MS, "end_ns": 12 * MS, "thread": "7"}],
            "level4_edge": [call(11 * MS, 11_500_000, 1), call(12 * MS, 12_100_000, 2, "cudaMemcpyAsync")],
            # The second has no call on record: it lies in the time of step 2, and no more is known.
            "level3_device": [interval(12 * MS, 13 * MS, 1), interval(22 * MS, 23 * MS, 99)],
        },
        level="edge",
    )
    chunk = {"request": "r1", "number": 0, "client_ns": 9 * MS}
    write_capture(captures / "client", {"token": [chunk]})
    odd = [
        {**drawn[0], "name": f"step.{n}", "number": n, "start_ns": at * MS, "end_ns": (at + 9) * MS}
        for n, at in ((1, 10), (2, 20), (3, 30), (9, 90), (9, 99))
    ]
    host = dict.fromkeys(("device_first_ns", "device_last_ns", "device_bound_ns"))
    out = {"detokenised_ns": 36_500_000, "sent_ns": 37 * MS, "client_ns": None}
    write_capture(
        captures / "odd",
        {
            "step": odd,
            "token": [
                token("held", 0, 1, 10, **host, **out),
                token("held", 1, 3, 30, **host, **out),
                token("same", 0, 1, 10, **host),
                token("same", 1, 2, 20, **host),
                token("same", 0, 2, 20, **host),
                token("same", 1, 3, 30, **host),
                token("seven", 7, 1, 10, **host),
                token("twice", 0, 9, 90, **host),
                token("apart", 1, 1, 10, **host),
                token("apart", 0, 1, 10, **host, process=1),
            ],
        },
    )
    return reader_site.built(folder, captures, (rows, tokens), bundle)


def opened(page: Page, made: Path, choice: str = "", run: str = "whole") -> Page:
    page.goto(f"{(made / 'tokens' / run).as_uri()}.html{choice}")
    page.wait_for_selector("[data-akv-reader-ready=yes]")
    return page


def segments(page: Page) -> dict[str, list[str]]:
    lines: list[list[str]] = page.evaluate(
        """() => [...document.querySelectorAll('.akv-life-words table')[0].tBodies[0].rows]
            .map(row => [...row.cells].map(cell => cell.textContent))"""
    )
    return {line[0]: line[1:] for line in lines}


def notes(page: Page) -> str:
    return " ".join(page.locator(".akv-life-words li").all_inner_texts())


def test_a_life_is_its_segments_and_each_end_has_its_bound(page: Page, made: Path) -> None:
    watch = checks.Watch(page, made.as_uri())
    opened(page, made, "#request=r1&number=0")
    found = segments(page)
    assert found["waiting for its first step"][0] == "5,000,000 ns"
    assert found["until its first device record"][4] == "as read, ±50 us"
    assert found["from its first to its last device record"][4] == "±50 us, ±50 us"
    assert found["unknown inside, in all"][0] == "none"
    lengths = [int(line[0].replace(",", "").split()[0]) for name, line in found.items() if line[2]]
    assert sum(lengths) == 13 * MS and found["the life"][0] == "13,000,000 ns"
    assert "It lived 13 ms, from arrived to seen by the client" in page.locator(".akv-life-said").inner_text()
    # Between what is said of it and its drawing, wherever a link came from.
    why = page.locator(".akv-reader .akv-life-said + .akv-why + .akv-life-drawing")
    expect(why).to_have_count(1)
    watch.assert_clean()


def test_what_is_not_on_record_is_one_unknown_stretch(page: Page, made: Path) -> None:
    opened(page, made, "#request=r1&number=1")
    found = segments(page)
    name = "unknown: launched to sampled (no first device record, no last device record on record; device records that are linked with its step (that of 3 of 3 steps is on record) would tell)"
    assert found[name][:2] == ["3,000,000 ns", "37.50 %"]
    assert found["unknown inside, in all"][0] == "3,000,000 ns"
    hollow = page.locator(".akv-lanes-hollow")
    assert hollow.count() == 1
    # Its inside answers the mouse, not its outline alone.
    hollow.hover()
    expect(page.locator(".akv-lanes-read, .akv-lanes-said").first).to_contain_text(
        "unknown: launched to sampled"
    )
    # A later token begins at its step; what lay before is no part of its life.
    assert found["the life"][0] == "8,000,000 ns"
    assert "The life of the token before had ended 2 ms earlier" in notes(page)
    assert "Its step made 2 tokens" in notes(page)


def test_what_is_out_of_order_keeps_its_sign(page: Page, made: Path) -> None:
    opened(page, made, "#request=r1&number=2")
    found = segments(page)
    assert found["until seen by the client, out of order"][0] == "-500,000 ns"
    assert found["the life"][0] == "7,500,000 ns"
    assert page.locator(".akv-lanes-odd").count() == 1
    # Since the token before was seen, step 2 ran to its end: the wait for its own step is not empty.
    assert "1 step ran, or began, while it waited for its own: associated by time alone" in notes(page)
    assert "steps while it waited" in (page.locator(".akv-lanes").text_content() or "")


def test_calls_and_device_records_of_the_step_are_linked_and_the_rest_is_said(page: Page, made: Path) -> None:
    opened(page, made, "#token=0")
    titles = page.locator(".akv-lanes-one").evaluate_all(
        "all => all.map(one => one.getAttribute('aria-label'))"
    )
    assert any("cudaLaunchKernel (launch, 1 device record): 500 us" in title for title in titles)
    assert any("kernel gemm: 1 ms, associated by correlation id; its ends bound unknown" in t for t in titles)
    assert page.locator(".akv-lanes-link").count() == 1
    text = page.locator(".akv-lanes").text_content() or ""
    assert "associated with it by the step alone" in text and "level edge" in text
    opened(page, made, "#request=r1&number=1")
    page.wait_for_function("document.querySelector('.akv-lanes').textContent.includes('token 1 of')")
    assert "No runtime calls are linked with its step, out of 2 of the run" in notes(page)
    assert "preempted" in page.locator(".akv-life-words table").nth(1).inner_text()
    links = page.locator(".akv-life-words .akv-links a").evaluate_all(
        "all => all.map(one => one.getAttribute('href'))"
    )
    assert {"../steps/whole.html#step=1", "../rows/whole.html#of=tokens&step_id=1"} <= set(links)
    # A link that would open no row is not offered, and one by time is where it has one.
    assert not [
        link
        for link in links
        if link.startswith("../calls/") or ("&step_id=1" in link and "intervals" in link)
    ]
    assert page.locator(".akv-lanes").text_content().count("queue 7, by time") == 1
    page.get_by_role("link", name="device records in its step's time").click()
    page.wait_for_selector("[data-akv-reader-ready=yes]")
    expect(page.locator(".akv-reader tbody tr")).to_have_count(1)
    opened(page, made, "#token=0")
    expect(page.get_by_role("link", name="calls of its step", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="device records of its step", exact=True)).to_be_visible()


def test_the_keyboard_reaches_tokens_and_bars(page: Page, made: Path) -> None:
    opened(page, made, "#request=r1&number=0")
    page.get_by_role("button", name="next token").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash === '#token=1'")
    expect(page.locator(".akv-lanes-question").first).to_contain_text("token 1 of request r1")
    page.locator(".akv-lanes-one[tabindex='0']").focus()
    said = page.locator(".akv-lanes-said")
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("until launched: 1 ms")
    page.keyboard.press("ArrowDown")
    expect(said).to_contain_text("step.2")
    ticks = page.locator(".akv-lanes-tick").all_text_contents()
    page.keyboard.press("+")
    assert page.locator(".akv-lanes-tick").all_text_contents() != ticks
    # Its bar is still the one that is looked at.
    assert "step.2" in (page.evaluate("document.activeElement.getAttribute('aria-label')") or "")
    # A bar of another token leads to it.
    page.keyboard.press("0")
    page.locator(".akv-lanes-one[role=button]").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".akv-lanes-question").first).to_contain_text("request r2")
    page.go_back()
    expect(page.locator(".akv-lanes-question").first).to_contain_text("token 1 of request r1")


def test_a_token_is_asked_for_by_name_and_one_that_is_not_there_is_said(page: Page, made: Path) -> None:
    opened(page, made)
    assert "this is the longest life of the run" in page.locator(".akv-life-said").inner_text()
    page.get_by_label("request", exact=True).fill(HOSTILE)
    page.get_by_label("token (from 0)").fill("0")
    page.get_by_role("button", name="show").click()
    expect(page.locator(".akv-lanes-question").first).to_contain_text("of request <img")
    assert "The arrival of its request is not on record" in notes(page)
    assert page.title() != "hit"
    page.get_by_label("token (from 0)").fill("9")
    page.get_by_role("button", name="show").click()
    expect(page.locator(".akv-life-said")).to_contain_text("There is no token “9” of request <img")
    assert page.locator(".akv-lanes").count() == 0


def test_a_run_of_its_client_alone_says_what_is_not_known(page: Page, made: Path) -> None:
    opened(page, made, run="client")
    assert "Fewer than two of its milestones are on record" in page.locator(".akv-life-said").inner_text()
    assert "What happened to a token inside the engine is not known" in page.locator("main").inner_text()
    assert "Which step made it is not on record" in notes(page)
    assert "Which runtime calls lay in its step is not known" in notes(page)


def test_the_longest_lives_lead_to_their_tokens(page: Page, made: Path) -> None:
    opened(page, made)
    page.get_by_role("link", name="r1, token 1", exact=True).first.click()
    expect(page.locator(".akv-lanes-question").first).to_contain_text("token 1 of request r1")


@pytest.mark.parametrize(("width", "scheme"), [(1200, "slate"), (390, "default")])
def test_readable_in_light_and_dark_wide_and_narrow(page: Page, made: Path, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, made, "#request=r1&number=1")
    checks.use_scheme(page, scheme)
    checks.assert_no_overflow(page)
    found = Axe().run(page, context=".akv-reader")
    assert not found.response["violations"], found.generate_report()
    over = page.evaluate(
        """() => [...document.querySelectorAll('.akv-lanes text')].filter(t =>
            t.getBoundingClientRect().right > document.querySelector('.akv-lanes').getBoundingClientRect().right + 1)
            .map(t => t.textContent)"""
    )
    assert not over


def test_text_that_was_held_back_leads_to_the_token_that_it_came_with(page: Page, made: Path) -> None:
    opened(page, made, "#request=held&number=0", run="odd")
    name = "until detokenised, held back, came out with token 1 (step 3)"
    assert segments(page)[name][0] == "21,500,000 ns"
    text = page.locator(".akv-lanes").text_content() or ""
    assert "steps until it was seen" in text
    lead = page.locator(".akv-life-said").inner_text()
    assert (
        "Its text came with that of token 1, at the same time; until it was seen 2 decode steps ran after its own."
        in lead
    )
    said = "In no step on record lie 2 ms from the first of these steps to the last, 1 ms of it between step 1 and step 2"
    assert said in notes(page)
    titles = page.locator(".akv-lanes-one").evaluate_all(
        "all => all.map(one => one.getAttribute('aria-label'))"
    )
    assert any("step 2, step.2: 9 ms" in title for title in titles)
    assert "the phase of that name in its own step is another time" in notes(page).lower()
    # A segment has its hue, whichever of them this token has.
    hues = "all => all.map(one => one.getAttribute('class').match(/akv-hue-[0-9]/)[0])"
    assert "akv-hue-0" in page.locator("rect.akv-lanes-bar[width='12']").evaluate_all(hues)
    page.locator(".akv-life-words td a").click()
    expect(page.locator(".akv-lanes-question").first).to_contain_text("token 1 of request held")


def test_the_token_before_is_that_of_its_own_request(page: Page, made: Path) -> None:
    """Two requests of one name: in the order of the steps, the token before the last is the second one's first."""
    opened(page, made, "#request=same&number=1", run="odd")
    links = page.locator(".akv-life-words p a").evaluate_all("all => all.map(one => one.hash)")
    last = max(link for link in links if link.startswith("#token="))
    opened(page, made, last, run="odd")
    assert "The life of the token before ended" not in notes(page)
    assert "The life of the token before had ended 2 ms earlier" in notes(page)


@pytest.mark.parametrize(("name", "processes"), [("same", 1), ("apart", 2)])
def test_a_name_that_several_requests_have_is_said_with_all_of_them(
    page: Page, made: Path, name: str, processes: int
) -> None:
    opened(page, made, f"#request={name}", run="odd")
    said = page.locator(".akv-life-words p", has_text="Several on record have this name")
    links = said.locator("a").all_inner_texts()
    assert len(links) == 2
    assert len({link.partition(", row")[0] for link in links}) == processes, links


def test_a_step_number_that_was_given_twice_is_said(page: Page, made: Path) -> None:
    opened(page, made, "#request=twice", run="odd")
    assert "2 steps have the number of its step, 9" in notes(page)


def test_a_request_opens_with_its_first_token_on_record(page: Page, made: Path) -> None:
    opened(page, made, "#request=seven", run="odd")
    expect(page.locator(".akv-lanes-question").first).to_contain_text("token 7 of request seven")
    for choice, said in (
        ("request=seven&number=0", "There is no token “0” of request seven. It has 1 row."),
        ("request=seven&number=abc", "There is no token “abc” of request seven."),
        ("token=1.5", "There is no token in row “1.5”"),
        ("token=", "There is no token in row “”"),
    ):
        page.evaluate("choice => { location.hash = choice }", choice)
        expect(page.locator(".akv-life-said")).to_contain_text(said)


def test_a_click_far_below_brings_the_drawing_into_view(page: Page, made: Path) -> None:
    opened(page, made)
    link = page.get_by_role("link", name="r1, token 1", exact=True).first
    link.scroll_into_view_if_needed()
    link.click()
    expect(page.locator(".akv-lanes-question").first).to_contain_text("token 1 of request r1")
    expect(page.locator(".akv-life-said")).to_be_in_viewport()


def test_charts_come_after_the_reader_whether_or_not_it_stands(page: Page, made: Path) -> None:
    page.add_init_script(
        """new MutationObserver(all => all.forEach(one => (window.order = window.order || []).push(one.attributeName)))
            .observe(document, {subtree: true, attributeFilter: ["data-akv-reader-ready", "data-akv-drawn"]})"""
    )
    opened(page, made)
    checks.settle(page)
    order = page.evaluate("window.order")
    assert order[0] == "data-akv-reader-ready"
    assert order.count("data-akv-drawn") > 1
    page.route("**/akv-life-lanes.js", lambda route: route.abort())
    page.reload()
    checks.settle(page)
    expect(page.locator(".akv-reader .akv-failed")).to_contain_text("akv-life-lanes.js could not be loaded")
    assert page.locator("figure[data-akv-drawn=yes]").count() > 1
