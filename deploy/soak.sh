#!/bin/sh
# Tries to break the service: the long form of what the tests try, with times. Takes about 80 minutes, of which
# the last row takes 30; `sh deploy/soak.sh --only NAME` runs one row, --help tells their names.
# Needs what deploy/test.sh needs, nginx and slowhttptest for one row, the whole history of the repository for two,
# and root for parts of one; what is missing is left out, and the report says so.
set -eu
cd "$(dirname "$0")/.."
sh deploy/setup.sh dev
exec .venv/bin/python -m tests.soak "$@"
