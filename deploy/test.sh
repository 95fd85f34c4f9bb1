#!/bin/sh
# Checks what a change needs to be trusted: style, types, layers, tests. --all checks everything, with coverage; for that,
# sh deploy/programs.sh installs what more of it needs, and the tests of what is missing are skipped. README.md says how long
# each takes. Stops at the first check that fails, but runs all of the tests. Other arguments go to pytest.
# Needs python3 (3.11 or newer) with its venv module, and the package registry on the first run.
set -eu
cd "$(dirname "$0")/.."
all=
if [ "${1:-}" = --all ]; then
    all=--all
    shift
fi
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
step lint-imports
# In a new checkout, compiles the tests beside mypy; otherwise, each of the processes below would compile them.
[ -e tests/__pycache__ ] || python -m pytest --collect-only -q $all > /dev/null 2>&1 &
step mypy --strict service
wait

if [ -z "$all" ]; then
    # More processes than processors, because some tests wait for a server.
    step python -m pytest -n 3 --dist worksteal "$@"
    exit
fi

coverage erase
# The tests of Spark, which share one server, run at the same time as all others.
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
step coverage run -m pytest --all tests/engines/spark "$@" > "$printed" 2>&1 &
spark=$!
# Many tests wait for a server to start or to time out. Some run without line counting (tests/uncounted.py).
most=0
step coverage run -m pytest --all -p tests.uncounted -n 5 --dist worksteal --ignore tests/properties --ignore tests/contract \
    --ignore tests/refusals --ignore tests/browser --ignore tests/engines/spark "$@" || most=$?
# Two at a time: laws, the tests of the contract, which take long to import, and those of a browser, which needs a processor of its
# own.
properties=0
step python -m pytest --all -n 2 --dist worksteal tests/properties tests/contract tests/refusals \
    tests/browser "$@" || properties=$?
# All references again, against the twin of the loops in C; requests that must be cheap are so with C.
plain=0
step python -m pytest -n 2 --dist worksteal --plain tests/curves tests/inference tests/golden tests/properties \
    --ignore tests/properties/test_small_requests.py --ignore tests/properties/test_corruptions.py "$@" || plain=$?
spark_tests=0
wait "$spark" || spark_tests=$?
cat "$printed"
if [ "$most $properties $plain $spark_tests" != "0 0 0 0" ]; then # `set -e` would overlook all but the last part of an `&&`
    exit 1
fi
coverage combine --quiet
step coverage report
