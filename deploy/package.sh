#!/bin/sh
# Makes the files of a release in a new directory: the sdist, the wheels, the contract, the bill of materials and their SHA-256
# sums. The wheels are built from the sdist, which proves that the sdist is complete: one for each platform with the compiled loops,
# which suits every Python, and one without them for all others. The same commit gives the same files.
# Needs the environment of deploy/test.sh; puts zig, which compiles for all platforms, into .release unless it is there.
#
#   sh deploy/package.sh DIRECTORY
set -eu
mkdir -p "$(dirname "${1:?a new directory}")"
mkdir "$1"
into=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PWD/.release/bin:$PATH"
export PATH
lock=deploy/requirements-release.txt
if ! cmp -s "$lock" .release/lock; then
    echo "rocpr: putting zig into .release; this downloads 100 MB" >&2
    rm -rf .release
    python3 -m venv .release
    .release/bin/pip --quiet install --require-hashes --only-binary :all: --requirement "$lock"
    cp "$lock" .release/lock
fi

version=$(hatchling version)
hatchling build --target sdist --directory "$into"

unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
tar -xzf "$into/rocpr-$version.tar.gz" -C "$unpacked"
wheel() {
    (cd "$unpacked/rocpr-$version" && env "$@" hatchling build --target wheel --directory "$into")
}
compiled_wheel() { # PLATFORM TARGET [OPTION]
    wheel "_PYTHON_HOST_PLATFORM=$1" "CC=python-zig cc -s -target $2 ${3:-}"
}
wheel ROCPR_COMPILED=off
compiled_wheel manylinux_2_17_x86_64 x86_64-linux-gnu.2.17
compiled_wheel manylinux_2_17_aarch64 aarch64-linux-gnu.2.17
compiled_wheel musllinux_1_2_x86_64 x86_64-linux-musl
compiled_wheel musllinux_1_2_aarch64 aarch64-linux-musl
# A library of macOS holds its name, by default the temporary path that it was compiled to.
compiled_wheel macosx_11_0_x86_64 x86_64-macos.11.0 -Wl,-install_name,sweep.library
compiled_wheel macosx_11_0_arm64 aarch64-macos.11.0 -Wl,-install_name,sweep.library
# A wheel that could not be compiled has the name of the one without the loops.
set -- "$into"/*.whl
if [ $# != 7 ]; then
    echo "rocpr: there are $# wheels instead of 7" >&2
    exit 1
fi
twine check --strict "$into"/*.whl "$into"/*.tar.gz

cp openapi.yaml "$into/openapi.yaml"
sh deploy/sbom.sh >"$into/rocpr-$version.cdx.json"
cd "$into"
sums=$(sha256sum -- *)
echo "$sums" >SHA256SUMS
