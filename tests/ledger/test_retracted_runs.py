"""A retraction stands beside a run where runs are listed and shown, not on its page alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bundles import read_in, steps, write_capture
from claims import cited, withdraw, write_claim

from akvsite import site
from akvsite.store import Store


def test_lists_of_runs_name_the_retraction(tmp_path: Path, akvsite: Any) -> None:
    for name in ("under", "free"):
        write_capture(tmp_path / name, {"step": steps(5)}, level="off")
    store = tmp_path / "akvsite.db"
    read_in(store, tmp_path / "under", tmp_path / "free")
    assert "retractions" not in akvsite("runs", "--store", store).out
    write_claim(tmp_path, "so", cited("run", "under"))
    withdraw(tmp_path, "so", on="2026-02-02", reason="It is not.", named="not-so")
    with Store.open(store) as opened:
        site.take_notes(opened, tmp_path)
    listed = {
        row["name"]: row["retractions"] for row in json.loads(akvsite("runs", "--json", "--store", store).out)
    }
    assert listed == {"under": "not-so", "free": None}
    lines = akvsite("runs", "--store", store).out.splitlines()
    assert [line.split()[0] for line in lines if "not-so" in line] == ["under"]
    for name, under in (("under", 1), ("free", 0)):
        shown = json.loads(akvsite("show", name, "--json", "--store", store).out)
        assert len(shown["retracted"]) == under and all("not-so" in line for line in shown["retracted"])
