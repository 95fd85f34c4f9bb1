#!/bin/sh
# Checks everything: style, types, layers, tests, coverage. Stops at the first check that fails, but runs all of the tests.
# --long adds the proofs that take long.
# Needs python3 (3.11 or newer) with its venv module, and the package registry on the first run.
set -eu
cd "$(dirname "$0")/.."
sh deploy/setup.sh dev
PATH="$PWD/.venv/bin:$PATH"
export PATH
unset PYTHONDONTWRITEBYTECODE # hundreds of processes import what the first one compiles

step() {
    echo "== $*"
    "$@"
}

step ruff check .
step ruff format --check .
# In a new checkout, compiles the tests beside mypy; otherwise, each of the processes below would compile them.
[ -e tests/__pycache__ ] || python -m pytest --collect-only -q > /dev/null 2>&1 &
step mypy --strict service
wait
step lint-imports
coverage erase
# The tests of Spark, which share one server, run at the same time as all others.
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
step coverage run -m pytest tests/engines/spark "$@" > "$printed" 2>&1 &
spark=$!
# Five at a time on two processors, because many tests wait for a server to start or to time out. Some tests run without
# line counting (tests/uncounted.py).
most=0
step coverage run -m pytest -p tests.uncounted -n 5 --dist worksteal --ignore tests/properties --ignore tests/contract \
    --ignore tests/refusals --ignore tests/browser --ignore tests/engines/spark "$@" || most=$?
# Two at a time: laws, the tests of the contract, which take long to import, and those of a browser, which needs a processor of its
# own. These processes use the loops in C, as most users do; all others use NumPy's, and a test compares the answers of both.
properties=0
step python -m pytest -n 2 --dist worksteal --compiled tests/properties tests/contract tests/refusals \
    tests/browser "$@" || properties=$?
spark_tests=0
wait "$spark" || spark_tests=$?
cat "$printed"
if [ "$most $properties $spark_tests" != "0 0 0" ]; then # `set -e` would overlook all but the last part of an `&&`
    exit 1
fi
coverage combine --quiet
step coverage report
