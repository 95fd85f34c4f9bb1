#!/bin/sh
# Lints openapi.yaml and the contract for generated clients with spectral and redocly; fails if either complains.
# Needs node with npm. The linters go into a temporary folder, or into CLIENTS_TOOLS, which is kept for the next run.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
[ -n "${PYTHON:-}" ] || sh deploy/setup.sh run
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
linters=${CLIENTS_TOOLS:-$work}/linters
[ -d "$linters/node_modules/@redocly" ] || npm install --silent --no-audit --no-fund --prefix "$linters" \
    @stoplight/spectral-cli@6.16 @redocly/cli@2.77
for contract in openapi.yaml service/contract/openapi-clients.yaml; do
    "$linters/node_modules/.bin/spectral" lint --ruleset deploy/spectral.yaml --fail-severity hint "$contract"
    REDOCLY_SUPPRESS_UPDATE_NOTICE=true REDOCLY_TELEMETRY=off \
        "$linters/node_modules/.bin/redocly" lint --config deploy/redocly.yaml --max-problems 1000 --format json "$contract" \
        > "$work/redocly.json" 2> "$work/log" || { cat "$work/redocly.json" "$work/log"; exit 1; }
    "$python" -c 'import json, sys; sys.exit(len(json.load(open(sys.argv[1]))["problems"]))' "$work/redocly.json" ||
        { cat "$work/redocly.json"; exit 1; }
    echo "$contract: redocly says nothing"
done
