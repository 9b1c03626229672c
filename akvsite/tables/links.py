"""What belongs together, how that is known, and how much was seen."""

from __future__ import annotations

from typing import Annotated

from akvsite.columns import Col, Row, describes
from akvsite.tables._shared import OF_PROCESS, OF_RUN, ProcessId, RunId


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
