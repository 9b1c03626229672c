#!/usr/bin/env bash
# The captures of the reference engine on a GPU: one workload at every level, its levers, and concurrency 1, 4 and 16.
#
#   make -C shim cudart probe && PYTHONPATH=$PWD scripts/captures/runner_h200.sh OUT
#
# From a plain checkout, with a python that has torch, typer and pyarrow. Each is a fresh process; the order is that below.
set -euo pipefail
out=$1
python=${PYTHON:-python3}
note="A lent virtual machine whose neighbours are unknown: its role is dev, not proof."

# capture NAME LEVEL NOTE CONTRACT... -- ENGINE'S OPTIONS...
capture() {
  local name=$1 level=$2 about=$3 facts=()
  shift 3
  while [[ $1 != -- ]]; do facts+=(--contract "$1"); shift; done
  shift
  "$python" -m akvsite capture --out "$out" --name "$name" --level "$level" --compress --timing "${timing:-asis}" --runtime cudart \
    --host h200-lent --host-role dev --warm-up "$cut" --note "$about $note" \
    "${facts[@]}" -- "$python" -m akvsite.runner --backend torch --device cuda "$@"
}

# --- one workload, level by level ---
cut=40
workload=(--model small --layers 4 --dtype bfloat16 --requests 48 --concurrency 8 --prompt-tokens 64 --output-tokens 48 --exact)
contract=(workload=decode model=small layers=4 dtype=bfloat16 requests=48 concurrency=8 prompt_tokens=64 output_tokens=48)
plain=("${contract[@]}" prefetch=one_layer_ahead compile=none graphs=off)
capture runner-h200-off off "Nothing but the engine's own counters and its client's." "${plain[@]}" -- "${workload[@]}"
capture runner-h200-runner runner "Phases, requests and tokens." "${plain[@]}" -- "${workload[@]}"
capture runner-h200-host host "Phases, regions and layer windows." "${plain[@]}" -- "${workload[@]}"
capture runner-h200-device device "The torch profiler over ten decode steps." "${plain[@]}" -- \
  "${workload[@]}" --device-records profiler --profile-steps 200:209
timing=on capture runner-h200-events device "Timing events around the work of every step, and a snapshot of torch's allocator." "${plain[@]}" -- \
  "${workload[@]}" --device-records events --memory-snapshot
capture runner-h200-edge edge "Every call to the CUDA runtime that the shim sees." "${plain[@]}" -- "${workload[@]}"

# --- the levers of torch ---
capture runner-h200-reduce-overhead device "torch.compile in mode reduce-overhead; the torch profiler over ten decode steps." \
  "${contract[@]}" prefetch=one_layer_ahead compile=reduce-overhead graphs=off -- \
  "${workload[@]}" --compile reduce-overhead --device-records profiler --profile-steps 200:209
capture runner-h200-graphs device "Each layer's work recorded once as a CUDA graph and replayed; the torch profiler over ten decode steps." \
  "${contract[@]}" prefetch=one_layer_ahead compile=none graphs=on -- \
  "${workload[@]}" --graphs --device-records profiler --profile-steps 200:209

# --- requests in flight ---
for flight in 1 4 16; do
  capture "runner-h200-c$flight" host "$flight in flight; a batch has room for 16 whatever is in it." \
    workload=decode model=small layers=4 dtype=bfloat16 requests=$((60 * (flight < 4 ? 4 : flight))) concurrency="$flight" max_batch=16 \
    prompt_tokens=64 output_tokens=12 prefetch=one_layer_ahead compile=none graphs=off -- \
    --model small --layers 4 --dtype bfloat16 --requests $((60 * (flight < 4 ? 4 : flight))) --concurrency "$flight" --max-batch 16 \
    --prompt-tokens 64 --output-tokens 12 --exact
done
