#!/usr/bin/env bash
# Do copies and kernels share a GPU's time? Two sizes of copies: by the wall clock with capture off, and under torch's profiler.
#
#   PYTHONPATH=$PWD scripts/captures/overlap_h200.sh OUT
#
# From a plain checkout, with a python that has torch, typer and pyarrow.
set -euo pipefail
out=$1
python=${PYTHON:-python3}
note="A lent virtual machine whose neighbours are unknown: its role is dev, not proof."
here=$(dirname "$0")

# both NAME PAIRS ROUNDS SIZES...: the experiment, then a trace of its sizes.
both() {
  local name=$1 pairs=$2 rounds=$3 pieces=$4 bytes=$5 size=$6
  "$python" -m akvsite experiment overlap --device cuda --pairs "$pairs" --iterations 60 --seed 20261130 --name "overlap-$name" \
    --host h200-lent --host-role dev --note "$note" --out "$out" -- --pieces "$pieces" --copy-bytes "$bytes" --kernel-size "$size"
  local kernels
  kernels=$(sed -n 's/^kernels_per_piece = //p' "$out/overlap-$name/capture.toml")
  "$python" -m akvsite capture --level device --timing on --compress --name "overlap-trace-$name" --out "$out" --host h200-lent --host-role dev \
    --engine "two queues of one device, copies on one and kernels on the other" \
    --note "Rounds in which copies and kernels run together, under torch's profiler, with the sizes of overlap-$name. $note" \
    --contract workload="copies on one queue and kernels on another: together" --contract device=cuda --contract pieces="$pieces" \
    --contract copy_bytes="$bytes" --contract kernel_size="$size" --contract kernels_per_piece="$kernels" \
    -- "$python" "$here/overlap_trace.py" cuda on "$rounds" "$pieces" "$bytes" "$kernels" "$size"
}

both h200 10 8 32 16777216 16384
both h200-small-copies 8 4 256 1048576 16384
