"""Akvlog files as a probe writes them: steps, phases, requests and the milestones of tokens, by their names.

log = ProbeLog()
log.step(0, 100, 900, batch=2)
log.phase("launch", 120, 300)
log.token("r1", 0, "sampled", 700, step=0)
log.write(tmp_path / "probe.akvlog")
"""

from __future__ import annotations

from pathlib import Path

import akvlogs
from akvlogs import AkvLog, pair

STEP, PHASE, REGION, LAYER, OF_REQUEST, OF_TOKEN, OF_STEP, SPAN = range(16, 24)
BY_EXCEPTION, NOT_LEFT = 1, 2
REQUEST = 3


class ProbeLog:
    """One process. Requests are named by their text; ``header`` holds fields that are to be other than usual."""

    def __init__(
        self, producer: bytes = b"akv_probe 0.1.0", *, closed: bool = True, **header: object
    ) -> None:
        self.log = AkvLog(header={"producer": producer, **header}, closed=closed, names_bytes=1 << 16)
        self._ids: dict[str, int] = {}
        self._requests: dict[str, int] = {}

    def _name(self, text: str) -> int:
        if text not in self._ids:
            self._ids[text] = len(self._ids) + 1
            self.log.add_name(text, id=self._ids[text])
        return self._ids[text]

    def _request(self, request: str | int) -> int:
        if isinstance(request, int):
            return request
        if request not in self._requests:
            self._requests[request] = 0x1000 + len(self._requests)
            offset = self.log.add_name(request, akvlogs.OBJECT_NAME)
            self.log.object(self._requests[request], offset, what=REQUEST)
        return self._requests[request]

    def mark(self, kind: int, name: str, start: int, end: int | None = None, *words: int, value: int = 0,
             thread: int = 7, flags: int = 0) -> None:  # fmt: skip
        if end is None:
            flags |= NOT_LEFT
        id = self._name(name)
        self.log.add(kind, [start, end or 0, pair(thread, value), *words], flags=flags, name=id)

    def step(self, number: int, start: int, end: int | None, *, kind: str = "decode", batch: int = -1,
             flags: int = 0) -> None:  # fmt: skip
        self.mark(STEP, kind, start, end, number, value=batch, flags=flags)

    def phase(self, name: str, start: int, end: int | None, *, flags: int = 0) -> None:
        self.mark(PHASE, name, start, end, flags=flags)

    def region(self, name: str, start: int, end: int, *, flags: int = 0) -> None:
        self.mark(REGION, name, start, end, flags=flags)

    def layer(self, layer: int, start: int, end: int) -> None:
        self.mark(LAYER, "layer", start, end, value=layer)

    def request(self, request: str | int, event: str, at: int, *, step: int = -1, tokens: int = -1) -> None:
        number = self._request(request)
        self.mark(OF_REQUEST, event, at, 0, number, step + 1, value=tokens)

    def token(self, request: str | int, place: int, milestone: str, at: int, *, step: int = -1,
              tokens: int | None = 1) -> None:  # fmt: skip
        number = self._request(request)
        said = 0 if tokens is None else tokens + 1
        self.mark(OF_TOKEN, milestone, at, 0, number, step + 1, said, value=place)

    def stamp(self, milestone: str, at: int, *, step: int) -> None:
        self.mark(OF_STEP, milestone, at, 0, step)

    def span(self, start: int, end: int, *, step: int, device: int = 0xD0, queue: str = "compute") -> None:
        self.mark(SPAN, queue, start, end, device, step + 1, 1)

    def write(self, path: Path) -> Path:
        return self.log.write(path)
