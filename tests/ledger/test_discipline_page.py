"""What the page about claims shows is run: its commands in their order, its seals, its inquiry."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

from bundles import interval, read_in, write_capture

from akvsite import ledger
from akvsite.questions import questions

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "site_src/discipline.md").read_text(encoding="utf-8")
BRING = (ROOT / "site_src/bring.md").read_text(encoding="utf-8")


def blocks(language: str, text: str = PAGE) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def test_the_commands_of_the_page_run_in_its_order(akvsite: Any, tmp_path: Path) -> None:
    trials = [{"arm": "both", "treatment": "timing off", "repeat": 0, "number": 0, "duration_ns": 9}]
    captures = tmp_path / "captures"
    read_in(
        tmp_path / "akvsite.db",
        write_capture(captures / "my-trace", {"level3_device": [interval(1, 2, 1)]}, level="device"),
        write_capture(captures / "my-overlap", {"trial": trials}, more='[capture]\nexperiment = "overlap"'),
    )
    commands = [shlex.split(line) for block in blocks("sh") for line in block.splitlines()]
    assert [words[:3] for words in commands].count(["akvsite", "claim", "link"]) == 2
    for words in commands:
        done = akvsite(*words[1:])
        assert done.code == 0, done
    (captures / "inquiries").mkdir()
    (captures / "inquiries" / "slow-step.md").write_text(blocks("markdown")[0], encoding="utf-8")
    found = ledger.load(captures)
    assert [e.event for e in found.claims[0].history] == [
        "made",
        "cited",
        "cited",
        "supported",
        "dropped",
        "opened",
        "retracted",
    ]
    assert found.inquiries[0].rungs[1].uses == (("claim", "copies-hide"),)


def test_the_seals_of_the_page_are_those_of_the_claim_that_is_shown() -> None:
    made: dict[str, Any] = {}
    exec(blocks("python")[0], made)
    shown = re.findall(r"  seal: (\w+)", blocks("markdown", BRING)[0])
    assert [made["first"], made["second"]] == shown[:2]


def test_the_page_names_what_there_is() -> None:
    for name in re.findall(r"method\.md#(\w+)", PAGE):
        assert name in questions()
    for word in (*ledger.ABOUT, *ledger.SCOPES):
        assert f"`{word}`" in PAGE
