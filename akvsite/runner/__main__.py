"""``python -m akvsite.runner``: one run of the reference engine."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from akvsite.errors import BadInput, visible
from akvsite.runner import backends, options, run
from akvsite.runner.engine import Engine, warm_up
from akvsite.runner.looking import Looking, MemoryHistory, Profiled, Timed
from akvsite.runner.marks import marks
from akvsite.runner.options import Options
from akvsite.runner.server import Server
from akvsite.runner.workload import tokens_sha256


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0; 1 where requests were left undone; 2 where the options cannot be met."""
    try:
        return _run(options.parsed(arguments))
    except BadInput as error:
        print(f"akvsite.runner: {visible(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("akvsite.runner: interrupted", file=sys.stderr)
        return 130


def _run(asked: Options) -> int:
    if asked.result is not None:
        _check_result(asked.result)
    # First what may be refused at once: a model may take its time.
    memory = MemoryHistory() if asked.memory_snapshot else None
    looking = Looking() if asked.profile_steps is None else Profiled(asked.profile_steps, asked.profile_file)
    server = Server(asked.port, asked.shape.vocabulary) if asked.client else None
    backend = backends.make(
        asked.backend, asked.device, asked.shape, asked.cache, asked.levers, asked.work.seed
    )
    layers, prefetch = asked.shape.layers, asked.levers.prefetch
    warm_up(backend, layers, asked.cache, prefetch, asked.warm_up_steps)
    if asked.device_records == "events":
        looking = _timed(asked, backend)
    engine = Engine(
        backend, layers, asked.cache, server or run.Sink(), marks(), prefetch=prefetch, looking=looking
    )
    client = None
    try:
        if server is None:
            run.alone(engine, asked.work)
        else:
            client = run.with_client(engine, server, asked.work)
    finally:
        looking.close()
        if memory is not None:
            memory.write()
        result = _result(asked, engine, backend.name, backend.facts | looking.facts)
        if asked.result is not None:
            _write(asked.result, result)
        _state(result)
    backend.close()
    _say(asked, result, client)
    complete = result["requests"] == asked.work.requests
    if client is not None and (client.code or client.counts is None):
        ended = f"signal {-client.code}" if client.code < 0 else f"code {client.code}"
        done = f"{result['requests']} of {asked.work.requests} requests are done"
        print(f"akvsite.runner: the client ended with {ended}; {done}", file=sys.stderr)
        return 1
    if client is not None and client.counts and client.counts["sha256"] != result["tokens_sha256"]:
        print("akvsite.runner: the client saw other tokens than the engine made", file=sys.stderr)
        return 1
    return 0 if complete else 1


def _timed(asked: Options, backend: backends.Backend) -> Timed:
    _, _, number = asked.device.partition(":")
    return Timed(asked.backend, backend.streams, int(number) if number.isdecimal() else 0)


def _result(asked: Options, engine: Engine, name: str, facts: dict[str, str]) -> dict[str, Any]:
    outcome = engine.outcome
    return {
        "pid": os.getpid(),
        "tokens_sha256": tokens_sha256(outcome.tokens),
        "tokens": sum(map(len, outcome.tokens.values())),
        "steps": outcome.steps,
        "requests": outcome.finished,
        "failed": outcome.failed,
        "preempted": engine.scheduler.preemptions,
        "facts": {"backend": name, "model": asked.model, "parameters": str(asked.shape.parameters), **facts},
    }


def _state(result: dict[str, Any]) -> None:
    """For a capture: the hash of what came out, and what the engine was."""
    folder = os.environ.get("AKV_FILES")
    if not folder:
        return
    counts = {name: result[name] for name in ("requests", "failed", "tokens", "preempted")}
    facts = {
        "contract": {"output_hash": f"sha256 {result['tokens_sha256']}"},
        "engine": {**result["facts"], **counts},
    }
    try:
        (Path(folder) / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
    except OSError as error:
        # What was run is run: its other records are there.
        print(f"akvsite.runner: facts.json: {error.strerror}", file=sys.stderr)


def _say(asked: Options, result: dict[str, Any], client: run.ClientReport | None) -> None:
    """Counts and the hash; how long anything took is for a capture."""
    counts = {name: result[name] for name in ("requests", "failed", "tokens", "preempted", "tokens_sha256")}
    for kind in ("prefill", "decode"):
        counts[f"{kind}_steps"] = sum(step[1] == kind for step in result["steps"])
    if client is not None:
        counts["client"] = client.counts
    if asked.json:
        print(json.dumps(counts))
        return
    print(
        f"requests done  {counts['requests']} of {asked.work.requests}, preempted {counts['preempted']} times"
    )
    print(f"steps          {counts['prefill_steps']} prefill, {counts['decode_steps']} decode")
    print(f"tokens         {counts['tokens']}, sha256 {counts['tokens_sha256']}")
    if client is not None and client.counts is not None:
        print(f"client saw     {client.counts['tokens']} tokens")


def _check_result(path: Path) -> None:
    """Before the run, so that nothing is run for a result that has no place."""
    if not path.parent.is_dir():
        raise BadInput("--result", f"{path}: the folder is not there")
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        kind = stat.S_IFREG
    except OSError as error:
        raise BadInput("--result", f"{path}: {error.strerror}") from error
    if stat.S_ISDIR(kind):
        raise BadInput("--result", f"{path}: is a folder")
    if not stat.S_ISREG(kind):
        raise BadInput("--result", f"{path}: is no file, and would be replaced by one")
    _beside(path, "").unlink()


def _write(path: Path, result: dict[str, Any]) -> None:
    part = _beside(path, json.dumps(result) + "\n")
    try:
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BadInput("--result", f"{path}: {error.strerror}") from error


def _beside(path: Path, text: str) -> Path:
    """A file with this text in the folder of ``path``."""
    part = path.with_name(f".akvsite-runner.{os.getpid()}.part")
    try:
        part.write_text(text)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BadInput("--result", f"{path}: {error.strerror}") from error
    return part


if __name__ == "__main__":
    sys.exit(main())
