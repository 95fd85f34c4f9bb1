#!/bin/sh
# Puts the tests' Spark server, some 500 MB, into .spark unless it is there. Needs the environment of deploy/test.sh; the
# server itself needs Java 17 or newer (Debian: default-jre-headless).
#
#   sh deploy/spark.sh
#
# Without it, the tests that need Spark are skipped. It is kept out of .venv, where pyspark is Spark Connect's client.
set -eu
cd "$(dirname "$0")/.."
lock=deploy/requirements-spark.txt
if cmp -s "$lock" .spark/lock; then
    exit 0
fi
echo "rocpr: putting Spark into .spark; this downloads 450 MB" >&2
rm -rf .spark
# Spark is published only as a source distribution; the locked setuptools just copies its files.
PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 .venv/bin/python -m pip --quiet install --require-hashes \
    --no-build-isolation --target .spark -r "$lock"
cp "$lock" .spark/lock
