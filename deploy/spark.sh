#!/bin/sh
# Puts the Spark server of the tests into .spark, unless it is there: some 500 MB. Needs the environment of deploy/test.sh;
# running it needs Java 17 or newer (Debian: default-jre-headless).
#
#   sh deploy/spark.sh
#
# Without it the tests that need Spark skip. It stays out of .venv, where the package of its name is Spark Connect's client.
set -eu
cd "$(dirname "$0")/.."
lock=deploy/requirements-spark.txt
if cmp -s "$lock" .spark/lock; then
    exit 0
fi
echo "rocpr: putting Spark into .spark; this downloads 450 MB" >&2
rm -rf .spark
# Spark is published as source alone: files that setuptools, locked like all else, copies.
PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 .venv/bin/python -m pip --quiet install --require-hashes \
    --no-build-isolation --target .spark -r "$lock"
cp "$lock" .spark/lock
