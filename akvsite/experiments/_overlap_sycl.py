"""What the overlap experiment runs on a SYCL device: USM copies on one queue, kernels on another.

    python _overlap_sycl.py DEVICE TIMING CYCLES PIECES COPY_BYTES KERNELS SIZE RESULT

DEVICE is a selector of SYCL, such as cpu. With TIMING on both queues are made with the property enable_profiling, which
lets every event carry times; with off they are made without it. A kernel has SIZE items, each of which multiplies a
number of its own again and again.
KERNELS 0: says how many of them take as long as the copy of a piece. Writes one line of JSON to RESULT.
"""

import sys

import _overlap_cycles as cycles
import dpctl
import dpctl.memory
import dpctl.program
import numpy as np

_CODE = """
kernel void turns(global float *a) {
  float x = a[get_global_id(0)];
  for (int i = 0; i < 200; i++) x = x * 0.999f + 0.5f;
  a[get_global_id(0)] = x;
}
"""


class Work:
    """The pieces of both queues; ``kernels`` of each piece. Raises ``SystemExit`` where the device could not be made."""

    def __init__(
        self, device: str, timing: bool, pieces: int, copy_bytes: int, kernels: int, size: int
    ) -> None:
        asked = ["in_order", *(["enable_profiling"] if timing else [])]
        try:
            self.copying = dpctl.SyclQueue(device, property=asked)
            of = self.copying
            self.computing = dpctl.SyclQueue(of.sycl_context, of.sycl_device, property=asked)
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            sys.exit(cycles.TRY_AGAIN)
        rng = np.random.default_rng(1)
        self.sent = [rng.integers(0, 256, copy_bytes, dtype=np.uint8) for _ in range(pieces)]
        self.host = [dpctl.memory.MemoryUSMHost(copy_bytes, queue=self.copying) for _ in range(pieces)]
        self.there = [dpctl.memory.MemoryUSMDevice(copy_bytes, queue=self.copying) for _ in range(pieces)]
        for block, numbers in zip(self.host, self.sent, strict=True):
            block.copy_from_host(numbers)
        self.values = dpctl.memory.MemoryUSMDevice(4 * size, queue=self.computing)
        self.values.copy_from_host(np.ones(size, np.float32).view(np.uint8))
        program = dpctl.program.create_program_from_source(self.computing, _CODE)
        self.kernel = program.get_sycl_kernel("turns")
        self.kernels, self.size, self.copy_bytes = kernels, size, copy_bytes

    def submit(self, copy: bool, compute: bool) -> None:
        for host, there in zip(self.host, self.there, strict=True):
            if copy:
                self.copying.memcpy_async(there, host, self.copy_bytes)
            if compute:
                for _ in range(self.kernels):
                    self.computing.submit_async(self.kernel, [self.values], [self.size])

    def wait(self) -> None:
        self.copying.wait()
        self.computing.wait()

    def output_sha256(self) -> str:
        """Raises ``SystemExit`` where what was copied is not what was sent."""
        if not all(np.array_equal(a, b.copy_to_host()) for a, b in zip(self.sent, self.there, strict=True)):
            sys.exit("what was copied is not what was sent")
        made: str = cycles.digest(bytes(self.values.copy_to_host()))
        return made


def about(work: Work) -> dict[str, str]:
    device = work.copying.sycl_device
    return {
        "dpctl": dpctl.__version__, "device": device.name, "driver": device.driver_version,
        "profiling": "enable_profiling" if work.copying.has_enable_profiling else "none",
    }  # fmt: skip


if __name__ == "__main__":
    cycles.carry_out(Work, about)
