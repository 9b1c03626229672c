"""Versions of what the command runs on, and environment switches that change what it does."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from akvsite.record.clean import Facts, Version, clean
from akvsite.tables import LEVELS

ASK_SECONDS = 20
PACKAGES = (
    "torch", "intel-extension-for-pytorch", "triton", "pytorch-triton-xpu", "dpctl", "dpnp", "numpy",
    "intel-sycl-rt", "intel-cmplr-lib-ur", "intel-cmplr-lib-rt", "intel-opencl-rt", "umf", "onemkl-sycl-blas",
    "oneccl", "nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12", "nvidia-cublas", "nvidia-cublas-cu12",
    "nvidia-cudnn-cu12", "nvidia-cudnn-cu13", "nvidia-nccl-cu12", "nvidia-nccl-cu13", "vllm", "sglang", "transformers",
)  # fmt: skip

_VERSION = re.compile(r"[0-9][\w.+!-]{0,60}")
_MARK = "akvsite-versions "
# Asked without importing any of them: their metadata is a file beside each.
_QUESTION = f"""
import importlib.metadata as m, json, platform
found = {{}}
for name in {PACKAGES!r}:
    try:
        found[name] = m.version(name)
    except Exception:
        pass
print({_MARK!r} + json.dumps({{"python": platform.python_version(), **found}}))
"""

#: Beginnings of names of variables that change what a runtime or an allocator does.
PREFIXES = (
    "UR_", "SYCL_", "ONEAPI_", "ZE_", "ZES_", "ZET_", "ZEX_", "NEO", "CUDA_", "CUBLAS_", "PYTORCH_", "TORCH_", "TORCHINDUCTOR_",
    "OMP_", "KMP_", "MKL_", "GOMP_", "OPENBLAS_", "OCL_", "IPEX_", "HSA_", "HIP_", "ROCR_", "AMD_", "NCCL_", "CCL_", "IGC_",
    "XPTI_", "PTI_", "DNNL_", "ONEDNN_", "TRITON_", "VLLM_", "MALLOC_", "CL_CONFIG_",
)  # fmt: skip
NAMES = frozenset({
    "LD_PRELOAD", "LD_BIND_NOW", "GLIBC_TUNABLES", "PYTHONMALLOC", "PYTHONOPTIMIZE", "PYTHONHASHSEED",
    "PYTHONDEVMODE", "EnableImplicitScaling", "OverrideDefaultFP64Settings",
})  # fmt: skip
# Where it may open something, or say where something is.
_SECRET = re.compile(
    r"TOKEN|KEY|PASS|SECRET|CREDENTIAL|AUTH|COOKIE|URL|ADDR|COMM_ID|HOSTNAME|HOSTFILE|HOST$|USER|IFNAME"
)
#: Variables by which a run is looked at, with the value that does it: such a run is not "off". ``_looked_at.sql`` knows the
#: same names of captures that were made already.
_LOOKING = {
    "UR_ENABLE_LAYERS": re.compile("TRACING", re.IGNORECASE),
    "SYCL_UR_TRACE": re.compile("[1-9-]"),
    "SYCL_PI_TRACE": re.compile("[1-9-]"),
    "XPTI_TRACE_ENABLE": re.compile(r"1|true", re.IGNORECASE),
    **dict.fromkeys(
        (
            "ZE_ENABLE_TRACING_LAYER", "ZET_ENABLE_API_TRACING_EXP", "ZET_ENABLE_PROGRAM_INSTRUMENTATION",
            "COMPUTE_PROFILE", "CUDA_PROFILE",
        ),
        re.compile("1"),
    ),
    # They name a library or a file: any value switches them on.
    **dict.fromkeys(
        (
            "CUDA_INJECTION32_PATH", "CUDA_INJECTION64_PATH", "NVTX_INJECTION32_PATH", "NVTX_INJECTION64_PATH",
            "HSA_TOOLS_LIB", "ROCP_TOOL_LIB", "ROCP_TOOL_LIBRARIES", "ROCPROFILER_LIBRARY_PATH", "OMP_TOOL_LIBRARIES",
            "INTEL_LIBITTNOTIFY64", "INTEL_JIT_PROFILER64", "NSYS_PROFILING_SESSION_ID", "LD_AUDIT", "LD_PROFILE",
        ),
        re.compile("."),
    ),
    # An outer capture of this project, whose sampler and recorders look at everything that its command begins.
    "AKV_LEVEL": re.compile("|".join(LEVELS[1:])),
}  # fmt: skip
#: What the base name of a preloaded library that looks on says, in lower case: unitrace, onetrace, Nsight's injection, roctracer.
TRACER_LIBRARIES = (
    "trace", "tracing", "prof", "inject", "cupti", "xpti", "libpti", "akv", "nsys", "nsight", "vtune", "advisor", "heaptrack", "memray",
    "kineto", "scalene", "bpf", "perfetto", "omniperf", "valgrind", "vgpreload", "likwid", "scorep", "hpctoolkit", "lttng",
    "libtau", "libpapi",
)  # fmt: skip


def switches(environment: Mapping[str, str]) -> Facts:
    """The switches that are set, values with base names alone; what may hold a secret is dropped and counted."""
    told_of = NAMES | _LOOKING.keys() - {"AKV_LEVEL"}  # the level is the capture's own
    known = {n: v for n, v in environment.items() if n in told_of or n.startswith(PREFIXES)}
    told = {n: clean(_base_names(v)) for n, v in sorted(known.items()) if not _SECRET.search(n)}
    return {**told, "dropped": len(known) - len(told) or None}


def looking(environment: Mapping[str, str]) -> list[str]:
    """Names of variables by which something looks on; a preload that does so is told with its library."""
    found = [name for name, on in _LOOKING.items() if on.search(environment.get(name, ""))]
    return found + [f"LD_PRELOAD={clean(name)}" for name in tracers(environment.get("LD_PRELOAD", ""))]


def tracers(preload: str) -> list[str]:
    """Base names of those libraries of ``LD_PRELOAD`` whose names say that they look on; an allocator's says nothing of it."""
    names = [library.rpartition("/")[2] for library in re.split(r"[:\s]+", preload)]
    return [name for name in names if any(word in name.lower() for word in TRACER_LIBRARIES)]


def packages(python: Path | None, environment: Mapping[str, str]) -> Facts:
    """Versions by the command's own python; where the command is none, nobody is asked."""
    if python is None:
        return {"asked": "nobody: the command is no python"}
    plain = {n: v for n, v in environment.items() if n != "LD_PRELOAD" and not n.startswith("AKV_")}
    try:
        done = subprocess.run(
            [python, "-c", _QUESTION], env=plain, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=ASK_SECONDS, check=False,
        )  # fmt: skip
        answer = next(line for line in reversed(done.stdout.splitlines()) if line.startswith(_MARK))
        found = json.loads(answer.removeprefix(_MARK))
    except (OSError, ValueError, StopIteration, subprocess.TimeoutExpired):
        return {"asked": "the command's python, which gave no answer"}
    return {
        "asked": "the command's python",
        **{name: Version(text) for name, text in found.items() if _VERSION.fullmatch(text)},
    }


def _base_names(value: str) -> str:
    """Lists of paths too, whatever parts them: `a=/x/y;/z/w` becomes `a=y;w`."""
    return re.sub(r"[^\s:;,=]*/(?=[^\s:;,=/]*)", "", value)
