#!/bin/sh
# Starts the service on 127.0.0.1:${PORT:-8000}, evaluates an example, and serves until Ctrl-C.
# Needs python3 (3.11 or newer) with its venv module, and the package registry on the first run.
set -eu
cd "$(dirname "$0")/.."
sh deploy/setup.sh run
exec .venv/bin/python deploy/run.py
