"""One command in the foreground: signals go through to it, and its way of ending comes back."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from akvsite.errors import BadInput

PASSED = frozenset({
    signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH,
})  # fmt: skip
_FROM_KERNEL = 0x80  # si_code SI_KERNEL: a key of the terminal, which the command's own group gets as well
#: What Python ignores and a program does not expect to be ignored.
_RESET = [s for s in (signal.SIGPIPE, signal.SIGXFSZ) if signal.getsignal(s) == signal.SIG_IGN]


@dataclass(frozen=True)
class Ended:
    """How a command ended; times on CLOCK_MONOTONIC, times of the processor over it and what it waited for."""

    status: int
    started_ns: int
    ended_ns: int
    user_ns: int
    system_ns: int
    peak_resident_bytes: int
    passed_on: int
    #: Why it was looked at no longer, where looking failed.
    looking_failed: str | None = None

    @property
    def signal(self) -> int | None:
        return -self.status if self.status < 0 else None

    @property
    def code(self) -> int:
        """As a shell says it: 128 and the signal's number where a signal ended it."""
        return 128 - self.status if self.status < 0 else self.status

    @property
    def said(self) -> str:
        return f"signal {-self.status}" if self.status < 0 else f"exit {self.status}"


@contextmanager
def signals_held() -> Iterator[set[int]]:
    """Signals wait to be passed on, or until the block is left; yields the mask that the command is to have."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*PASSED, signal.SIGCHLD})
    # An ignored SIGCHLD, which may be inherited, would take the command's way of ending with it.
    handler = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield {int(number) for number in before}
    finally:
        if handler is not None:
            signal.signal(signal.SIGCHLD, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run(
    path: Path,
    command: Sequence[str],
    environment: Mapping[str, str],
    mask: set[int],
    look: Callable[[int], Callable[[], int]] | None = None,
) -> Ended:
    """Run it inside ``signals_held``, in this process group, and wait for it and nothing else.

    ``look`` is called with the process id and gives a function that is called now and then: it says when, on
    CLOCK_MONOTONIC, it wants to be called next. Raises ``BadInput`` where the program cannot be started.
    """
    started = time.monotonic_ns()
    try:
        pid = os.posix_spawn(path, list(command), dict(environment), setsigmask=mask, setsigdef=_RESET)
    except OSError as error:
        raise BadInput(command[0], f"cannot be started: {error.strerror}") from error
    watcher = threading.Thread(target=_tell_of_the_end, args=(pid, threading.get_ident()), daemon=True)
    watcher.start()
    looking = _Looking(pid, look)
    passed = 0
    before: signal.struct_siginfo | None = None
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            at = time.monotonic_ns()
            watcher.join()
            return Ended(
                status=os.waitstatus_to_exitcode(status),
                started_ns=started,
                ended_ns=at,
                user_ns=round(usage.ru_utime * 1e9),
                system_ns=round(usage.ru_stime * 1e9),
                peak_resident_bytes=usage.ru_maxrss * 1024,
                passed_on=passed,
                looking_failed=looking.failed,
            )
        looking.when_due()
        wait = looking.seconds_left()
        until = time.monotonic() + wait
        came = signal.sigtimedwait({*PASSED, signal.SIGCHLD}, wait)
        if came is None or (came == before and time.monotonic() >= until):
            continue  # interrupted after its time, by a stop of this process, it gives what the last call left
        before = came
        if came.si_signo in PASSED and came.si_code != _FROM_KERNEL:
            with contextlib.suppress(OSError):  # it has just ended, or became somebody else's
                os.kill(pid, came.si_signo)
                passed += 1


class _Looking:
    """What looks at the command now and then. Where that fails it ends, and the command goes on."""

    def __init__(self, pid: int, look: Callable[[int], Callable[[], int]] | None) -> None:
        self.failed: str | None = None
        self._again: Callable[[], int] | None = None
        self._due: int | None = None
        if look is not None:
            with self._failing():
                self._again = look(pid)
                self._due = self._again()

    def when_due(self) -> None:
        if self._again and self._due is not None and time.monotonic_ns() >= self._due:
            with self._failing():
                self._due = self._again()

    def seconds_left(self) -> float:
        return 3600.0 if self._due is None else max(0.0, (self._due - time.monotonic_ns()) / 1e9)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # whatever it is: the command's end is still waited for
            self.failed = type(error).__name__
            self._again = self._due = None


def forget_signals() -> None:
    """Those that came since the command ended: there is nobody left to pass them on to. Inside ``signals_held``."""
    # Without a time to wait it is never interrupted.
    while signal.sigtimedwait(PASSED, 0) is not None:
        pass


def _tell_of_the_end(pid: int, thread: int) -> None:
    """Wake the thread that waits. The SIGCHLD of the process may be taken by any thread that a library has made."""
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    signal.pthread_kill(thread, signal.SIGCHLD)
