"""What a row is: one dataclass, one table.

The SQLite schema, the Arrow schemas and the Schema page are all made from these classes. Times are integer
nanoseconds on the capture's own axis; ids are 64-bit and kept as the two's complement of their unsigned value
(SQLite has no unsigned integers), so ``2**64 - 1`` is stored as ``-1``. NULL means unknown, and is never 0.
"""

from __future__ import annotations

from typing import Annotated

from akvsite.columns import Col, Row, Table, described, describes

LEVELS: tuple[str, ...] = ("off", "runner", "host", "device", "edge")

#: The word of ``level3_device.clock`` for times of the device's own clock.
DEVICE_CLOCK = "device"
#: What stands for a device where a file does not say of which one its records are.
NO_DEVICE = "not known"

OF_RUN = "FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE"
# One index serves the cascade, the insert check and every question about one run.
OF_PROCESS = "FOREIGN KEY (run_id, process_id) REFERENCES process (run_id, id) ON DELETE CASCADE"
BY_PROCESS_AND_TIME = "run_id, process_id, start_ns"


RunId = Annotated[int, Col("the run this row belongs to")]
ProcessId = Annotated[int, Col("the process that made the row, see `process`")]
Start = Annotated[int | None, Col("when it began, on the capture's own axis", "ns")]
End = Annotated[int | None, Col("when it ended; NULL where the capture has no end for it", "ns")]
Thread = Annotated[str | None, Col("thread id, as text: ids are strings or null in real files")]
StepId = Annotated[
    int | None, Col("the step in which it began on the host, by time; NULL outside every step")
]


@describes
class Host(Row):
    """A machine, under the name the capture gives it (never its network name)."""

    __unique__ = ("name",)
    id: Annotated[int, Col("row id")]
    name: Annotated[str, Col("public name of the host")]
    role: Annotated[str, Col("`dev` (busy on purpose), `proof` (quiet, capture off) or `unknown`")]


@describes
class Run(Row):
    """One capture of one workload on one host."""

    __unique__ = ("name",)
    __foreign__ = ("FOREIGN KEY (host_id) REFERENCES host (id)",)
    __indexes__ = ("host_id",)
    id: Annotated[int, Col("row id")]
    name: Annotated[str, Col("name of the run, unique in the store")]
    level: Annotated[int, Col("capture level: 0 off, 1 runner, 2 host, 3 device, 4 edge")]
    host_id: Annotated[int | None, Col("the host it ran on; NULL where the capture does not say")]
    engine: Annotated[str | None, Col("the engine that ran, in the words of the capture")]
    timing: Annotated[str, Col("timing events on the device queues: `on`, `off`, `asis` or `unknown`")]
    warm_up_steps: Annotated[
        int | None, Col("steps to cut, declared in the capture; NULL where none are declared")
    ]
    started: Annotated[str | None, Col("date and time of the capture, ISO 8601, where it is known")]
    clock: Annotated[
        str,
        Col(
            "how device times reached the host's axis: `host only`, `bounded` (see `clock_bound`), `vendor, unproven`,"
            " `inconsistent` and `device clock, not converted` (they did not: no host time may be compared with them),"
            " `unknown`"
        ),
    ]
    note: Annotated[str | None, Col("what the maker of the capture says about it")]
    declared: Annotated[
        int, Col("1 where a capture.toml declares the run, 0 where the facts come from the file alone")
    ]


@describes
class Exclusion(Row):
    """A run that is left out of pages and comparisons, with the date and the reason. Nothing is deleted."""

    __key__ = "run_name"
    run_name: Annotated[str, Col("name of the run; stays when the run is ingested again")]
    date: Annotated[str, Col("date of the note, ISO 8601")]
    because: Annotated[str, Col("the reason")]


