"""Events of a Chrome trace of unitrace as rows, and what ties its calls to its device records.

An arrow (``Flow_H2D_<id>_<rank>``) follows the call that it starts from and carries the id of one device record. A call
that submits several has several: its rows and theirs then carry the first of these ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from akvsite.readers._chrome_events import NO_ARGS, Args, Chunk, Event, clean
from akvsite.readers._chrome_rows import DEVICE, Builder, Reject
from akvsite.readers._chrome_values import LEAST, whole
from akvsite.readers._redact import without_secrets
from akvsite.readers._unitrace_commands import command_of, is_call
from akvsite.reading import Rejected

_FLOW = re.compile(r"^(?P<kind>(?:CL_)?Flow_(?P<way>H2D|D2H))_(?P<id>\d{1,20})_(?P<rank>\d{1,10})$")
_HOST = re.compile(r"^(?:RANK (?P<rank>\d{1,9}) )?HOST<")
_DEVICE = re.compile(
    r"^(?:RANK \d{1,9} )?DEVICE<[^>]*>(?:\[(?P<name>[^\]]*)\] )?(?P<pci>[0-9a-f]+:[0-9a-f]+:[0-9a-f]+:[0-9a-f]+)"
    r"(?: #(?P<number>[\d.]+))?$"
)
#: The category of annotations, which name steps and layers.
_ANNOTATION = "user_annotation"
Longs = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Device:
    """What a trace says of one of the processes that it draws for devices."""

    name: str
    model: str | None


class UnitraceBuilder(Builder):
    """Also gathers, for each call, the ids of the device records that it submitted."""

    def __init__(self) -> None:
        super().__init__()
        self.devices: dict[str, Device] = {}
        self.queues: dict[tuple[str, str], str] = {}
        self.ranks: dict[str, int] = {}
        #: What the arrows say is one process's: of host processes by their pid, of devices likewise.
        self.sides: dict[str, dict[str, str]] = {"host": {}, "device": {}}
        self._calls_made = 0
        #: Of each thread, the last call and its time as the file has it.
        self._last_call: dict[tuple[str, str], tuple[int, Decimal | None]] = {}
        #: Numbers of calls, the processes they lie in, and the ids of the device records that they submitted.
        self._submitted: tuple[list[int], list[int], list[int]] = ([], [], [])

    def add(self, chunk: Chunk) -> Iterator[Rejected]:
        for event in chunk.events:
            if event.cat == "gpu_op":
                if event.args is not None:
                    event.args.correlation = event.args.id
            elif event.cat == "cpu_op":
                if event.ph == "X" and is_call(event.name):
                    self._number(event)
            elif event.cat is not None and (flow := _FLOW.match(event.cat)):
                self._arrow(event, flow)
        yield from super().add(chunk)

    def _number(self, event: Event) -> None:
        """Calls are numbered, so that what is found later on can be given to their rows."""
        number = self._calls_made
        self._calls_made += 1
        thread = (self.processes.text(event.pid), str(event.tid))
        self._last_call[thread] = (number, event.ts)
        given = None if event.args is None else whole(event.args.id)
        event.args = Args(correlation=number)
        if given is not None:
            self._submit(number, thread[0], given)

    def _submit(self, number: int, pid: str, given: int) -> None:
        numbers, owners, ids = self._submitted
        numbers.append(number)
        owners.append(self.processes.of_text(pid))
        ids.append(given)

    def _arrow(self, event: Event, flow: re.Match[str]) -> None:
        # One kind each, whatever their ids.
        event.cat = flow["kind"]
        pid = self.processes.text(event.pid)
        # An arrow to the device starts on the host, one to the host on the device.
        on_host = (event.ph == "s") == (flow["way"] == "H2D")
        self.sides["host" if on_host else "device"].setdefault(pid, flow["rank"])
        if event.ph == "s" and on_host:
            call = self._last_call.get((pid, str(event.tid)))
            given = whole(flow["id"])
            if call is not None and call[1] == event.ts and given is not None:
                self._submit(call[0], pid, given)

    # Rows.

    def _complete(self, what: str, cat: str | None, events: list[Event], reject: Reject) -> None:
        if cat == "gpu_op":
            self._commands(what, events, reject)
        elif cat == "cpu_op":
            calls = [e for e in events if is_call(e.name)]
            self._calls(what, calls, reject)
            if len(calls) < len(events):
                self._host(what, _ANNOTATION, [e for e in events if not is_call(e.name)], reject)
        else:
            super()._complete(what, cat, events, reject)

    def _commands(self, what: str, events: list[Event], reject: Reject) -> None:
        timed = self._times(events, reject)
        events = timed.events
        if not events:
            return
        commands = [command_of(name) for name in self._names(events)]
        self._hold(
            "level3_device",
            len(events),
            process=pa.repeat(pa.scalar(DEVICE, pa.int64()), len(events)),
            start_ns=timed.starts,
            end_ns=timed.ends,
            device=self._text_of([e.pid for e in events], "unknown"),
            queue=self._text_of([e.tid for e in events], "unknown"),
            correlation=self._whole([(e.args or NO_ARGS).correlation for e in events]),
            **{
                word: [getattr(command, word) for command in commands]
                for word in ("name", "kind", "direction", "bytes", "grid", "block")
            },
        )
        self.count(what, "level3_device", len(events))

    def _metadata(self, events: list[Event]) -> None:
        """Names of processes and threads, without the name of the host that stands in each."""
        for event in events:
            value = None if event.args is None else event.args.name
            if not isinstance(value, str):
                continue
            text, pid = clean(value, self._sentinel), self.processes.text(event.pid)
            if event.name == "thread_name":
                self.queues[pid, str(event.tid)] = without_secrets(text[:200])
            elif event.name == "process_name" and (found := _DEVICE.match(text)):
                model = found["name"] and without_secrets(found["name"][:200])
                self.devices[pid] = Device(found["number"] or found["pci"], model)
            elif event.name == "process_name" and (found := _HOST.match(text)) and found["rank"]:
                self.ranks[pid] = int(found["rank"])

    # What all of the file says together.

    def first_ids(self) -> tuple[Longs, dict[int, tuple[Longs, Longs]]]:
        """The id for each call by its number (n,), ``LEAST`` for none; and by process ids that give way to another."""
        numbers, owners, ids = (np.array(values, np.int64) for values in self._submitted)
        first = np.full(self._calls_made + 1, LEAST, np.int64)
        # The last one written stays: so the first of each call is written last.
        first[numbers[::-1]] = ids[::-1]
        instead: dict[int, tuple[Longs, Longs]] = {}
        heads = first[numbers]
        other = heads != ids
        for owner in np.unique(owners[other]).tolist():
            mine = other & (owners == owner)
            order = np.argsort(ids[mine], kind="stable")
            instead[owner] = (ids[mine][order], heads[mine][order])
        return first, instead
