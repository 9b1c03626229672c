"""Two clocks: readings of both, and how far device times are known on the host's axis."""

from __future__ import annotations

from typing import Annotated

from akvsite.columns import Col, Row, describes
from akvsite.tables._shared import OF_PROCESS, ProcessId, RunId


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
    source: Annotated[str, Col("who took it: `shim`, `probe` or the file's word")]


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
