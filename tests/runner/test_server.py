"""The engine's door: clients that vanish, send halves, send nonsense or do not read. The engine goes on."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from engines import Adding, cache

from akvsite import record
from akvsite.errors import BadInput
from akvsite.runner import server as door
from akvsite.runner import wire
from akvsite.runner.client import Client
from akvsite.runner.engine import Engine
from akvsite.runner.run import Serving
from akvsite.runner.server import Server
from akvsite.runner.workload import Asked


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server(0, 512)
    yield made
    made.close()


@pytest.fixture
def serving(server: Server) -> Serving:
    return Serving(Engine(Adding(), 1, cache(), server, record), server)


def until(serving: Serving, reached: Callable[[], bool]) -> None:
    """Turns of the engine until ``reached``; a test that never gets there is ended."""
    for _ in range(2_000):
        if reached():
            return
        serving.turn(0.02)
    raise AssertionError("it never came to that")


def came(server: Server, events: int) -> None:
    """Until the server's thread has read so much, while the engine stands still."""
    for _ in range(2_000):
        if server.events.qsize() >= events:
            return
        time.sleep(0.01)
    raise AssertionError("it never came")


def connected(server: Server) -> socket.socket:
    return socket.create_connection((wire.LOOPBACK, server.port), timeout=20)


def asking(name: str = "r", **other: Any) -> bytes:
    return wire.line({"id": name, "prompt": [1, 2, 3], "output_tokens": 4, **other})


def answers(client: socket.socket, count: int) -> list[dict[str, Any]]:
    lines = wire.Lines()
    found: list[dict[str, Any]] = []
    while len(found) < count:
        data = client.recv(1 << 16)
        assert data
        found += map(json.loads, lines.add(data))
    return found


def test_requests_are_streamed_to_who_sent_them(server: Server, serving: Serving) -> None:
    with connected(server) as one, connected(server) as other:
        one.sendall(asking("one"))
        other.sendall(asking("other"))
        until(serving, lambda: serving.engine.outcome.finished == 2)
        for client, name in ((one, "one"), (other, "other")):
            tokens: list[int] = []
            while True:
                pieces = answers(client, 1)
                tokens += [token for piece in pieces for token in piece["tokens"]]
                assert {piece["id"] for piece in pieces} == {name}
                if pieces[-1]["done"]:
                    break
            assert tokens == serving.engine.outcome.tokens[name]


def test_a_client_that_vanishes_takes_its_requests_along(server: Server, serving: Serving) -> None:
    with connected(server) as stays:
        with connected(server) as goes:
            goes.sendall(asking("goes", output_tokens=20))
            stays.sendall(asking("stays", output_tokens=20))
            came(server, 2)
            serving.turn(0)
            serving.turn(0)
            assert len(serving.engine.scheduler.running) == 2
        came(server, 1)
        serving.turn(0)
        assert serving.engine.outcome.failed == 1
        until(serving, lambda: serving.engine.outcome.finished == 1)
    assert list(serving.engine.outcome.tokens) == ["stays"]
    assert serving.engine.scheduler.blocks.free == serving.engine.scheduler.cache.blocks


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"nonsense", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 5_000, "not JSON"),
        (b"[1]", "not an object"),
        (b'{"id": 3, "prompt": [1], "output_tokens": 1}', '"id"'),
        (b'{"id": "a\\u001b[2J", "prompt": [1], "output_tokens": 1}', '"id"'),
        (b'{"id": "r", "prompt": [512], "output_tokens": 1}', "0 to 511"),
        (b'{"id": "r", "prompt": [true], "output_tokens": 1}', "0 to 511"),
        (b'{"id": "r", "prompt": [1], "output_tokens": "4"}', '"output_tokens"'),
        (b'{"id": "r", "prompt": [1], "output_tokens": 4, "at_step": 1.5}', '"at_step"'),
        (b'{"id": "r", "prompt": [], "output_tokens": 4}', "one token"),
        (b'{"id": "r", "prompt": [1], "output_tokens": 4000}', "the most"),
    ],
)
def test_a_bad_line_is_answered_and_the_next_is_read(
    server: Server, serving: Serving, line: bytes, why: str
) -> None:
    with connected(server) as client:
        client.sendall(line + b"\n" + asking("good"))
        until(serving, lambda: serving.engine.outcome.finished == 1)
        first, *_ = answers(client, 2)
    assert why in first["error"]


def test_half_a_request_is_none(server: Server, serving: Serving) -> None:
    with connected(server) as client:
        client.sendall(asking("whole") + asking("half")[:-5])
        until(serving, lambda: serving.engine.outcome.finished == 1)
    until(serving, lambda: server.half_lines == 1)
    assert list(serving.engine.outcome.tokens) == ["whole"] and serving.engine.outcome.failed == 0


def test_a_line_without_end_ends_the_connection_alone(server: Server, serving: Serving) -> None:
    with connected(server) as other, connected(server) as client:
        with contextlib.suppress(OSError):  # it may be closed before all is sent
            client.sendall(b"x" * (wire.MOST_LINE + 100_000))
        until(serving, lambda: server.refused_lines == 1)
        other.sendall(asking())
        until(serving, lambda: serving.engine.outcome.finished == 1)


def test_a_client_that_does_not_read_is_as_good_as_gone(
    server: Server, serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "_MOST_WAITING", 1_000)
    # What is accepted has the buffers of who listens: small ones are soon full.
    server._listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
    with connected(server) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.sendall(asking("r0"))
        until(serving, lambda: serving.engine.outcome.finished == 1)
        # Answers to nonsense fill what the two sockets hold, and then what the server keeps.
        client.settimeout(0.2)
        with contextlib.suppress(OSError):
            while True:
                client.sendall(b"nonsense\n" * 100)
                serving.turn(0)
        with connected(server) as other:
            other.sendall(asking("r1"))
            until(serving, lambda: serving.engine.outcome.finished == 2)


def test_a_port_in_use_is_refused(server: Server) -> None:
    with pytest.raises(BadInput, match=f"--port: {server.port} on .*in use"):
        Server(server.port, 512)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (
            {"id": "r", "index": 1, "tokens": [4], "text": "", "done": False},
            "token 1 of r came where 0 was next",
        ),
        ({"id": "q", "index": 0, "tokens": [4], "text": "", "done": False}, "no request in flight"),
        ({"error": "a line is not JSON"}, "not JSON"),
    ],
)
def test_a_client_believes_no_odd_answer(answer: dict[str, Any], why: str) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        client = Client(ours, [Asked("r", (1,), 2)], 1)
        theirs.sendall(wire.line(answer))
        with pytest.raises(ValueError, match=why):
            client.run()
        client.give_up()
        assert (client.done, client.failed) == (0, 1)


def test_a_client_is_told_when_the_engine_closes() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        client = Client(ours, [Asked("r", (1,), 2), Asked("s", (1,), 2)], 1)
        theirs.sendall(wire.line({"id": "r", "index": 0, "tokens": [4], "text": "", "done": False}))
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(ConnectionError):
            client.run()
        client.give_up()
        theirs.close()
    assert (client.done, client.failed, client.tokens) == (0, 2, {})
