"""The client of the reference engine: keeps requests in flight, and notes when it sees each token.

    python -m akvsite.runner.client --port 4711 --requests 32 --concurrency 4 ...

It makes its requests itself, from the seed, and prints one line of JSON: counts, and the hash of all tokens that it saw.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

from akvsite.runner import wire
from akvsite.runner.marks import marks
from akvsite.runner.workload import SCHEDULES, Asked, Workload, drawn, tokens_sha256

_PATIENCE_S = 600.0  # without a byte from the engine


class Client:
    """``limit`` requests in flight at most; None sends all at once (a fixed schedule, where the engine lets them in)."""

    def __init__(self, connection: socket.socket, requests: Sequence[Asked], limit: int | None) -> None:
        self._socket = connection
        self._left = deque(requests)
        self._limit = limit or len(requests)
        self._flying: set[str] = set()
        self._marks = marks()
        self.tokens: dict[str, list[int]] = {}
        self.done = 0
        self.failed = 0

    def run(self) -> None:
        """Until every request is done or failed. Raises ``OSError`` or ``ValueError`` where the engine is gone or odd."""
        lines = wire.Lines()
        self._send()
        while self._flying:
            data = self._socket.recv(1 << 16)
            if not data:
                raise ConnectionError("the engine closed the connection")
            for line in lines.add(data):
                self._see(json.loads(line))
            self._send()

    def give_up(self) -> None:
        """Requests in flight are failed."""
        for name in sorted(self._flying):
            self._fail(name)
        self.failed += len(self._left)
        self._left.clear()

    def _send(self) -> None:
        while self._left and len(self._flying) < self._limit:
            asked = self._left.popleft()
            message: dict[str, Any] = {
                "id": asked.name, "prompt": list(asked.prompt), "output_tokens": asked.output_tokens
            }  # fmt: skip
            if asked.at_step is not None:
                message["at_step"] = asked.at_step
            self._flying.add(asked.name)
            self.tokens[asked.name] = []
            # Before the bytes: the engine may have them before the call returns.
            self._marks.request(asked.name).client_sent(len(asked.prompt))
            self._socket.sendall(wire.line(message))

    def _see(self, message: dict[str, Any]) -> None:
        name = message.get("id")
        if name not in self._flying:
            raise ValueError(f"the engine says {message.get('error') or 'something of no request in flight'}")
        if "error" in message:
            self._fail(name)
            return
        first, tokens = message["index"], message["tokens"]
        if first != len(self.tokens[name]):
            raise ValueError(f"token {first} of {name} came where {len(self.tokens[name])} was next")
        # One mark for all of the piece: they were seen together.
        self._marks.token(name, first).mark("client", tokens=len(tokens))
        self.tokens[name] += tokens
        if message["done"]:
            self._flying.remove(name)
            self.done += 1
            self._marks.request(name).client_done(len(self.tokens[name]))

    def _fail(self, name: str) -> None:
        self._flying.discard(name)
        self.failed += 1
        self._marks.request(name).client_failed(len(self.tokens.pop(name)))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m akvsite.runner.client", description=__doc__.partition("\n")[0] if __doc__ else None
    )
    parser.add_argument("--port", type=int, required=True, help="where the engine listens, on the loopback")
    for name in ("requests", "concurrency", "prompt-tokens", "output-tokens", "vocabulary"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--schedule", choices=SCHEDULES, default=SCHEDULES[0])
    options = vars(parser.parse_args(arguments))
    port = options.pop("port")
    work = Workload(**options)
    try:
        connection = socket.create_connection((wire.LOOPBACK, port), timeout=_PATIENCE_S)
    except OSError as error:
        print(f"client: port {port}: {error.strerror or error}", file=sys.stderr)
        return 1
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client = Client(connection, drawn(work), work.concurrency if work.schedule == "closed" else None)
        code = 0
        try:
            client.run()
        except (OSError, ValueError, KeyError, TypeError) as error:
            client.give_up()
            print(f"client: {error}", file=sys.stderr)
            code = 1
        except KeyboardInterrupt:  # the engine says so
            client.give_up()
            code = 130
    seen = sum(map(len, client.tokens.values()))
    report = {
        "done": client.done,
        "failed": client.failed,
        "tokens": seen,
        "sha256": tokens_sha256(client.tokens),
    }
    with contextlib.suppress(BrokenPipeError):  # the engine that would read it is gone
        os.write(1, json.dumps(report).encode() + b"\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
