#!/usr/bin/env bash
# Install the scanner's crate with libFuzzer's coverage into the environment that is active (see tests/fuzz/README.md).
# It loads only in a process that has libFuzzer, such as one that imported atheris: not for .venv.
set -euo pipefail
cd "$(dirname "$0")/../scanner"

wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
passes=(
  -Cpasses=sancov-module
  -Cllvm-args=-sanitizer-coverage-level=4
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
  -Cllvm-args=-sanitizer-coverage-pc-table
  -Cllvm-args=-sanitizer-coverage-trace-compares
)
export CARGO_TARGET_DIR=target/fuzz RUSTFLAGS="${passes[*]}"
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true
# With a target named, build scripts and macros are not instrumented, which could not run.
target=$(rustc -vV | sed -n 's/^host: //p')
maturin build --release --quiet --target "$target" --auditwheel skip --out "$wheels"
python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheels"/*.whl
