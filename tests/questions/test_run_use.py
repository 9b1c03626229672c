"""What a run's numbers may be used for: every combination, and that an instrumented run never reaches speed."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from akvsite import ingest
from akvsite.store import Store
from akvsite.tables import LEVELS

COMBINATIONS = list(
    itertools.product(range(len(LEVELS)), ("dev", "proof", "unknown", None), (0, 1), (False, True))
)


@pytest.fixture(scope="module")
def uses(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, str | None, int, bool], dict[str, str]]:
    found = {}
    with Store.open(tmp_path_factory.mktemp("store") / "akvsite.db") as store:
        ingest.install_views(store)
        hosts = {
            role: store.insert("host", {"name": role, "role": role}) for role in ("dev", "proof", "unknown")
        }
        for number, (level, role, declared, excluded) in enumerate(COMBINATIONS):
            name = f"run{number}"
            store.insert(
                "run",
                {
                    "name": name, "level": level, "host_id": hosts[role] if role else None, "timing": "off",
                    "clock": "host only", "declared": declared,
                },
            )  # fmt: skip
            if excluded:
                store.insert("exclusion", {"run_name": name, "date": "2026-01-01", "because": "the fan"})
            (found[level, role, declared, excluded],) = store.rows(
                "SELECT u.* FROM run_use u JOIN run r ON r.id = u.run_id WHERE r.name = ?", [name]
            )
    return found


@pytest.mark.parametrize(("level", "role", "declared", "excluded"), COMBINATIONS)
def test_every_combination(uses, level: int, role: str | None, declared: int, excluded: bool) -> None:
    row = uses[level, role, declared, excluded]
    if excluded:
        wanted = "nothing"
    elif level > 0 or not declared or role in (None, "unknown"):
        wanted = "structure"
    else:
        wanted = {"proof": "speed", "dev": "comparison under the same load"}[role]
    assert row["use"] == wanted
    assert row["level"] == LEVELS[level]
    assert row["role"] == (role or "unknown")
    assert row["because"]
    if excluded:
        assert row["because"] == "excluded on 2026-01-01: the fan"


def test_speed_has_one_way(uses) -> None:
    assert [key for key, row in uses.items() if row["use"] == "speed"] == [(0, "proof", 1, False)]


def test_an_unknown_level_is_no_speed(tmp_path: Path) -> None:
    """A level that this version does not know was looked at in a way that it does not know."""
    with Store.open(tmp_path / "akvsite.db") as store:
        ingest.install_views(store)
        host = store.insert("host", {"name": "a", "role": "proof"})
        for level in (-1, 5, 99):
            store.insert(
                "run",
                {
                    "name": f"r{level}",
                    "level": level,
                    "host_id": host,
                    "timing": "off",
                    "clock": "c",
                    "declared": 1,
                },
            )
        assert {r["use"] for r in store.rows("SELECT use FROM run_use")} == {"structure"}
