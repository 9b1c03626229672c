#!/usr/bin/env bash
# Make .venv ready. Usage: scripts/setup.sh site|shim|test
#
# Nothing is installed, and no network is used, while a stamp in .venv matches pyproject.toml and constraints.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  site | shim) extras=() tools=() ;;
  test)
    # One line for each thing that the tests need.
    extras=(
      dev
      zensical
      ipex
    )
    # command=Debian package; the browser tests drive the first Chromium found.
    tools=(
      chromium=chromium
    )
    ;;
  *) echo "usage: scripts/setup.sh site|shim|test" >&2; exit 2 ;;
esac

die() { echo "setup: $*" >&2; exit 2; }

find_python() {
  local candidate
  for candidate in python3.11 python3; do
    # A version manager's stand-in may be on the path and still refuse to run, so each candidate is asked.
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  die "Python 3.11 or newer is needed (tried python3.11 and python3)"
}

want_tools() {
  local tool missing=()
  for tool in "${tools[@]}"; do
    command -v "${tool%%=*}" >/dev/null || missing+=("${tool#*=}")
  done
  ((${#missing[@]})) || return 0
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    die "missing: ${missing[*]} (on Debian: apt-get install ${missing[*]})"
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

want_venv() {
  if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    local python
    python=$(find_python)
    "$python" -m venv .venv || die "$python could not make .venv (on Debian: apt-get install python3-venv)"
  fi
}

# uv installs what is not there: it loads and unpacks packages side by side, where pip takes one after the other.
want_uv() {
  local version=0.13.8 index
  [[ $(.venv/bin/uv --version 2>/dev/null) == "uv $version"* ]] ||
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: "uv==$version"
  # It does not read pip's settings, so who has packages from an index of their own is asked here.
  index=${UV_DEFAULT_INDEX:-${PIP_INDEX_URL:-$(.venv/bin/python -m pip config get global.index-url 2>/dev/null || true)}}
  [[ -z $index ]] || export UV_DEFAULT_INDEX=$index
  # Beside the environments, so that what two of them need is linked and takes its room once.
  export UV_CACHE_DIR=${UV_CACHE_DIR:-$PWD/.venv/uv} UV_SYSTEM_CERTS=1
}

joined_extras() { local IFS=,; echo "${extras[*]-}"; }
# The stamp knows its folder too: a moved checkout has a .venv that points at the old one.
packages_wanted() { echo "$PWD $(cksum <pyproject.toml) $(cksum <constraints.txt) $(joined_extras)"; }
packages_are_there() { [[ -f .venv/akvsite-$1.stamp && $(<".venv/akvsite-$1.stamp") == "$(packages_wanted)" ]]; }
want_packages() {
  packages_are_there "$1" && return
  local joined
  joined=$(joined_extras)
  echo "setup: installing akvsite${joined:+[$joined]} into .venv"
  .venv/bin/uv pip install --quiet --python .venv/bin/python --constraint constraints.txt \
    --build-constraint constraints.txt --editable ".${joined:+[$joined]}"
  packages_wanted >".venv/akvsite-$1.stamp"
  # What the site needs is part of everything else.
  extras=()
  packages_wanted >.venv/akvsite-site.stamp
}

# SYCL runtimes, each in an environment of its own: .venv/sycl-NAME from shim/ur/runtimes/NAME.txt. They bring the headers
# that the shim is made from, and a CPU device that its tests run on.
runtime_of() { echo ".venv/sycl-$(basename "$1" .txt)"; }
listed_is_there() { [[ -f $2/akvsite.stamp && $(<"$2/akvsite.stamp") == "$PWD $(cksum <"$1")" ]]; }
want_runtimes() {
  local list folder
  for list in shim/ur/runtimes/*.txt; do
    folder=$(runtime_of "$list")
    listed_is_there "$list" "$folder" && continue
    echo "setup: installing $list into $folder"
    .venv/bin/uv venv --quiet --clear --python .venv/bin/python "$folder"
    .venv/bin/uv pip install --quiet --python "$folder/bin/python" --no-deps --only-binary :all: --requirement "$list"
    echo "$PWD $(cksum <"$list")" >"$folder/akvsite.stamp"
  done
}

# NVIDIA's headers, for the shim: packages unpacked into a folder, whatever the system is.
CUDA_LIST=shim/cuda/headers.txt CUDA_FOLDER=.venv/cuda-13.0
want_cuda_headers() {
  listed_is_there $CUDA_LIST $CUDA_FOLDER && return
  echo "setup: unpacking $CUDA_LIST into $CUDA_FOLDER"
  rm -rf $CUDA_FOLDER
  .venv/bin/uv pip install --quiet --python .venv/bin/python --no-deps --only-binary :all: --target $CUDA_FOLDER \
    --requirement $CUDA_LIST
  echo "$PWD $(cksum <$CUDA_LIST)" >$CUDA_FOLDER/akvsite.stamp
}

shim_is_there() {
  local list
  for list in shim/ur/runtimes/*.txt; do listed_is_there "$list" "$(runtime_of "$list")" || return; done
  listed_is_there $CUDA_LIST $CUDA_FOLDER
}
want_shim() { want_runtimes; want_cuda_headers; }

# The scanner's fast engine, built from scanner/ with what Rust's own installer (rustup) provides. A wheel first: that may
# take minutes, in which other packages are installed.
scanner_wanted() { echo "$PWD $(cat scanner/pyproject.toml scanner/Cargo.toml scanner/src/*.rs | cksum)"; }
scanner_is_there() { [[ -f .venv/akvscan.stamp && $(<.venv/akvscan.stamp) == "$(scanner_wanted)" ]]; }
build_scanner() {
  scanner_is_there && return
  command -v cargo >/dev/null || die "missing: cargo, to build scanner/ (see https://rustup.rs)"
  echo "setup: building scanner/"
  rm -rf .venv/wheels
  .venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir .venv/wheels ./scanner
}
want_scanner() {
  scanner_is_there && return
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall .venv/wheels/*.whl
  scanner_wanted >.venv/akvscan.stamp
}

want_tools
want_venv
case $1 in
  site)
    packages_are_there site || want_uv
    want_packages site
    ;;
  shim)
    shim_is_there || want_uv
    want_shim
    ;;
  test)
    { packages_are_there test && shim_is_there; } || want_uv
    # What needs the processor and what needs the network, side by side. `wait` hands an error of theirs on; where this
    # script ends early, nothing goes on behind it.
    trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
    build_scanner & building=$!
    want_shim & headers=$!
    want_packages test
    wait "$headers"
    wait "$building"
    want_scanner
    ;;
esac
