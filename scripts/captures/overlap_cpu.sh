#!/usr/bin/env bash
# Do copies and kernels share the time of SYCL's CPU device? By the wall clock with capture off, and with every call recorded.
#
#   make -C shim ur probe && scripts/captures/overlap_cpu.sh OUT
set -euo pipefail
out=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
sycl=${AKVSITE_SYCL_PYTHON:-$root/.venv/sycl-2025.3/bin/python}
note="A virtual machine with two processors and other work: its role is dev, not proof."
pieces=8 bytes=4194304 size=4096

"$root/.venv/bin/akvsite" experiment overlap --device sycl --pairs 10 --iterations 60 --seed 20261130 --name overlap-sycl-cpu \
  --host builder-cpu --host-role dev --note "$note" --out "$out" -- --pieces $pieces --copy-bytes $bytes --kernel-size $size
kernels=$(sed -n 's/^kernels_per_piece = //p' "$out/overlap-sycl-cpu/capture.toml")
"$root/.venv/bin/akvsite" capture --level edge --timing on --compress --name overlap-trace-sycl-cpu --out "$out" --host builder-cpu --host-role dev \
  --engine "two queues of one device, copies on one and kernels on the other" \
  --note "Rounds in which copies and kernels run together, every runtime call recorded and timing on, with the sizes of overlap-sycl-cpu. $note" \
  --contract workload="copies on one queue and kernels on another: together" --contract device=sycl --contract pieces=$pieces \
  --contract copy_bytes=$bytes --contract kernel_size=$size --contract kernels_per_piece="$kernels" \
  -- env OCL_ICD_FILENAMES=libintelocl.so LD_LIBRARY_PATH="$(dirname "$sycl")/../lib" \
  "$sycl" "$root/scripts/captures/overlap_trace.py" cpu on 8 $pieces $bytes "$kernels" $size
