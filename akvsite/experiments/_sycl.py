"""The python of a SYCL environment, and what a process in it needs to find its runtime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from akvsite.errors import BadInput

_CONVENTION = Path(__file__).resolve().parents[2] / ".venv/sycl-2025.3/bin/python"


def find_python(environment: Mapping[str, str]) -> Path:
    """Raises ``BadInput`` where there is none."""
    found = Path(environment.get("AKVSITE_SYCL_PYTHON") or _CONVENTION)
    if not found.is_file():
        raise BadInput(found.name, "no python with SYCL: run `make test`, or set AKVSITE_SYCL_PYTHON")
    return found


def with_runtime(environment: Mapping[str, str], python: Path) -> dict[str, str]:
    """The environment with the libraries beside ``python``, and the CPU's OpenCL driver where none is asked for."""
    made = {"OCL_ICD_FILENAMES": "libintelocl.so", **environment}
    libraries = str(python.parent.parent / "lib")
    made["LD_LIBRARY_PATH"] = ":".join(filter(None, (libraries, made.get("LD_LIBRARY_PATH"))))
    return made
