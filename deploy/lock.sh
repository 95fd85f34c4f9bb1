#!/bin/sh
# Rewrites the locks, requirements*.txt, from pyproject.toml and the .in files next to them.
# Needs the environment of deploy/test.sh; options go to uv, for example --upgrade.
set -eu
cd "$(dirname "$0")/.."

# Each lock begins with its command, which Renovate (.github/renovate.json) reads and repeats; it understands only "--option=value".
lock() {
    .venv/bin/uv pip compile --quiet --universal --python-version=3.11 --generate-hashes "$@"
}

lock "$@" --extra=png --extra=otel --output-file=deploy/requirements.txt pyproject.toml deploy/requirements.in
lock "$@" --output-file=deploy/requirements-build.txt deploy/requirements-build.in
lock "$@" --extra=png --extra=otel --extra=duckdb --extra=spark --output-file=deploy/requirements-engines.txt \
    --constraint=deploy/requirements.txt pyproject.toml deploy/requirements.in
lock "$@" --extra=png --extra=otel --extra=duckdb --extra=spark --output-file=deploy/requirements-dev.txt \
    --constraint=deploy/requirements-engines.txt pyproject.toml deploy/requirements.in deploy/requirements-build.in \
    deploy/requirements-dev.in
lock "$@" --output-file=deploy/requirements-release.txt --constraint=deploy/requirements-dev.txt deploy/requirements-release.in
lock "$@" --output-file=deploy/requirements-spark.txt --constraint=deploy/requirements-build.txt deploy/requirements-spark.in
