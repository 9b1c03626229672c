"""What the overlap experiment runs on a GPU: copies from pinned memory on one stream, kernels on another.

    python _overlap_torch.py DEVICE TIMING CYCLES PIECES COPY_BYTES KERNELS SIZE RESULT

DEVICE is cuda or xpu, TIMING on or off. Every piece of either stream stands between two events; with TIMING on they carry
a time, with off they are the same events without one. A kernel is a product of 8 rows with a matrix of SIZE x SIZE in
bfloat16, which reads the matrix and computes little, as a decode step does. KERNELS 0: says how many of them take as
long as the copy of a piece. Writes one line of JSON to RESULT.
"""

import sys

import _overlap_cycles as cycles
import torch

_ROWS = 8
#: Matrices in turn, so that none is still in a cache.
_MATRICES = 4


class Work:
    """The pieces of both streams; ``kernels`` of each piece."""

    def __init__(
        self, device: str, timing: bool, pieces: int, copy_bytes: int, kernels: int, size: int
    ) -> None:
        self.module = torch.get_device_module(device)
        torch.manual_seed(1)
        self.weights = [
            torch.randn(size, size, dtype=torch.bfloat16, device=device) / size**0.5 for _ in range(_MATRICES)
        ]
        self.rows = torch.randn(_ROWS, size, dtype=torch.bfloat16, device=device)
        self.out = torch.empty(_ROWS, size, dtype=torch.bfloat16, device=device)
        self.host = [
            torch.randint(0, 256, (copy_bytes,), dtype=torch.uint8).pin_memory() for _ in range(pieces)
        ]
        self.there = [torch.empty(copy_bytes, dtype=torch.uint8, device=device) for _ in range(pieces)]
        self.copying, self.computing = self.module.Stream(), self.module.Stream()
        self.events = [[self.module.Event(enable_timing=timing) for _ in range(4)] for _ in range(pieces)]
        self.kernels = kernels
        self.module.synchronize()

    def submit(self, copy: bool, compute: bool) -> None:
        for piece, (began, done, started, ended) in enumerate(self.events):
            if copy:
                began.record(self.copying)
                with self.module.stream(self.copying):
                    self.there[piece].copy_(self.host[piece], non_blocking=True)
                done.record(self.copying)
            if compute:
                started.record(self.computing)
                with self.module.stream(self.computing):
                    for kernel in range(self.kernels):
                        torch.mm(self.rows, self.weights[(piece + kernel) % _MATRICES], out=self.out)
                ended.record(self.computing)

    def wait(self) -> None:
        self.copying.synchronize()
        self.computing.synchronize()

    def output_sha256(self) -> str:
        """Raises ``SystemExit`` where what was copied is not what was sent."""
        if not all(torch.equal(a, b.cpu()) for a, b in zip(self.host, self.there, strict=True)):
            sys.exit("what was copied is not what was sent")
        made: str = cycles.digest(self.out.float().cpu().numpy().tobytes())
        return made


def about(work: Work) -> dict[str, str]:
    return {"torch": torch.__version__, "device": work.module.get_device_name(0)}


if __name__ == "__main__":
    cycles.carry_out(Work, about)
