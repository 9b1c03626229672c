"""Work on a store in a second process, which sees the very rows that the first one sees, whoever writes in between.

Two processes and not two threads: what takes the time is as much Python's own work on rows as SQLite's.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

from akvsite.errors import BadInput
from akvsite.store import Store

#: ``work(store, tell, *arguments)``, a function of a module, so that it can be named to another process. It may ``tell`` what
#: it is about to do, and what it hands back is the result; all of this has to be picklable.
Work = Callable[..., Any]
Hear = Callable[[str, str], None]

_CHILD = "import sys; from akvsite.beside import _serve; _serve(int(sys.argv[1]))"
#: What the two say to each other, besides what the work tells.
_READY, _TOLD, _DONE, _FAILED = range(4)


class Beside:
    """``work`` begun in a second process, for a ``with`` block; the store is read in one transaction until its end.

    Whoever leaves the block early ends the other process too. A process whose first one is gone ends at its next word.
    """

    def __init__(self, store: Store, work: Work, *arguments: object, hear: Hear) -> None:
        self._store = store
        self._order = (str(store.path), work, arguments)
        self._hear = hear
        self._result: list[Any] = []

    def __enter__(self) -> Beside:
        ours, theirs = Pipe()
        # As this process finds its modules. A group of its own, since an interrupt is for the first process to answer.
        paths = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(theirs.fileno())],
            env=os.environ | {"PYTHONPATH": paths},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            process_group=0,
        )
        theirs.close()
        self._pipe = ours
        try:
            self._pipe.send(self._order)
            self._expect(_READY)
            # Nobody writes between the beginnings of the two, so that both see the same.
            with self._store.unchanging():
                self._store.begin_reading()
                self._pipe.send(None)
                self._expect(_READY)
        except BaseException:
            self._end()
            raise
        return self

    def listen(self) -> None:
        """Hear what has been told so far; called now and then, the other process never has to wait with its words."""
        while not self._result and self._pipe.poll():
            kind, *said = self._receive()
            if kind == _TOLD:
                self._hear(*said)
            elif kind == _DONE:
                self._result = said

    def result(self) -> Any:
        """What the work hands back, once it is done; what it raised is raised here."""
        while not self._result:
            self._pipe.poll(None)
            self.listen()
        return self._result[0]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        self._process.terminate()
        self._process.wait()
        # What it told before it ended.
        with suppress(Exception):
            self.listen()
        self._pipe.close()
        self._store.end_reading()

    def _expect(self, wanted: int) -> None:
        kind, *said = self._receive()
        assert kind == wanted, said

    def _receive(self) -> tuple[Any, ...]:
        """The next word; what the other process raised is raised here."""
        try:
            got: tuple[Any, ...] = self._pipe.recv()
        except (EOFError, ConnectionError) as error:
            code = self._process.wait()
            raise BadInput(
                self._store.path, f"the second process that read it was ended from outside, with code {code}"
            ) from error
        if got[0] == _FAILED:
            raise got[1]
        return got


def _serve(handle: int) -> None:
    """The second process."""
    # What is half written is taken away on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    pipe = Connection(handle)
    try:
        try:
            path, work, arguments = pipe.recv()
            pipe.send((_READY,))
            with Store.read(Path(path)) as store:
                pipe.recv()
                store.begin_reading()
                pipe.send((_READY,))
                result = work(store, lambda kind, what: pipe.send((_TOLD, kind, what)), *arguments)
            pipe.send((_DONE, result))
        except (EOFError, ConnectionError):
            raise
        except Exception as error:
            pipe.send((_FAILED, _carried(error)))
    except (EOFError, ConnectionError):
        # The first process is gone: nobody hears of it.
        os._exit(1)


def _carried(error: Exception) -> Exception:
    """The error as the first process can raise it, with the place where it was raised."""
    where = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(where)
    error.add_note(f"in the second process:\n{where}")
    return error
