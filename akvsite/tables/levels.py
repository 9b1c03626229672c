"""What a capture holds, level by level: steps, requests and tokens, phases, regions, device records, calls."""

from __future__ import annotations

from typing import Annotated

from akvsite.columns import Col, Row, describes
from akvsite.tables._shared import (
    BY_PROCESS_AND_TIME,
    OF_PROCESS,
    End,
    ProcessId,
    RunId,
    Start,
    StepId,
    Thread,
)


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
