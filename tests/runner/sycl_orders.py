"""Holds up the blocks that the SYCL backend fetches until the attention that reads them is on the other queue."""

from __future__ import annotations

import threading
import time
from typing import Any

_GIVEN_UP_S = 10.0  # nothing waits for so long: a gate that stays shut ends as a wrong order would
_HEAD_START_S = 0.05  # for attention that waits for nothing


class _Held:
    """The thread of a SYCL host task lets go of it, and that takes until the gate is open: what depends on it is late.

    A kernel that runs long would not do: while a CPU device is busy, a call that puts a copy on a queue may join in and
    return with the copy done.
    """

    def __init__(self, gate: threading.Event) -> None:
        self._gate = gate

    def __del__(self) -> None:
        if self._gate.wait(_GIVEN_UP_S):
            time.sleep(_HEAD_START_S)


def hold_fetches(backend: Any, ordered: bool) -> None:
    """The last copy of each. ``ordered``: False leaves out what makes attention wait for it, to show what comes of that.

    For blocks that are fetched on demand: a call that puts another copy behind a held one would wait for it.
    """
    import dpctl

    queue = dpctl.SyclQueue(backend._compute.sycl_context, backend._compute.sycl_device)
    fetch, attention, send, after = backend.fetch, backend.attention, backend._send, backend._compute_after
    last: list[Any] = []  # what the copy was asked for that is not yet on its queue
    gate = threading.Event()
    inside = ""

    def held_fetch(layer: int) -> None:
        nonlocal inside
        gate.clear()
        inside = "fetch"
        fetch(layer)
        inside = ""
        if last:  # a prefill fetches nothing
            held = queue._submit_keep_args_alive([_Held(gate)], [])
            backend._fetched[layer % 2] = send(*last, after=[held])
            last.clear()

    def held_send(*given: Any, after: Any = ()) -> Any:
        if inside != "fetch":
            return send(*given, after=after)
        if last:
            send(*last)
        last[:] = given
        return None

    def opening_attention(layer: int) -> None:
        nonlocal inside
        inside = "attention"
        attention(layer)
        inside = ""
        gate.set()

    def maybe_after(copied: Any) -> None:
        if ordered or inside != "attention":
            after(copied)

    backend.fetch, backend.attention, backend._send = held_fetch, opening_attention, held_send
    backend._compute_after = maybe_after
