"""The step of a host row does not depend on which file came first: found on the way in, or afterwards."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from bundles import arrow, ask, dump, read_in, steps, write_capture
from hypothesis import given
from hypothesis import strategies as st

from akvsite import link
from akvsite.store import Store


def region(start: int | None, process: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "name": f"at {start}",
        "start_ns": start,
        "end_ns": None,
        "category": "region",
        "process": process,
        **more,
    }


TIMES = st.integers(0, 12)
STEPS = st.lists(
    st.builds(
        lambda start, length, process, source: {
            **steps(1)[0],
            "start_ns": start,
            "end_ns": None if length is None or start is None else start + length,
            "process": process,
            "source": source,
        },
        st.none() | TIMES,
        st.none() | TIMES,
        st.integers(0, 1),
        st.sampled_from(["engine annotation", "profiler step"]),
    ),
    max_size=6,
)
REGIONS = st.lists(st.builds(region, st.none() | TIMES, st.integers(0, 1)), max_size=6)


def placed(path: Path) -> list[dict[str, Any]]:
    """Each host row with its step, which has the same id in both orders."""
    return ask(path, "SELECT id, name, process_id, step_id FROM level2_host ORDER BY id")


@given(STEPS, REGIONS)
def test_steps_before_and_after_the_rows_in_them(
    in_steps: list[dict[str, Any]], regions: list[dict[str, Any]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        host, step = arrow("level2_host", regions), arrow("step", in_steps)
        found = []
        for order in ({"step": step, "level2_host": host}, {"level2_host": host, "step": step}):
            top = "".join(f'\n[[process]]\npid = "{n}"' for n in range(2))
            capture = write_capture(Path(folder, f"first-{next(iter(order))}"), order, level="host", more=top)
            store = Path(folder, f"{capture.name}.db")
            read_in(store, capture)
            found.append(placed(store))
            # What the statements would say of all rows is what the rows have.
            before = dump(store)
            with Store.open(store) as opened:
                for statement in link.STEP_STATEMENTS:
                    opened.connection.execute(statement, {"run": 1})
            assert dump(store) == before
        assert found[0] == found[1]


def test_rows_of_a_step_that_comes_in_pieces(tmp_path: Path) -> None:
    """Steps between two files of host rows: what came first is looked at again."""
    rows = arrow("level2_host", [region(5), region(25), region(95)])
    folder = write_capture(
        tmp_path / "a", {"level1_runner": arrow("level1_runner", [{"name": "wait", "start_ns": 15}]), "step": steps(), "level2_host": rows},
        level="host",
    )  # fmt: skip
    read_in(tmp_path / "akvsite.db", folder)
    found = ask(
        tmp_path / "akvsite.db",
        "SELECT h.start_ns, s.name FROM (SELECT start_ns, step_id FROM level1_runner UNION ALL"
        " SELECT start_ns, step_id FROM level2_host) h LEFT JOIN step s ON s.id = h.step_id ORDER BY 1",
    )
    assert [(r["start_ns"], r["name"]) for r in found] == [
        (5, "step.0"),
        (15, "step.1"),
        (25, "step.2"),
        (95, None),
    ]


def test_nested_is_what_lies_inside(tmp_path: Path) -> None:
    """A step without a start lies in none, and one that begins where another ends follows it."""
    times = [
        (0, 10, 0),
        (10, 10, 0),
        (10, 20, 0),
        (10, 10, 1),
        (12, 18, 1),
        (12, 12, 1),
        (15, 25, 0),
        (None, 30, 0),
        (None, 5, 0),
        (26, None, 0),
        (27, 29, 0),
        (29, 29, 0),
    ]
    rows = [
        {**steps(1)[0], "start_ns": start, "end_ns": end, "source": "engine counter", "number": number}
        for number, (start, end, _) in enumerate(times)
    ]
    # The second of two alike at 10: both lie inside the step from 10 to 20.
    times[1] = (10, 10, 1)
    read_in(tmp_path / "akvsite.db", write_capture(tmp_path / "a", {"step": rows}))
    found = ask(tmp_path / "akvsite.db", "SELECT nested FROM step ORDER BY number")
    assert [r["nested"] for r in found] == [nested for _, _, nested in times]


def test_a_profiler_over_chosen_steps_saw_none_of_the_first(tmp_path: Path) -> None:
    """Its tenth step of the engine is no warm-up because it is the first that it saw."""
    own = [{**row, "source": "probe", "process": 0} for row in steps(12)]
    profiled = [
        {**row, "source": "engine annotation", "process": 1}
        for row in steps(12)
        if row["number"] in (1, 8, 9)
    ]
    alone = [{**row, "source": "engine annotation", "process": 2} for row in steps(12)[6:]]
    named = "".join(f'[[process]]\npid = "{pid}"\n' for pid in (7, 7, 8))
    folder = write_capture(
        tmp_path / "a", {"step": [*own, *profiled, *alone]}, top="warm_up_steps = 3", more=named
    )
    read_in(tmp_path / "akvsite.db", folder)
    cut = ask(
        tmp_path / "akvsite.db",
        "SELECT p.id AS process, group_concat(number) AS cut FROM step s JOIN process p ON p.id = s.process_id"
        " WHERE warm_up = 1 GROUP BY p.id ORDER BY p.id",
    )
    assert [row["cut"] for row in cut] == ["0,1,2", "1", "6,7,8"]
