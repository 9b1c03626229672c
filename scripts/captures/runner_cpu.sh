#!/usr/bin/env bash
# The captures of the reference engine without a GPU: on SYCL's CPU device at every level, and torch with and without IPEX.
#
#   make -C shim && PYTHONPATH=$PWD scripts/captures/runner_cpu.sh OUT
#
# From a checkout after `scripts/setup.sh test`, which makes .venv and .venv/sycl-2025.3. Each is a fresh process; the order is
# that below.
set -euo pipefail
out=$1
host=${HOST_NAME:-builder-cpu}
note="A virtual machine with two processors and other work: its role is dev."
export OMP_NUM_THREADS=1

# capture NAME LEVEL NOTE CONTRACT... -- COMMAND...
capture() {
  local name=$1 level=$2 about=$3 facts=()
  shift 3
  while [[ $1 != -- ]]; do facts+=(--contract "$1"); shift; done
  shift
  .venv/bin/python -m akvsite capture --out "$out" --name "$name" --level "$level" --compress --timing "${timing:-asis}" \
    --host "$host" --host-role dev --warm-up 40 --note "$about $note" "${facts[@]}" -- "$@"
}

# 24 prefills and 282 decode steps.
size=(--requests 24 --concurrency 4 --max-batch 4 --prompt-tokens 24 --output-tokens 48 --exact)
contract=(workload=decode dtype=float32 requests=24 concurrency=4 max_batch=4 prompt_tokens=24 output_tokens=48 prefetch=one_layer_ahead)

# --- SYCL, level by level ---
sycl=(.venv/sycl-2025.3/bin/python -m akvsite.runner --backend sycl --model tiny "${size[@]}")
same=(model=tiny layers=2 "${contract[@]}")
capture runner-sycl-off off "Nothing but the engine's own counters and its client's." "${same[@]}" -- "${sycl[@]}"
capture runner-sycl-runner runner "Phases, requests and tokens." "${same[@]}" -- "${sycl[@]}"
capture runner-sycl-host host "Phases, regions and layer windows." "${same[@]}" -- "${sycl[@]}"
timing=on capture runner-sycl-device device "Timing events around the work of every step on both queues." "${same[@]}" -- \
  "${sycl[@]}" --device-records events
# A step makes some four thousand calls: the room is for the first steps, and the rest is counted as lost.
AKV_CAP=${AKV_CAP:-3M} timing=on capture runner-sycl-edge edge \
  "Every call to SYCL's runtime from the start on, as far as 3 MiB of records go: some of the engine's first steps, its warm-up among them." \
  "${same[@]}" -- "${sycl[@]}" --warm-up-steps 1

# --- torch on the CPU, with IPEX and without ---
torch=(.venv/bin/python -m akvsite.runner --backend torch --device cpu --model small --layers 2 "${size[@]}")
same=(model=small layers=2 "${contract[@]}")
capture runner-ipex-off host "Torch's own operators; its profiler over four decode steps." "${same[@]}" ipex=off -- \
  "${torch[@]}" --no-ipex --device-records profiler --profile-steps 200:203
capture runner-ipex-on host "IPEX 2.8.0: ipex.optimize, rms_norm, rotary_embedding and PagedAttention; torch's profiler over four decode steps." \
  "${same[@]}" ipex=on -- "${torch[@]}" --ipex --device-records profiler --profile-steps 200:203
