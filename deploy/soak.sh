#!/bin/sh
# Tries to break the service, for longer than the tests do, and measures times. Takes about 80 minutes, 30 of them for
# the last row; `sh deploy/soak.sh --only NAME` runs one row, and --help lists the names.
# Needs what deploy/test.sh needs. One row also needs nginx and slowhttptest, two need the repository's whole history,
# and parts of one need root. What cannot be run is left out, and the report says so.
set -eu
cd "$(dirname "$0")/.."
sh deploy/setup.sh dev
exec .venv/bin/python -m tests.tools.soak "$@"
