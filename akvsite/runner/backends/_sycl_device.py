"""A SYCL device and its two queues, through dpctl: what has to be there, and trying again where it is not yet."""

from __future__ import annotations

import os
import platform
import sys
import time
import warnings
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from akvsite.errors import BadInput

_FLAG = "--backend sycl"
#: On a loaded machine the OpenCL runtime now and then makes no CPU device; a moment later it does.
TRIES = 10
_PAUSE_S = 0.3
#: Variables of the OpenCL loader: the first names drivers, by file.
_DRIVERS = "OCL_ICD_FILENAMES"
_PACKAGES = ("dpctl", "intel-sycl-rt", "intel-opencl-rt")


@dataclass
class Device:
    """Queues of one context. ``copy`` is in order; ``compute`` is as ``dpctl.tensor`` makes its own: ordered by events."""

    compute: Any
    copy: Any
    facts: dict[str, str]


def modules() -> tuple[Any, Any, Any]:
    """dpctl, dpctl.tensor and dpctl.memory. Raises ``BadInput`` where they are missing or cannot be loaded."""
    _find_driver()
    try:
        # The module says on import that it moves to another package in its next release.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import dpctl
            import dpctl.memory
            import dpctl.tensor
            import dpctl.utils
    except ImportError as error:
        why = str(error).splitlines()[0]
        raise BadInput(
            _FLAG, f"needs dpctl 0.21 with dpctl.tensor and the SYCL runtime from PyPI: {why}"
        ) from error
    return dpctl, dpctl.tensor, dpctl.memory


def open_device(dpctl: Any, selector: str, profiling: bool) -> Device:
    """The device that ``selector`` names (dpctl's filter, such as ``cpu`` or ``level_zero:gpu:0``; empty: the default)."""
    properties = ["enable_profiling"] if profiling else []
    for attempt in range(TRIES):
        try:
            compute = dpctl.SyclQueue(*([selector] if selector else []), property=properties)
            copy = dpctl.SyclQueue(
                compute.sycl_context, compute.sycl_device, property=[*properties, "in_order"]
            )
        except Exception as error:  # dpctl has an exception of its own for each thing that it makes
            if attempt + 1 == TRIES:
                raise BadInput(_FLAG, _missing(selector, error)) from error
            time.sleep(_PAUSE_S)
        else:
            return Device(compute, copy, _facts(compute, profiling, attempt))
    raise AssertionError("every attempt returns or raises")


def _find_driver() -> None:
    """The OpenCL driver for CPUs that pip installs beside the runtime is found by its name alone: name it.

    Left as it is where the variable is set, and where the runtime is not in this Python's environment.
    """
    driver = Path(sys.prefix) / "lib" / "libintelocl.so"
    if driver.is_file():
        os.environ.setdefault(_DRIVERS, str(driver))


def _missing(selector: str, error: Exception) -> str:
    why = str(error).splitlines()[0] if str(error) else type(error).__name__
    hint = "" if os.environ.get(_DRIVERS) else f"; for a CPU, let {_DRIVERS} name libintelocl.so"
    return f"no device {selector or 'at all'} after {TRIES} attempts: {why}{hint}"


def _facts(queue: Any, profiling: bool, again: int) -> dict[str, str]:
    device = queue.sycl_device
    found = {
        "device": device.name,
        "device.kind": device.device_type.name,
        "device.runtime": device.backend.name,
        "device.driver": device.driver_version,
        "device.compute units": str(device.max_compute_units),
        "queues.profiling": "on" if profiling else "off",
        "python": platform.python_version(),
    }
    if again:
        found["device.attempts before it was made"] = str(again)
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
