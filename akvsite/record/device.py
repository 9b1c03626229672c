"""Facts of the devices: NVIDIA's by nvidia-smi, Intel's by what the kernel shows; never a serial number."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from akvsite.record.clean import Facts, Version
from akvsite.record.host import read

ASK_SECONDS = 20
#: What a capture says where there is nothing to ask.
NO_DEVICE = "no device that can be asked"
_DRM = Path("/sys/class/drm")
_INTEL = "0x8086"

#: nvidia-smi's name, ours. What changes from moment to moment goes with the load.
_STANDING = {
    "name": "name", "driver_version": "driver", "memory.total": "memory_mib", "power.limit": "power_limit_w",
    "clocks.max.sm": "clock_most_mhz", "ecc.mode.current": "ecc", "mig.mode.current": "mig",
    "persistence_mode": "persistence", "pcie.link.gen.max": "pcie_generation", "pcie.link.width.max": "pcie_width",
}  # fmt: skip
_MOVING = {
    "clocks.sm": "clock_mhz", "clocks.mem": "memory_clock_mhz", "temperature.gpu": "temperature_c",
    "power.draw": "power_w", "memory.used": "memory_used_mib", "utilization.gpu": "busy_percent",
    "pcie.link.gen.current": "pcie_generation_now", "clocks_event_reasons.active": "clock_reasons",
}  # fmt: skip


@dataclass(frozen=True)
class Users:
    """Processes on the devices other than the capture's own, counted; None where that cannot be told."""

    count: int | None
    memory_mib: int | None = None
    said_by: str = ""


def present() -> bool:
    return shutil.which("nvidia-smi") is not None or bool(_intel_cards())


def about() -> Facts:
    """What the devices are."""
    facts: dict[str, Facts] = {f"gpu_{i}": gpu for i, gpu in enumerate(_nvidia(_STANDING))}
    for number, card in enumerate(_intel_cards()):
        facts[f"intel_{number}"] = _intel(card)
    return facts


def load() -> Facts:
    """How the devices stand now: clocks, temperature, power, memory."""
    facts: dict[str, Facts] = {f"gpu_{i}": gpu for i, gpu in enumerate(_nvidia(_MOVING))}
    for number, card in enumerate(_intel_cards()):
        facts[f"intel_{number}"] = {"clock_mhz": _first(card, "gt_act_freq_mhz", "gt_cur_freq_mhz", *_XE_NOW)}
    return facts


def users(own: Collection[int] = ()) -> Users:
    """Other processes on the devices."""
    if shutil.which("nvidia-smi") is not None:
        rows = _ask(["--query-compute-apps=pid,used_memory"])
        if rows is None:
            return Users(None, said_by="nvidia-smi gave no answer")
        others = [row for row in rows if not (row[0].isdigit() and int(row[0]) in own)]
        memory = [int(row[1]) for row in others if row[1].isdigit()]
        return Users(len(others), sum(memory) if len(memory) == len(others) else None, "nvidia-smi")
    if _intel_cards():
        count, unseen = _holders(own)
        return Users(count, said_by=f"open render nodes; {unseen} processes could not be looked into")
    return Users(None, said_by=NO_DEVICE)


def users_facts(found: Users) -> Facts:
    return {
        "other_processes": found.count,
        "other_memory_mib": found.memory_mib,
        "told_by": found.said_by,
    }


def _nvidia(fields: dict[str, str]) -> list[Facts]:
    rows = _ask([f"--query-gpu={','.join(fields)}"])
    if rows is None:
        # One field that this driver does not know refuses them all: then each is asked for alone.
        columns = {ours: _ask([f"--query-gpu={theirs}"]) for theirs, ours in fields.items()}
        known = {ours: rows for ours, rows in columns.items() if rows}
        count = max(map(len, known.values()), default=0)
        return [
            {ours: _said(rows[i][0]) for ours, rows in known.items() if i < len(rows)} for i in range(count)
        ]
    return [{ours: _said(v) for ours, v in zip(fields.values(), row, strict=False)} for row in rows]


def _said(value: str) -> str | None:
    return None if value in ("", "[N/A]", "N/A", "[Not Supported]", "[Unknown Error]") else value


def _ask(words: list[str]) -> list[list[str]] | None:
    """Rows of nvidia-smi; None where it is not there or refuses."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *words, "--format=csv,noheader,nounits"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=ASK_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    return [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines() if line.strip()]


_XE_NOW = ("device/tile0/gt0/freq0/act_freq", "device/tile0/gt0/freq0/cur_freq")
_XE_MOST = "device/tile0/gt0/freq0/max_freq"


def _intel_cards() -> list[Path]:
    cards = (path for path in _DRM.glob("card*") if re.fullmatch(r"card\d+", path.name))
    return sorted(path for path in cards if read(path / "device/vendor") == _INTEL)


def _intel(card: Path) -> Facts:
    driver = (card / "device/driver").resolve().name
    return {
        "name": f"Intel PCI device {read(card / 'device/device')}",
        "driver": driver,
        "driver_version": Version(read(f"/sys/module/{driver}/version") or ""),
        "clock_most_mhz": _first(card, "gt_max_freq_mhz", _XE_MOST),
        "pcie_speed": read(card / "device/current_link_speed"),
        "pcie_width": read(card / "device/current_link_width"),
        "level_zero_loader": _level_zero(),
    }


def _first(card: Path, *names: str) -> str | None:
    return next((text for name in names if (text := read(card / name))), None)


def _level_zero() -> str | None:
    """The version in the name of the installed loader."""
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"):
        for path in sorted(Path(folder).glob("libze_loader.so.*.*")):
            return path.name.partition(".so.")[2]
    return None


def _holders(own: Collection[int]) -> tuple[int, int]:
    """How many other processes hold a render node open, and how many could not be looked into."""
    holding = unseen = 0
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) in own or int(entry.name) == os.getpid():
            continue
        try:
            with os.scandir(f"{entry.path}/fd") as open_files:
                targets = [str(Path(file.path).readlink()) for file in open_files]
        except PermissionError:
            unseen += 1
            continue
        except OSError:
            continue  # it ended meanwhile
        holding += any(target.startswith("/dev/dri/renderD") for target in targets)
    return holding, unseen
