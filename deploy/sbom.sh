#!/bin/sh
# Prints a bill of materials, CycloneDX in JSON: the package, and every requirement of a lock, requirements.txt by default, with its
# version and hashes. The same lock gives the same text. Needs the environment of deploy/test.sh. deploy/Dockerfile puts the bill into
# the image if it was written to deploy/requirements.cdx.json:
#
#   sh deploy/sbom.sh [LOCK] >deploy/requirements.cdx.json
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
export PATH
# cyclonedx-py warns that a list of requirements does not say which of them needs which.
export PYTHONWARNINGS=ignore::UserWarning:cyclonedx.model.bom
exec cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --validate "deploy/${1:-requirements.txt}"
