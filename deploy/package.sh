#!/bin/sh
# Makes the files of a release in a new directory: the sdist, the wheel, the contract, the bill of materials and their SHA-256
# sums. The wheel is built from the sdist, which proves that the sdist is complete. The same commit gives the same files.
# Needs the environment of deploy/test.sh; downloads nothing.
#
#   sh deploy/package.sh DIRECTORY
set -eu
mkdir -p "$(dirname "${1:?a new directory}")"
mkdir "$1"
into=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
export PATH

version=$(hatchling version)
hatchling build --target sdist --directory "$into"

unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
tar -xzf "$into/rocpr-$version.tar.gz" -C "$unpacked"
# Without compiled loops, which would tie the wheel to this platform.
(cd "$unpacked/rocpr-$version" && ROCPR_COMPILED=off hatchling build --target wheel --directory "$into")

cp openapi.yaml "$into/openapi.yaml"
sh deploy/sbom.sh >"$into/rocpr-$version.cdx.json"
cd "$into"
sums=$(sha256sum -- *)
echo "$sums" >SHA256SUMS
