#!/bin/sh
# Checks everything: style, types, layers, tests, coverage. Fails at the first check that fails. With --long, also proofs that
# take long.
# Needs python3 (3.11 or newer) with its venv module; the first time also the package registry.
set -eu
cd "$(dirname "$0")/.."
sh deploy/setup.sh dev
PATH="$PWD/.venv/bin:$PATH"
export PATH
unset PYTHONDONTWRITEBYTECODE # hundreds of processes need what one of them has compiled

step() {
    echo "== $*"
    "$@"
}

step ruff check .
step ruff format --check .
step mypy --strict service
step lint-imports
coverage erase
# Five at a time, for two processors: many tests wait, for a server to start or for a time-out of it. Lines are not
# counted during all of them (tests/uncounted.py).
step coverage run -m pytest -p tests.uncounted -n 5 --dist worksteal --ignore tests/properties --ignore tests/engines/spark "$@"
# At the same time: the tests of Spark, which share a server, and the properties. These have the loops in C, as users do; all
# others have NumPy's, and one of these compares the answers of both.
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
step coverage run -m pytest tests/engines/spark "$@" > "$printed" 2>&1 &
spark=$!
properties=0
step python -m pytest -n 2 --dist worksteal --compiled tests/properties "$@" || properties=$?
spark_tests=0
wait "$spark" || spark_tests=$?
cat "$printed"
[ "$properties" = 0 ] && [ "$spark_tests" = 0 ]
coverage combine --quiet
step coverage report
