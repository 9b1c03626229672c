"""Spans of the probe and what engines do with them: exceptions, tasks, threads, generators, a level that changes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from probes import LASTS, PHASE, RAISED, REGION, STEP, Probe, read


def test_an_exception_ends_a_span_and_goes_on(run: Probe) -> None:
    script = """
try:
    with record.step(1), record.phase("launch"), record.region("a"):
        raise KeyError("x")
except KeyError as error:
    print(error.args)
with record.step(2): pass
"""
    done = run(script)
    assert done.out == "('x',)\n"
    assert [(m.kind, m.flags) for m in done.log.marks] == [
        (STEP, RAISED), (PHASE, RAISED), (REGION, RAISED), (STEP, 0),
    ]  # fmt: skip


def test_a_span_below_its_level_lets_exceptions_through(run: Probe) -> None:
    script = """
for span in (record.step(1), record.phase("p"), record.region("r"), record.layer(1)):
    try:
        with span: raise KeyError
    except KeyError:
        print("through")
    with span, span: pass
"""
    assert run(script, "off").out == "through\n" * 4


def test_interleaved_tasks_of_one_thread(run: Probe) -> None:
    script = """
import asyncio
async def task(number):
    with record.step(number, batch=number):
        for round in range(20):
            with record.region(f"{number}"):
                await asyncio.sleep(0)
async def main():
    await asyncio.gather(*map(task, range(8)))
asyncio.run(main())
"""
    log = run(script).log
    assert Counter(log.spans()) == {str(n): 20 for n in range(8)}
    steps = [m for m in log.marks if m.kind == STEP]
    assert [(m.a, m.value, m.flags) for m in steps] == [(n, n, 0) for n in range(8)]
    for number, step in enumerate(steps):
        inside = [m for m in log.marks if m.kind == REGION and m.name == str(number)]
        assert all(step.start <= m.start <= m.end <= step.end for m in inside)


def test_generators_that_stop_in_the_middle(run: Probe) -> None:
    script = """
def tokens():
    with record.region("stream"):
        yield 1
        yield 2
first = tokens(); next(first); first.close()
second = tokens(); next(second); del second
for _ in tokens(): pass
"""
    assert [(m.name, m.flags) for m in run(script).log.marks] == [
        ("stream", RAISED), ("stream", RAISED), ("stream", 0),
    ]  # fmt: skip


def test_a_span_inside_itself_is_one_and_can_be_used_again(run: Probe) -> None:
    script = """
def deeper(n):
    with record.region("r"):
        if n: deeper(n - 1)
deeper(5)
span = record.region("same")
with span:
    with span: pass
with span: pass
span.__exit__(None, None, None)
never = record.region("never entered")
never.__exit__(None, None, None)
with never: pass
step = record.step(1)
step.__enter__(); step.__enter__(); step.__exit__(None, None, None); step.__exit__(None, None, None)
"""
    log = run(script).log
    assert log.spans() == ["r"] * 6 + ["same"] * 2 + ["never entered"]
    assert log.spans(STEP) == ["decode"]
    assert all(m.start <= m.end for m in log.marks)


def test_many_threads(run: Probe) -> None:
    script = """
import sys, threading
sys.setswitchinterval(1e-5)
def work(number):
    for n in range(2000):
        with record.step(n, batch=number), record.region(f"t{number}-{n % 50}"): pass
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for t in threads: t.start()
for t in threads: t.join()
"""
    log = run(script).log
    assert (log.tally.holes, log.tally.missing, log.header.records_lost) == (0, 0, 0)
    steps = [m for m in log.marks if m.kind == STEP]
    assert Counter((m.value, m.a) for m in steps) == Counter((t, n) for t in range(8) for n in range(2000))
    assert len({m.thread for m in steps}) == 8
    assert all(m.end >= m.start and not m.flags for m in steps)
    assert Counter(log.spans()) == {f"t{t}-{n}": 40 for t in range(8) for n in range(50)}


def test_a_record_in_the_middle_of_another(run: Probe) -> None:
    """A signal handler runs between any two instructions of the plain probe, and there are none in the extension."""
    script = """
import sys
fire = seen = 0
def trace(frame, event, argument):
    global seen
    if "record" not in frame.f_code.co_filename: return None
    frame.f_trace_opcodes = True
    if event == "opcode":
        seen += 1
        if seen == fire:
            with record.region(f"inner {fire}"): pass
            record.request(f"r{fire}").arrived()
    return trace
while fire == 0 or seen >= fire:
    fire, seen = fire + 1, 0
    sys.settrace(trace)
    with record.region(f"outer {fire}"): pass
    record.request(f"o{fire}").arrived()
    sys.settrace(None)
print(fire, record.lost())
"""
    done = run(script)
    fired, lost = map(int, done.out.split())
    log = done.log
    assert log.tally.holes == log.tally.missing == 0
    # The last round found no instruction left to stop at. Each had two spans and two requests with a text each.
    assert len(log.marks) + lost >= 4 * fired - 2 and len(log.marks) >= 3 * fired
    named = Counter(name for name in log.spans() if name is not None)
    assert set(named.values()) == {1} and len(named) > 1.5 * (fired - 1)


def test_the_level_changes_under_open_spans(run: Probe, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    script = """
with record.step(1), record.region("a"):
    record.set_level("off")
with record.region("at off"):
    record.set_level("host")
with record.step(2), record.region("b"):
    record.set_level("host", "other")
    with record.region("c"): pass
"""
    first = run(script).log
    assert [(m.kind, m.a, m.flags, bool(m.end)) for m in first.marks] == [
        (STEP, 1, 0, True), (STEP, 2, LASTS, False),
    ]  # fmt: skip
    assert first.header.closed
    (path,) = (tmp_path / "other").iterdir()
    assert read(path).spans() == ["c"]
