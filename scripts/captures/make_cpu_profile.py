"""A torch.profiler run on the CPU: a tiny decode loop whose KV cache grows by one position a step.

    python scripts/captures/make_cpu_profile.py HOST_ALIAS

needs torch, which `make test` installs. The trace is written under a relative name and refused if it names
the machine, its user or a folder: a capture is never changed afterwards.
"""

from __future__ import annotations

import datetime
import getpass
import gzip
import hashlib
import os
import platform
import re
import shutil
import socket
import sys
import tempfile
from pathlib import Path

import torch
from bundle import CAPTURES, write_declaration
from torch.profiler import ProfilerActivity, profile, record_function

LAYERS, WIDTH, HEADS, VOCABULARY = 4, 128, 4, 512
PROMPT_TOKENS, STEPS, WARM_UP_STEPS = 16, 40, 8
TRACE = "decode.pt.trace.json"


class Layer(torch.nn.Module):
    """Attention over all kept positions, then a small MLP."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = torch.nn.Linear(WIDTH, WIDTH, bias=False)
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(), torch.nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x: torch.Tensor, kept: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        q, k, v = self.qkv(x).view(3, HEADS, 1, WIDTH // HEADS).unbind(0)
        new = torch.stack((k, v))
        kept = new if kept is None else torch.cat((kept, new), dim=2)
        x = x + self.out(torch.nn.functional.scaled_dot_product_attention(q, *kept).reshape(1, WIDTH))
        return x + self.mlp(x), kept


def main(alias: str) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
    layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
    kept: list[torch.Tensor | None] = [None] * LAYERS

    def step(token: torch.Tensor) -> torch.Tensor:
        x = embedding(token)
        for number, layer in enumerate(layers):
            with record_function(f"layer.{number}"):
                x, kept[number] = layer(x, kept[number])
        with record_function("sample"):
            return (x @ embedding.weight.T).argmax(-1)

    tokens: list[int] = []
    load_before = os.getloadavg()
    with torch.inference_mode():
        token = torch.zeros(1, dtype=torch.long)
        for position in range(PROMPT_TOKENS):
            token = step(torch.tensor([position]))
        with profile(activities=[ProfilerActivity.CPU]) as profiler:
            for number in range(STEPS):
                with record_function(f"decode.step.{number}"):
                    token = step(token)
                    tokens.append(int(token))
    load_after = os.getloadavg()

    folder = CAPTURES / "cpu-torch-profiler"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # mtime 0: the same trace gives the same file.
    with gzip.GzipFile(folder / f"{TRACE}.gz", "wb", compresslevel=9, mtime=0) as file:
        file.write(clean(exported(profiler)))
    write_declaration(
        folder,
        {
            "name": folder.name,
            "level": "host",
            "started": datetime.date.today().isoformat(),
            "engine": "tiny decode loop in torch on the CPU",
            "timing_events": "off",
            "warm_up_steps": WARM_UP_STEPS,
            "clock": "host only",
            "note": "The torch profiler around a decode loop of random weights whose KV cache grows by one "
            "position a step. Instrumented: nothing in it is a statement about speed.",
        },
        {
            "host": {
                "name": alias,
                "role": "dev",
                "facts": {
                    "cpu": cpu_model(),
                    "cpus": len(os.sched_getaffinity(0)),
                    "os": platform.system(),
                    "threads_used": torch.get_num_threads(),
                },
            },
            "load": {"before": minutes(load_before), "after": minutes(load_after)},
            "contract": {
                "workload": "greedy decode of random weights, seed 0",
                "batch": 1,
                "prompt_tokens": PROMPT_TOKENS,
                "output_tokens": STEPS,
                "layers": LAYERS,
                "concurrency": 1,
                "output_hash": hashlib.sha256(repr(tokens).encode()).hexdigest(),
                "weight_bytes": sum(
                    p.numel() * p.element_size() for m in (embedding, layers) for p in m.parameters()
                ),
                "versions": {"torch": torch.__version__, "python": platform.python_version()},
            },
            "capture": {"tool": "torch profiler (Kineto)"},
        },
        {"file": [{"path": f"{TRACE}.gz"}]},
    )


def exported(profiler: profile) -> bytes:
    """The trace carries the name it is written under, so that name has no folder."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            profiler.export_chrome_trace(TRACE)
            return Path(TRACE).read_bytes()
        finally:
            os.chdir(before)


def clean(trace: bytes) -> bytes:
    for name in {socket.gethostname(), getpass.getuser(), str(Path.home())}:
        if re.search(rb"\b" + re.escape(name.encode()) + rb"\b", trace):
            raise SystemExit("the trace names this machine or its user")
    if re.search(rb'"/[a-z]+/', trace):
        raise SystemExit("the trace names a folder")
    return trace


def cpu_model() -> str:
    match = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    if match is None:
        raise SystemExit("/proc/cpuinfo: no line for the model name")
    return match[1]


def minutes(load: tuple[float, float, float]) -> dict[str, float]:
    return {f"load_{m}_min": round(value, 2) for m, value in zip((1, 5, 15), load, strict=True)}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: make_cpu_profile.py HOST_ALIAS")
    main(sys.argv[1])
