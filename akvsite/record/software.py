"""Versions of what the command runs on, and environment switches that change what it does."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from akvsite.record.clean import Facts, Version, clean

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
#: Variables that make a runtime write down its own calls: such a run is not "off".
_LOOKING = {
    "UR_ENABLE_LAYERS": re.compile("TRACING", re.IGNORECASE),
    "SYCL_UR_TRACE": re.compile("[1-9-]"),
    "SYCL_PI_TRACE": re.compile("[1-9-]"),
    "XPTI_TRACE_ENABLE": re.compile(r"1|true", re.IGNORECASE),
    "ZE_ENABLE_TRACING_LAYER": re.compile("1"),
    "ZET_ENABLE_PROGRAM_INSTRUMENTATION": re.compile("1"),
    "CUDA_INJECTION64_PATH": re.compile("."),
    "NVTX_INJECTION64_PATH": re.compile("."),
    "HSA_TOOLS_LIB": re.compile("."),
}


def switches(environment: Mapping[str, str]) -> Facts:
    """The switches that are set, values with base names alone; what may hold a secret is dropped and counted."""
    known = {n: v for n, v in environment.items() if n in NAMES or n.startswith(PREFIXES)}
    told = {n: clean(_base_names(v)) for n, v in sorted(known.items()) if not _SECRET.search(n)}
    return {**told, "dropped": len(known) - len(told) or None}


def looking(environment: Mapping[str, str]) -> list[str]:
    """Names of variables by which a vendor's tracer looks on."""
    return [name for name, on in _LOOKING.items() if on.search(environment.get(name, ""))]


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