@describes
class RunFact(Row):
    """One fact about a run: of its host, its contract, its software, its load, its device or its capture."""

    __key__ = "run_id, part, key, ingest_id"
    __foreign__ = (OF_RUN, "FOREIGN KEY (ingest_id) REFERENCES ingest (id) ON DELETE CASCADE")
    __indexes__ = ("ingest_id",)
    run_id: RunId
    ingest_id: Annotated[int, Col("the file that states it")]
    part: Annotated[str, Col("`host`, `contract`, `software`, `load`, `device` or `capture`")]
    key: Annotated[str, Col("name of the fact; parts of a nested name are joined by dots")]
    value: Annotated[str, Col("the fact, as text")]


@describes
class Ingest(Row):
    """One file that was read into the store, by content and reader version."""

    __foreign__ = (OF_RUN,)
    __unique__ = ("run_id, path",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    path: Annotated[str, Col("name of the file inside its capture (no folders of the machine)")]
    format: Annotated[str, Col("name of the reader")]
    reader_version: Annotated[int, Col("version of the reader; a later version reads the file again")]
    sha256: Annotated[str, Col("hash of the file's bytes")]
    bytes: Annotated[int, Col("size of the file", "byte")]
    truncated: Annotated[int, Col("1 where the file was cut short: what came before the cut is stored")]
    last_ns: Annotated[int | None, Col("the last time seen in the file", "ns")]


@describes
class IngestCount(Row):
    """What became of every record of a file: the table it went to, or why it is not a row."""

    __key__ = "ingest_id, what, fate"
    __foreign__ = ("FOREIGN KEY (ingest_id) REFERENCES ingest (id) ON DELETE CASCADE",)
    ingest_id: Annotated[int, Col("the file")]
    what: Annotated[str, Col("kind of record, in the words of its format")]
    fate: Annotated[str, Col("the table, `quarantine`, or the reason why it is only counted")]
    count: Annotated[int, Col("records", "record")]


@describes
class Quarantine(Row):
    """What a reader could not use, kept with the reason."""

    __foreign__ = ("FOREIGN KEY (ingest_id) REFERENCES ingest (id) ON DELETE CASCADE",)
    __indexes__ = ("ingest_id",)
    id: Annotated[int, Col("row id")]
    ingest_id: Annotated[int, Col("the file")]
    reason: Annotated[str, Col("why it was not used")]
    place: Annotated[str, Col("where it stood in the file")]
    raw: Annotated[
        str,
        Col(
            "the record as it was, bytes that are not UTF-8 escaped as \\xNN; `[redacted]` where it opened something or"
            " named a host or a person, which the capture itself keeps"
        ),
    ]


@describes
class Process(Row):
    """A process of a capture. Pids are text: strings, null and -1 occur, and they repeat across ranks."""

    __foreign__ = (OF_RUN, "FOREIGN KEY (ingest_id) REFERENCES ingest (id) ON DELETE CASCADE")
    __unique__ = ("run_id, id",)
    __indexes__ = ("ingest_id",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    ingest_id: Annotated[int, Col("the file it was seen in")]
    pid: Annotated[str, Col("process id as the file has it")]
    rank: Annotated[int | None, Col("rank of a distributed job, where the file or the capture says so")]
    name: Annotated[str | None, Col("name of the process")]


@describes
class Step(Row):
    """One decode iteration of the engine (or of a benchmark loop)."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = (BY_PROCESS_AND_TIME,)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    name: Annotated[str, Col("name as captured, such as `decode.step.7`")]
    start_ns: Start
    end_ns: End
    number: Annotated[int | None, Col("number of the step in its run, from 0")]
    kind: Annotated[str, Col("`decode`, `prefill`, `mixed`, `profiler` or `other`")]
    batch: Annotated[int | None, Col("requests in the batch", "request")]
    source: Annotated[
        str, Col("who drew the boundaries: `engine annotation`, `profiler step`, `engine counter`, `client`")
    ]
    warm_up: Annotated[
        int, Col("1 where the capture declares the step as warm-up: it is cut from every number")
    ]
    nested: Annotated[
        int | None,
        Col(
            "1 where it lies inside another step of the same source: one iteration drawn twice. Set by the store"
        ),
    ]


@describes
class Request(Row):
    """One request, as its client saw it."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = ("run_id, process_id, start_ns",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    name: Annotated[str, Col("the request's own id, or its number in the file")]
    start_ns: Start
    end_ns: End
    zero: Annotated[
        str, Col("what the times count from: `capture` or, where starts are unknown, `request start`")
    ]
    prompt_tokens: Annotated[int | None, Col("tokens in the prompt", "token")]
    output_tokens: Annotated[int | None, Col("tokens generated", "token")]
    ttft_ns: Annotated[int | None, Col("time to first token; NULL where none came", "ns")]
    ok: Annotated[int | None, Col("1 completed, 0 failed, NULL where the file does not say")]
    error: Annotated[str | None, Col("first line of the error text")]


@describes
class Token(Row):
    """One generated token's milestones; NULL where a milestone was not captured."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = ("run_id, process_id, request, number",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    request: Annotated[str, Col("name of its request")]
    number: Annotated[int, Col("place in the request's output, from 0")]
    tokens: Annotated[
        int | None, Col("tokens in this piece; NULL where a stream chunk may hold several", "token")
    ]
    step: Annotated[int | None, Col("number of the step that made it")]
    arrived_ns: Annotated[int | None, Col("its request reached the engine", "ns")]
    scheduled_ns: Annotated[int | None, Col("its step was scheduled", "ns")]
    launched_ns: Annotated[int | None, Col("its step was launched", "ns")]
    device_first_ns: Annotated[int | None, Col("first device milestone", "ns")]
    device_last_ns: Annotated[int | None, Col("last device milestone", "ns")]
    sampled_ns: Annotated[int | None, Col("sampled", "ns")]
    copied_ns: Annotated[int | None, Col("device-to-host copy done", "ns")]
    detokenised_ns: Annotated[int | None, Col("detokenised", "ns")]
    sent_ns: Annotated[int | None, Col("sent to the client", "ns")]
    client_ns: Annotated[int | None, Col("seen by the client", "ns")]
    device_bound_ns: Annotated[
        int | None,
        Col("half-width of the clock's bound of its device milestones; NULL where none is known", "ns"),
    ]


@describes
class Level1Runner(Row):
    """Level 1: phases of the runner: schedule, prepare, launch, wait, sample, detokenise, send."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = (BY_PROCESS_AND_TIME,)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    name: Annotated[str, Col("name of the phase")]
    start_ns: Start
    end_ns: End
    thread: Thread
    step_id: StepId


@describes
class Level2Host(Row):
    """Level 2: regions of a step on the host, layer windows, operators and python functions."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = (BY_PROCESS_AND_TIME, "run_id, step_id")
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    name: Annotated[str, Col("name of the region, operator or function")]
    start_ns: Start
    end_ns: End
    thread: Thread
    category: Annotated[
        str,
        Col("`region`, `layer`, `operator`, `annotation`, `python function`, `overhead` or the file's word"),
    ]
    layer: Annotated[int | None, Col("number of the transformer layer of a layer window")]
    external_id: Annotated[int | None, Col("operator id that calls and intervals carry", unsigned=True)]
    step_id: StepId


@describes
class Level3Device(Row):
    """Level 3: kernels, copies and fills on each device queue."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = (BY_PROCESS_AND_TIME,)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    name: Annotated[str, Col("name of the kernel, or the kind of copy")]
    start_ns: Start
    end_ns: End
    kind: Annotated[
        str,
        Col(
            "`kernel`, `copy`, `fill`, `communication`, `graph replay` (a whole one in one record), `wait` or `other`"
        ),
    ]
    device: Annotated[str, Col("the device, as the file numbers it")]
    queue: Annotated[str, Col("stream or queue on that device")]
    correlation: Annotated[int | None, Col("id that its runtime call carries too", unsigned=True)]
    external_id: Annotated[int | None, Col("id of the operator it was launched under", unsigned=True)]
    bytes: Annotated[int | None, Col("bytes moved or filled", "byte")]
    direction: Annotated[str | None, Col("`HtoD`, `DtoH`, `DtoD`, `PtoP`, `HtoH` for copies")]
    graph: Annotated[int | None, Col("graph that replayed it", unsigned=True)]
    graph_node: Annotated[int | None, Col("its node in the graph", unsigned=True)]
    grid: Annotated[str | None, Col("blocks or groups, such as `132x1x1`")]
    block: Annotated[str | None, Col("threads a block, such as `128x1x1`")]
    registers: Annotated[int | None, Col("registers a thread")]
    shared_bytes: Annotated[int | None, Col("shared (local) memory a block", "byte")]
    appended_ns: Annotated[int | None, Col("when it was appended to its command list, or queued", "ns")]
    submitted_ns: Annotated[int | None, Col("when it was submitted", "ns")]
    call_index: Annotated[
        int | None, Col("`call_index` of the call that it belongs to, where the file says it", unsigned=True)
    ]
    clock: Annotated[
        str | None,
        Col(
            "`device` where its times are those of the device's own clock and may be compared with each other alone;"
            " NULL where they are on the capture's axis"
        ),
    ]


@describes
class Level4Edge(Row):
    """Level 4: runtime calls, from the vendor's tracer (`vendor`) or from the shim (`shim`)."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = (BY_PROCESS_AND_TIME,)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    name: Annotated[str, Col("name of the call")]
    start_ns: Start
    end_ns: End
    thread: Thread
    source: Annotated[str, Col("`vendor` or `shim`")]
    kind: Annotated[
        str, Col("`launch`, `copy`, `fill`, `graph replay`, `wait` or `other`, told from the name")
    ]
    correlation: Annotated[int | None, Col("id that its device records carry too", unsigned=True)]
    external_id: Annotated[int | None, Col("id of the operator it was made under", unsigned=True)]
    queue: Annotated[str | None, Col("stream or queue handle")]
    event: Annotated[int | None, Col("event handle that it returned", unsigned=True)]
    bytes: Annotated[int | None, Col("bytes asked for", "byte")]
    result: Annotated[int | None, Col("result code")]
    object: Annotated[
        int | None,
        Col("handle or address that it made, took or ran: a kernel, a destination", unsigned=True),
    ]
    object_name: Annotated[str | None, Col("name of the kernel that it ran, where the file names it")]
    blocking: Annotated[int | None, Col("1 where the caller asked it to block")]
    nested: Annotated[int | None, Col("1 inside another recorded call of its thread")]
    event_asked: Annotated[int | None, Col("1 where the recorder asked for the event and the caller did not")]
    open: Annotated[int | None, Col("1 where it was entered and never returned")]
    call_index: Annotated[int | None, Col("number of its record in its file", unsigned=True)]
    step_id: StepId


@describes
class EdgeWait(Row):
    """An event that a call waited for, and the call that made that event."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = ("run_id, process_id", "call_id", "maker_id")
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    call_id: Annotated[
        int, Col("the call that waited, row of `level4_edge`; in a file its `call_index`", unsigned=True)
    ]
    event: Annotated[int, Col("handle of the event", unsigned=True)]
    maker_id: Annotated[
        int | None,
        Col(
            "the call that handed the event out, by the lifetime of the handle; NULL where it is not known",
            unsigned=True,
        ),
    ]


@describes
class ClockSample(Row):
    """A reading of a device's clock between two of the host's: what a clock model is made from."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = ("run_id, process_id, device",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    device: Annotated[str, Col("the device, as the file names it")]
    host_before_ns: Annotated[int | None, Col("the host's clock before, on the capture's own axis", "ns")]
    host_after_ns: Annotated[int | None, Col("the host's clock after, on the capture's own axis", "ns")]
    device_ns: Annotated[int | None, Col("the device's clock, as the runtime converts it", "ns")]
    host_reported_ns: Annotated[
        int | None, Col("the host's time that the runtime gave with it, on an axis of its own", "ns")
    ]
    resolution_ns: Annotated[int | None, Col("tick of the device's timer, as the runtime gives it", "ns")]
    source: Annotated[str, Col("who took it, such as `shim`")]


@describes
class ClockBound(Row):
    """How far the times of one device, in one process, are known on the host's axis, and what that rests on."""

    __foreign__ = (OF_PROCESS,)
    __unique__ = ("run_id, process_id, device, made_by",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    device: Annotated[str, Col("the device, as the file names it")]
    made_by: Annotated[
        str,
        Col(
            "`constraints`: a band made here from readings of both clocks and from what cannot be before or after"
            " what; `vendor`: times that the file has on the host's axis already"
        ),
    ]
    state: Annotated[
        str,
        Col(
            "`bounded`; `inconsistent`: no clock meets all constraints, and no time is converted; `unbounded`: too"
            " few constraints; `unproven`: the vendor's conversion, whose bound is not known"
        ),
    ]
    because: Annotated[str | None, Col("why it is not bounded")]
    readings: Annotated[int, Col("readings of both clocks", "reading")]
    starts: Annotated[
        int, Col("device records whose submission is on record: they began no earlier", "record")
    ]
    ends: Annotated[
        int, Col("device records whose end a host call waited for: they ended no later", "record")
    ]
    tick_ns: Annotated[int | None, Col("tick of the device's times; NULL where it is not known", "ns")]
    tick_by: Annotated[
        str | None,
        Col(
            "how the tick is known: `runtime`, which states it, or `lengths`: of the records, whole multiples of it"
        ),
    ]
    slope_ppm: Annotated[float, Col("assumed: most that the two rates differ, parts in a million")]
    wander_ppm: Annotated[
        float, Col("assumed: most that the rate strays from its own mean, parts in a million")
    ]
    least_wander_ppm: Annotated[
        float | None, Col("the least wander that the constraints allow; above the assumed one: inconsistent")
    ]
    half_median_ns: Annotated[int | None, Col("half-width of the band, median over device records", "ns")]
    half_widest_ns: Annotated[int | None, Col("half-width of the band, the widest of a device record", "ns")]
    causal_half_median_ns: Annotated[
        int | None,
        Col("the same without the readings, from causality alone; NULL where it has no bound", "ns"),
    ]
    causal_half_widest_ns: Annotated[
        int | None, Col("the widest from causality alone; NULL where it has no bound", "ns")
    ]
    blind_low_ns: Annotated[
        int | None,
        Col(
            "the least bias (host time as made, less the true one) of the readings, or of the vendor's times, that"
            " causality would not show were it the same throughout; NULL where it has no bound",
            "ns",
        ),
    ]
    blind_high_ns: Annotated[int | None, Col("the greatest such bias; NULL where it has no bound", "ns")]
    outside: Annotated[
        int | None,
        Col("times of records before the first reading or after the last one; NULL without readings", "time"),
    ]
    outside_most_ns: Annotated[int | None, Col("by how much, at most", "ns")]
    early: Annotated[
        int | None,
        Col(
            "device records that begin before the call that submitted them, on the host's axis; NULL where they are not"
            " on it",
            "record",
        ),
    ]
    early_most_ns: Annotated[int | None, Col("by how much, at most", "ns")]
    at_submission: Annotated[
        int,
        Col(
            "device records that begin exactly when they were submitted: some vendors move an earlier start there",
            "record",
        ),
    ]
    submissions: Annotated[int, Col("device records whose time of submission is on record", "record")]


@describes
class ClockKnot(Row):
    """The band between two clocks where it is widest, stretch by stretch of the device's time, for a drawing."""

    __key__ = "bound_id, device_ns"
    __foreign__ = ("FOREIGN KEY (bound_id) REFERENCES clock_bound (id) ON DELETE CASCADE",)
    bound_id: Annotated[int, Col("row of `clock_bound`")]
    device_ns: Annotated[int, Col("time of the device's clock", "ns")]
    low_ns: Annotated[int, Col("least that the host's clock was ahead of it", "ns")]
    high_ns: Annotated[int, Col("most that the host's clock was ahead of it", "ns")]


@describes
class DeviceOnHost(Row):
    """Where a device record with a time of the device's own clock lies on the host's axis: middle and half-width."""

    __key__ = "interval_id"
    __foreign__ = ("FOREIGN KEY (interval_id) REFERENCES level3_device (id) ON DELETE CASCADE",)
    interval_id: Annotated[int, Col("row of `level3_device`")]
    start_ns: Annotated[
        int | None, Col("when it began, on the capture's own axis: the middle of what is possible", "ns")
    ]
    start_bound_ns: Annotated[int | None, Col("half-width of what is possible", "ns")]
    end_ns: Annotated[int | None, Col("when it ended, likewise", "ns")]
    end_bound_ns: Annotated[int | None, Col("half-width of what is possible", "ns")]


@describes
class MemoryEvent(Row):
    """One allocation or release as an allocator reported it."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = ("run_id, process_id, at_ns",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    at_ns: Annotated[int | None, Col("when", "ns")]
    device_type: Annotated[int | None, Col("torch's device type number (0 CPU, 1 CUDA, 12 XPU)")]
    device: Annotated[int | None, Col("device number; -1 for the host")]
    address: Annotated[int | None, Col("address of the block", unsigned=True)]
    bytes: Annotated[int | None, Col("size; negative for a release", "byte")]
    allocated: Annotated[int | None, Col("total allocated after it", "byte")]
    reserved: Annotated[int | None, Col("total reserved after it", "byte")]


@describes
class MemorySample(Row):
    """Memory of one process of a command at one moment, as the kernel shows it."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = ("run_id, process_id, at_ns",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    at_ns: Annotated[int, Col("when, on CLOCK_MONOTONIC", "ns")]
    resident_bytes: Annotated[int, Col("resident memory", "byte")]
    anonymous_bytes: Annotated[
        int | None, Col("of that, memory that no file stands behind: heap and stacks", "byte")
    ]


@describes
class Link(Row):
    """A runtime call and a device interval that belong together, and how that is known. An association, no more."""

    __key__ = "call_id, interval_id"
    __foreign__ = (OF_PROCESS,)
    __indexes__ = ("interval_id", "run_id, process_id")
    run_id: RunId
    process_id: ProcessId
    call_id: Annotated[int, Col("row of `level4_edge`")]
    interval_id: Annotated[int, Col("row of `level3_device`")]
    made_by: Annotated[str, Col("`correlation id`, `event handle`, `queue order` or `time window`")]


@describes
class SameCall(Row):
    """A call that the shim and the vendor's tracer both recorded. An association, no more."""

    __key__ = "shim_id"
    __foreign__ = (OF_RUN,)
    __unique__ = ("vendor_id",)
    __indexes__ = ("run_id",)
    run_id: RunId
    shim_id: Annotated[int, Col("the shim's row of `level4_edge`")]
    vendor_id: Annotated[int, Col("the vendor's row of `level4_edge`")]
    made_by: Annotated[str, Col("`order in the thread`: same name, same order, one inside the other")]


@describes
class Seen(Row):
    """How many records are present of those expected, by kind and direction."""

    __key__ = "run_id, process_id, direction, kind"
    __foreign__ = (OF_PROCESS,)
    run_id: RunId
    process_id: ProcessId
    direction: Annotated[str, Col("`calls with device records` or `device records with a call`")]
    kind: Annotated[str, Col("`kernel`, `copy`, `fill`, `graph replay`, ...")]
    seen: Annotated[int, Col("records present", "record")]
    expected: Annotated[int, Col("records expected", "record")]


@describes
class Trial(Row):
    """One timed repetition of one arm of an experiment, from the wall clock."""

    __foreign__ = (OF_PROCESS,)
    __indexes__ = ("run_id, process_id, repeat",)
    id: Annotated[int, Col("row id")]
    run_id: RunId
    process_id: ProcessId
    arm: Annotated[str, Col("what was timed: `copy`, `compute`, `both`, ...")]
    treatment: Annotated[str, Col("how the arm was run, such as `timing on`")]
    repeat: Annotated[int, Col("number of the repeat, in the order in which they were run")]
    number: Annotated[int, Col("place inside the repeat")]
    duration_ns: Annotated[int, Col("wall-clock time", "ns")]


@describes
class Comparison(Row):
    """Two sets of runs that are shown side by side."""

    __key__ = "name"
    name: Annotated[str, Col("name of the comparison")]
    title: Annotated[str, Col("the question it answers")]
    design: Annotated[str, Col("`ABBA pairs`, `unpaired` or `two runs`")]
    note: Annotated[str | None, Col("what its maker says about it")]


@describes
class ComparisonRun(Row):
    """A run on one side of a comparison."""

    __key__ = "comparison, side, place"
    __foreign__ = ("FOREIGN KEY (comparison) REFERENCES comparison (name) ON DELETE CASCADE",)
    comparison: Annotated[str, Col("name of the comparison")]
    side: Annotated[str, Col("`A` or `B`")]
    label: Annotated[str, Col("what the side is called")]
    place: Annotated[int, Col("place on its side, from 0; in ABBA pairs the pair")]
    run_name: Annotated[str, Col("name of the run")]


@describes
class History(Row):
    """Archived runs of one host and contract, named by a person: their spread stands for that between runs."""

    __key__ = "name"
    name: Annotated[str, Col("name of the history")]
    note: Annotated[str | None, Col("what its maker says about it")]


@describes
class HistoryRun(Row):
    """A run of a history; a run is in one at most."""

    __key__ = "run_name"
    __foreign__ = ("FOREIGN KEY (history) REFERENCES history (name) ON DELETE CASCADE",)
    __indexes__ = ("history",)
    run_name: Annotated[str, Col("name of the run")]
    history: Annotated[str, Col("name of the history")]
    place: Annotated[int, Col("place in it, from 0")]


@describes
class Claim(Row):
    """A falsifiable statement with the runs it stands on."""

    __key__ = "claim"
    claim: Annotated[str, Col("id of the claim")]
    date: Annotated[str, Col("date, ISO 8601")]
    state: Annotated[str, Col("`open`, `supported` or `retracted`")]
    scope: Annotated[str, Col("evidence scope: application, timeline, kernel, source or instruction")]
    statement: Annotated[str, Col("the statement")]
    body: Annotated[str, Col("its text, Markdown")]


@describes
class ClaimRun(Row):
    """A run or comparison that a claim cites."""

    __key__ = "claim, kind, name"
    claim: Annotated[str, Col("id of the claim")]
    kind: Annotated[str, Col("`run`, `control` or `comparison`")]
    name: Annotated[str, Col("name of the run or comparison")]


@describes
class Retraction(Row):
    """A claim withdrawn in writing."""

    __key__ = "retraction"
    retraction: Annotated[str, Col("id of the retraction")]
    date: Annotated[str, Col("date, ISO 8601")]
    claim: Annotated[str, Col("the claim it withdraws")]
    control: Annotated[str | None, Col("the run that showed it")]
    reason: Annotated[str, Col("why")]
    body: Annotated[str, Col("its text, Markdown")]


TABLES: dict[str, Table] = {t.name: t for t in map(described, Row.__subclasses__())}

#: Tables that a capture may fill, in the order in which a reader's rows may arrive.
CAPTURED: tuple[str, ...] = (
    "step", "request", "token", "level1_runner", "level2_host", "level3_device", "level4_edge", "edge_wait",
    "clock_sample", "memory_event", "memory_sample", "trial",
)  # fmt: skip


def signed64(value: int) -> int:
    """Two's complement of an unsigned 64-bit value; a value already in the signed range is left as it is.

    >>> signed64(2**64 - 1), signed64(2**32 + 5), signed64(-1)
    (-1, 4294967301, -1)
    """
    if -(2**63) <= value < 2**63:
        return value
    if 0 <= value < 2**64:
        return value - 2**64
    raise OverflowError(f"{value} does not fit in 64 bits")
