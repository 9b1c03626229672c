"""The engine's door: a thread that accepts clients and reads their requests; the engine's own thread sends.

Nothing that a client sends, leaves unsent or does ends the engine.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections import deque
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from time import monotonic_ns

from akvsite.errors import BadInput
from akvsite.runner import wire
from akvsite.runner.engine import Piece
from akvsite.runner.workload import Asked

_MOST_WAITING = 4 << 20  # bytes for a client that does not read; beyond, it is as good as gone
_READ = 1 << 16


@dataclass(frozen=True)
class Arrived:
    """A request that was read whole at ``at_ns``."""

    connection: Connection
    asked: Asked
    at_ns: int


@dataclass(frozen=True)
class Gone:
    """A connection that has ended."""

    connection: Connection


@dataclass(frozen=True)
class Refused:
    """A line that is no request, and why."""

    connection: Connection
    why: str


@dataclass(eq=False)
class Connection:
    socket: socket.socket
    lines: wire.Lines = field(default_factory=wire.Lines)
    #: What the socket would not take yet: bytes, and the piece that is sent with the last of them.
    waiting: deque[tuple[bytes, Piece | None]] = field(default_factory=deque)
    waiting_bytes: int = 0
    broken: bool = False


class Server:
    """Listens from the start. Raises ``BadInput`` where the port cannot be had; 0 lets the system choose one."""

    def __init__(self, port: int, vocabulary: int) -> None:
        self._vocabulary = vocabulary
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        # Not for two at once, which the kernel refuses: for a run that follows on another's port.
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._listener.bind((wire.LOOPBACK, port))
            self._listener.listen(16)
        except (OSError, OverflowError) as error:
            self._listener.close()
            why = error.strerror if isinstance(error, OSError) else "is no port"
            raise BadInput("--port", f"{port} on {wire.LOOPBACK}: {why}") from error
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]
        self.events: SimpleQueue[Arrived | Gone | Refused] = SimpleQueue()
        self.refused_lines = 0
        self.half_lines = 0
        self._owner: dict[str, Connection] = {}  # of a request
        self._pending: set[Connection] = set()  # that have bytes waiting
        self._wake, self._woken = socket.socketpair()
        self._thread = threading.Thread(target=self._listen, name="server", daemon=True)
        self._thread.start()

    # --- the engine's thread ---

    def next(self, timeout: float | None) -> Arrived | Gone | Refused | None:
        """What came in; None where nothing came in ``timeout`` seconds (0: nothing is there)."""
        try:
            event = self.events.get(timeout=timeout) if timeout else self.events.get_nowait()
        except Empty:
            return None
        return event

    def own(self, name: str, connection: Connection) -> None:
        """What is sent for the request goes to this connection."""
        self._owner[name] = connection

    def requests_of(self, connection: Connection) -> list[str]:
        return [name for name, owner in self._owner.items() if owner is connection]

    def forget(self, name: str) -> None:
        self._owner.pop(name, None)

    def send(self, piece: Piece) -> None:
        connection = self._owner.get(piece.request)
        if connection is None:
            return
        if piece.done:
            self.forget(piece.request)
        message = {
            "id": piece.request, "index": piece.first, "tokens": piece.tokens, "text": piece.text, "done": piece.done
        }  # fmt: skip
        self._queue(connection, wire.line(message), piece)

    def fail(self, request: str, why: str) -> None:
        connection = self._owner.pop(request, None)
        if connection is not None:
            self.refuse(connection, request, why)

    def refuse(self, connection: Connection, request: str | None, why: str) -> None:
        message = {"error": why} if request is None else {"id": request, "error": why}
        self._queue(connection, wire.line(message), None)

    def flush(self) -> None:
        """Try again what sockets would not take."""
        for connection in list(self._pending):
            self._push(connection)

    def end(self, connection: Connection) -> None:
        """The connection is gone, and so is what was to be sent."""
        connection.broken = True
        connection.waiting.clear()
        self._pending.discard(connection)
        connection.socket.close()

    def close(self) -> None:
        self._wake.send(b"x")
        self._thread.join()

    def _queue(self, connection: Connection, data: bytes, piece: Piece | None) -> None:
        if connection.broken:
            return
        connection.waiting.append((data, piece))
        connection.waiting_bytes += len(data)
        self._push(connection)
        if connection.waiting_bytes > _MOST_WAITING:
            self._break(connection)

    def _push(self, connection: Connection) -> None:
        """As much as the socket takes. A piece is sent with its last byte, at the time just before the call that takes it:
        on the loopback the client may have read it before the call returns.
        """
        while connection.waiting and not connection.broken:
            data, piece = connection.waiting[0]
            at_ns = monotonic_ns()
            try:
                taken = connection.socket.send(data)
            except BlockingIOError:
                self._pending.add(connection)
                return
            except OSError:
                self._break(connection)
                return
            connection.waiting_bytes -= taken
            if taken < len(data):
                connection.waiting[0] = (data[taken:], piece)
                continue
            connection.waiting.popleft()
            if piece is not None:
                piece.mark("sent", at_ns)
        self._pending.discard(connection)

    def _break(self, connection: Connection) -> None:
        connection.broken = True
        connection.waiting.clear()
        self._pending.discard(connection)
        # The thread that reads sees the end, and says that the connection is gone.
        with contextlib.suppress(OSError):
            connection.socket.shutdown(socket.SHUT_RDWR)

    # --- the server's thread ---

    def _listen(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is self._woken:
                        self._end(selector)
                        return
                    if key.fileobj is self._listener:
                        self._accept(selector)
                    else:
                        self._receive(selector, key.data)

    def _accept(self, selector: selectors.BaseSelector) -> None:
        try:
            accepted, _ = self._listener.accept()
        except OSError:  # gone again, or no descriptor is left
            return
        accepted.setblocking(False)
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(accepted, selectors.EVENT_READ, Connection(accepted))

    def _receive(self, selector: selectors.BaseSelector, connection: Connection) -> None:
        try:
            data = connection.socket.recv(_READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        at_ns = monotonic_ns()
        try:
            lines = connection.lines.add(data) if data else []
        except ValueError:
            self.refused_lines += 1
            data, lines = b"", []
        for text in lines:
            self._read(connection, text, at_ns)
        if not data:
            self.half_lines += connection.lines.half
            selector.unregister(connection.socket)
            self.events.put(Gone(connection))

    def _read(self, connection: Connection, text: bytes, at_ns: int) -> None:
        try:
            asked = wire.asked(text, self._vocabulary)
        except ValueError as error:
            self.refused_lines += 1
            self.events.put(Refused(connection, str(error)))
            return
        self.events.put(Arrived(connection, asked, at_ns))

    def _end(self, selector: selectors.BaseSelector) -> None:
        for key in list(selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._wake.close()
