"""The loop that the tracer experiment runs, in the python of a SYCL environment: USM copies and small kernels.

    python _tracer_loop.py ITERATIONS SEGMENTS RESULT

Each iteration copies 256 bytes and runs one kernel over 64 items. Between segments, memory is read the same way
whoever looks on. Of each segment two times are taken: the wall clock's, and the calling thread's processor time, in
which a device that is busy with other work does not show. Writes one line of JSON to RESULT. Exit code 75: the device could not be made, try again.
"""

import json
import os
import sys
import time

WARM_UP = 200
TRY_AGAIN = 75
LIBRARIES = ("libakv_ur", "libxptifw", "libsycl_ur_trace_collector", "libsycl.", "libur_loader")


def memory() -> list[int]:
    """Time, resident and anonymous bytes, counted page by page."""
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:  # noqa: PTH123 (one line less of this program's own memory)
        kib = {
            line.split(":")[0]: int(line.split()[1]) for line in file if line.startswith(("Rss", "Anonymous"))
        }
    return [time.monotonic_ns(), kib["Rss"] * 1024, kib["Anonymous"] * 1024]


def mapped() -> list[str]:
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        names = {line.rstrip("\n").rpartition("/")[2] for line in file}
    return sorted(name for name in names if name.startswith(LIBRARIES))


def main(iterations: int, segments: int, result: str) -> None:
    import dpctl
    import dpctl.memory
    import dpctl.program

    try:
        queue = dpctl.SyclQueue("cpu", property="in_order")
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(TRY_AGAIN)
    source = dpctl.memory.MemoryUSMShared(256, queue=queue)
    target = dpctl.memory.MemoryUSMShared(256, queue=queue)
    code = "kernel void add(global int *a) { a[get_global_id(0)] += 1; }"
    kernel = dpctl.program.create_program_from_source(queue, code).get_sycl_kernel("add")

    def loop(times: int) -> None:
        for _ in range(times):
            queue.memcpy(target, source, 256)
            queue.submit(kernel, [source], [64])
            queue.wait()

    loop(WARM_UP)
    trials, points = [], [memory()]
    for number in range(segments):
        began, own = time.monotonic_ns(), time.thread_time_ns()
        loop(iterations // segments)
        trials.append(["calling thread", number, time.thread_time_ns() - own])
        trials.append(["loop", number, time.monotonic_ns() - began])
        points.append(memory())
    made = {"pid": os.getpid(), "trials": trials, "memory": points, "mapped": mapped()}
    with open(result, "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(made, file)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
