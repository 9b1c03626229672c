"""Facts of the host: what it is, and how busy it is at a moment."""

from __future__ import annotations

import os
import platform
import re
import statistics
import time
from pathlib import Path

from akvsite.record.clean import Facts

_CPUS = Path("/sys/devices/system/cpu")


def read(path: Path | str) -> str | None:
    """The text of a small file of the kernel; None where there is none to be had."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def about() -> Facts:
    """What does not change while a command runs."""
    cpuinfo = read("/proc/cpuinfo") or ""
    return {
        "cpu": _field(cpuinfo, "model name") or platform.machine(),
        "cpus": os.cpu_count(),
        "cpus_allowed": len(os.sched_getaffinity(0)),
        "memory_bytes": _memory().get("MemTotal"),
        "virtual": "yes" if re.search(r"^flags\b.*\bhypervisor\b", cpuinfo, re.MULTILINE) else "not stated",
        "kernel": platform.release(),
        "os": _os_name(),
        "libc": " ".join(platform.libc_ver()),
        "transparent_huge_pages": _chosen(read("/sys/kernel/mm/transparent_hugepage/enabled")),
        "turbo": _turbo(),
    }


def load() -> Facts:
    """How busy the host is now. Clocks are in MHz over all cores."""
    memory = _memory()
    averages = os.getloadavg()
    swap = memory.get("SwapTotal")
    return {
        "load_1_min": round(averages[0], 2),
        "load_5_min": round(averages[1], 2),
        "load_15_min": round(averages[2], 2),
        "running": _running(),
        "memory_available_bytes": memory.get("MemAvailable"),
        "swap_used_bytes": None if swap is None else swap - memory.get("SwapFree", 0),
        "governor": governor(),
        "clock_mhz": _clocks(),
    }


def load_per_core() -> float:
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def busy_per_core(seconds: float) -> float:
    """The part of the processors' time, from 0 to 1, that anybody used over the next ``seconds``, neighbours included."""
    idle, total = _processor_ticks()
    time.sleep(seconds)
    idle_then, total_then = _processor_ticks()
    return 1 - (idle_then - idle) / max(1, total_then - total)


def governor() -> str | None:
    """The governors of all cores; None where the kernel shows none, as in most virtual machines."""
    found = {read(path) for path in _CPUS.glob("cpu[0-9]*/cpufreq/scaling_governor")} - {None}
    return ", ".join(sorted(name for name in found if name)) or None


def _processor_ticks() -> tuple[int, int]:
    """Ticks of all processors since the start: idle, waiting for a disk included, and in all (proc(5), ``/proc/stat``)."""
    fields = (read("/proc/stat") or "").partition("\n")[0].split()[1:9]
    ticks = [int(field) for field in fields] or [0] * 8
    return ticks[3] + ticks[4], sum(ticks)


def _clocks() -> str | None:
    clocks = [int(k) / 1000 for path in _CPUS.glob("cpu[0-9]*/cpufreq/scaling_cur_freq") if (k := read(path))]
    if not clocks:
        said = re.findall(r"^cpu MHz\s*:\s*([\d.]+)", read("/proc/cpuinfo") or "", re.MULTILINE)
        clocks = [float(mhz) for mhz in said]
    if not clocks:
        return None
    return f"least {min(clocks):.0f}, median {statistics.median(clocks):.0f}, most {max(clocks):.0f}"


def _running() -> int | None:
    """Threads that are running or ready, without this one."""
    found = re.search(r" (\d+)/\d+ ", read("/proc/loadavg") or "")
    return max(0, int(found[1]) - 1) if found else None


def _memory() -> dict[str, int]:
    lines = re.findall(r"^(\w+):\s+(\d+) kB", read("/proc/meminfo") or "", re.MULTILINE)
    return {name: int(kib) * 1024 for name, kib in lines}


def _field(text: str, name: str) -> str | None:
    found = re.search(rf"^{re.escape(name)}\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else None


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def _chosen(text: str | None) -> str | None:
    found = re.search(r"\[(\w+)\]", text or "")
    return found[1] if found else None


def _turbo() -> str | None:
    if (off := read(_CPUS / "intel_pstate/no_turbo")) is not None:
        return "off" if off == "1" else "on"
    if (boost := read(_CPUS / "cpufreq/boost")) is not None:
        return "on" if boost == "1" else "off"
    return None
