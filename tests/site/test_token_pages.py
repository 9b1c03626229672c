"""The life of tokens on a run page: what is there and what is not, what is out of order, what a client saw."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import words
from bundles import read_in, write_capture
from probe_logs import ProbeLog

from akvsite import site
from akvsite.errors import BadInput
from akvsite.pages import run
from akvsite.store import Store

Page = Callable[..., str]


@pytest.fixture
def page(tmp_path: Path) -> Page:
    """The run page of a declared capture with these logs, as text that is seen."""

    def made(level: str = "runner", facts: str = "", **logs: ProbeLog) -> str:
        folder = tmp_path / "probe"
        folder.mkdir()
        lines = [
            "format = 1",
            'name = "probe"',
            f'level = "{level}"',
            '[host]\nname = "h"\nrole = "dev"',
            facts,
        ]
        for name, log in logs.items():
            log.write(folder / f"{name}.akvlog")
            lines.append(f'[[file]]\npath = "{name}.akvlog"')
        (folder / "capture.toml").write_text("\n".join(lines) + "\n")
        store = tmp_path / "akvsite.db"
        read_in(store, folder)
        with Store.open(store) as opened:
            site.take_notes(opened, tmp_path)
            (written,) = run.write(site.SiteDesk(opened, lambda name, content: None))
        text = words.of_page(written.text)
        assert words.VERDICT.search(words.RULE.sub("", text)) is None
        return text

    return made


def engine(steps: int = 300, *, closed: bool = True) -> ProbeLog:
    """Steps of 1 ms that make a token of r1 and one of r2 each; every third token is not detokenised."""
    log = ProbeLog(pid=41, closed=closed)
    for n in range(steps):
        at = 1_000_000 * (n + 1)
        log.step(n, at, at + 1_000_000, batch=2)
        log.phase("wait", at + 300_000, at + 700_000)
        log.phase("launch", at + 100_000, at + 300_000)
        log.layer(0, at + 110_000, at + 200_000)
        log.region("attention", at + 120_000, at + 180_000)
        log.stamp("launched", at + 100_000, step=n)
        log.stamp("sampled", at + 800_000 + n, step=n)
        for request in ("r1", "r2"):
            log.token(request, n, "scheduled", at + 10_000, step=n)
            if n % 3:
                log.token(request, n, "detokenised", at + 850_000, step=n)
            # In one step it is sent before it is detokenised.
            log.token(request, n, "sent", at + (849_000 if n == 7 and request == "r1" else 900_000), step=n)
    log.request("r1", "preempted", 5_000_000, step=4)
    log.request("r1", "preempted", 9_000_000, step=8)
    return log


def test_milestones_are_counted_and_pairs_have_a_sample_a_step(page: Page) -> None:
    text = page(engine=engine(), level="host")
    assert "detokenised 400 of 600 (counted) 200" in text
    assert "first device record 0 of 600 (counted) 600" in text
    # 600 tokens of 300 steps share their times: 300 samples.
    assert "scheduled to launched 90.00 us [90.00, 90.00] 95 %, this run only" in text
    assert "95 %, this run only 300 600 launched to sampled" in text
    # What is missing is stepped over, where it is missing.
    assert "sampled to sent" in text and "sampled to detokenised" in text


def test_what_is_out_of_order_is_told_with_its_pair(page: Page) -> None:
    text = page(engine=engine())
    assert "detokenised to sent 1 of 400 (counted) 1 0 1.000 us 0 ns" in text
    assert "scheduled to launched 0 of" not in text


def test_preemptions_are_counted(page: Page) -> None:
    assert "preempted 2 1" in page(engine=engine(20))


def test_phases_regions_and_layers_are_shown(page: Page) -> None:
    text = page(engine=engine(), level="host")
    for title in ("Runner phases", "Step budget", "Layer windows"):
        assert title in text
    # In the order of a step, and the regions of a layer in the place of its window.
    assert text.index("launch: 200.0 us") < text.index("wait: 400.0 us")
    assert "attention: 60.00 us" in text and "layer windows: 90" not in text and "layer 0: 90.00 us" in text


def test_a_chunk_is_not_a_token(page: Page) -> None:
    """D12: vllm-project/vllm#27485. The role alone at 0.9 s, then 1, 8 and 1 tokens."""
    log = ProbeLog(b"akv_counters 0.1.0")
    log.request("r", "client sent", 0, tokens=16)
    for place, tokens, ms in ((0, 0, 900), (0, 1, 2_200), (1, 8, 2_360), (9, 1, 2_380)):
        log.token("r", place, "client", ms * 1_000_000, tokens=tokens)
    log.request("r", "client done", 2_400_000_000, tokens=10)
    text = page(client=log, level="off", facts="[contract]\nconcurrency = 1")
    assert "TTFT p50: 2.20 s" in text
    assert "time per token p50: 20.0 ms" in text
    assert "gap between chunks (mean of a request) p50: 90.0 ms" in text
    assert "Milestones seen" not in text


def test_a_killed_engine_is_said_to_be_one(page: Page) -> None:
    log = engine(20, closed=False)
    log.step(20, 21_000_000, None, batch=2)
    text = page(engine=log, facts='[capture]\nended_by_signal = "SIGKILL"')
    assert "It was ended by a signal, SIGKILL" in text
    assert "1 step has a beginning and no end (the last is decode.step.20)" in text
    assert "step step 20 step that was entered and not left step 1" in text


def test_a_process_that_never_ended_is_said_to_be_one(page: Page) -> None:
    assert "never reached its normal exit" in page(engine=engine(3, closed=False))


def test_a_process_that_ended_is_not(page: Page) -> None:
    assert "never reached its normal exit" not in page(engine=engine(3))


def test_times_that_cannot_be_are_no_step_without_an_end(page: Page) -> None:
    log = ProbeLog()
    log.step(1, 2**63, 2**64 - 1)
    log.step(2, 1_000, 1_400)
    text = page("host", probe=log)
    assert "a beginning and no end" not in text
    assert (
        "Where the time inside a step went on the host is not known: level host adds the host's regions and "
        "layer windows inside each step, and its files hold none." in text
    )
    assert "What ran on a device is not known: level device would add" in text


def test_a_sum_beyond_64_bits_is_one_line_and_says_of_which_run(tmp_path: Path) -> None:
    pieces = [{"request": "r", "number": n, "tokens": 2**62, "client_ns": 5} for n in range(2)]
    client = [{"name": "r", "start_ns": 1, "end_ns": 9, "zero": "capture", "ok": 1}]
    store = tmp_path / "akvsite.db"
    read_in(store, write_capture(tmp_path / "run", {"token": pieces, "request": client}))
    refused = "^question request_time: a sum of run_id 1 does not fit in 64 bits$"
    with Store.open(store) as opened, pytest.raises(BadInput, match=refused):
        list(run.write(site.SiteDesk(opened, lambda name, content: None)))
