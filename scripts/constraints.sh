#!/usr/bin/env bash
# Write constraints.txt again, after a version in pyproject.toml changed. Needs about 8 GB for a while.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/venv"
"$work/venv/bin/python" - >"$work/requirements.txt" <<'PY'
import tomllib

with open("pyproject.toml", "rb") as file:
    pyproject = tomllib.load(file)
project = pyproject["project"]
extras = project["optional-dependencies"].values()
print(*project["dependencies"], *(line for extra in extras for line in extra), sep="\n")
print(*pyproject["build-system"]["requires"], sep="\n")
PY
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade -r "$work/requirements.txt"
{
  echo "# Every package of every extra, as scripts/constraints.sh resolved it for Python 3.11 on Linux x86-64."
  "$work/venv/bin/python" -m pip freeze
  # setuptools builds akvsite, and pip leaves it out of its list.
  "$work/venv/bin/python" -m pip list --format freeze --disable-pip-version-check | grep '^setuptools=='
} >"$work/constraints.txt"
mv "$work/constraints.txt" constraints.txt
