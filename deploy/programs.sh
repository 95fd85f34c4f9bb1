#!/bin/sh
# Installs the programs that deploy/test.sh --all needs beside Python's packages, on Debian or Ubuntu: nginx, slowhttptest, Java,
# PostgreSQL and Chromium, and Spark's server into .spark. Ubuntu has no package of Chromium; the tests of the page are skipped there.
set -eu
cd "$(dirname "$0")/.."
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
install="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends"
$sudo apt-get -qq update
$install nginx-light slowhttptest default-jre-headless postgresql
$install chromium fonts-dejavu-core || echo "rocpr: Chromium could not be installed; the tests of the page are skipped" >&2
sh deploy/setup.sh dev
sh deploy/spark.sh
