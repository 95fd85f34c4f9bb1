#!/bin/sh
# Tries to break the service: the long form of what the tests try, with times. Takes about an hour, of which
# the last row takes 30 minutes; `sh deploy/soak.sh --only NAME` runs one row, --help tells their names.
# Needs what deploy/test.sh needs, and nginx and slowhttptest for one row, which is left out without them.
set -eu
cd "$(dirname "$0")/.."
sh deploy/setup.sh dev
exec .venv/bin/python -m tests.soak "$@"
