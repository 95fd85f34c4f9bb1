#!/bin/sh
# Makes .venv from a lock, unless it is up to date. Outside the checkout, it writes only pip's temporary files.
# .venv holds the package and what the lock names, and no other pip or setuptools.
# Everything is installed from wheels except pyspark-client, which has none: the locked setuptools builds it for the tests.
#
#   sh deploy/setup.sh [run]         what the service needs; an environment for tests will do
#   sh deploy/setup.sh dev           that and what the tests need
#   sh deploy/setup.sh run|dev check fails unless it is up to date; makes nothing
#
# The file .venv/rocpr-stamp records what an environment was made from: the lock, the package's settings, the C sources and
# deploy/build_hook.py, the directory, the version of Python, and this file.
set -eu
kind=${1:-run}
case $kind in
    run) lock=deploy/requirements.txt ;;
    dev) lock=deploy/requirements-dev.txt ;;
    *)
        echo "usage: sh deploy/setup.sh [run|dev] [check]" >&2
        exit 2
        ;;
esac
cd "$(dirname "$0")/.."

if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "rocpr needs python3 3.11 or newer; found: $(python3 --version 2>&1 || true)" >&2
    exit 1
fi

stamp_of() {
    python3 - "$1" <<'PYTHON'
import hashlib, pathlib, sys, tomllib

lock = {"run": "requirements.txt", "dev": "requirements-dev.txt"}[sys.argv[1]]
settings = tomllib.loads(pathlib.Path("pyproject.toml").read_text("utf-8"))
package = [settings["build-system"], settings["project"], settings["tool"]["hatch"]]
compiled = sorted(pathlib.Path("service/curves/sweep").glob("*.[ch]"))
digest = hashlib.sha256(f"{sys.version} {pathlib.Path.cwd()} {package}".encode())
for path in (pathlib.Path("deploy", lock), pathlib.Path("deploy/setup.sh"), pathlib.Path("deploy/build_hook.py"), *compiled):
    digest.update(path.read_bytes())
print(sys.argv[1], digest.hexdigest())
PYTHON
}

wanted=$(stamp_of "$kind")
present=$(cat .venv/rocpr-stamp 2>/dev/null || true)
if [ "$present" = "$wanted" ] || { [ "$kind" = run ] && [ "$present" = "$(stamp_of dev)" ]; }; then
    exit 0
fi
if [ "${2:-}" = check ]; then
    echo "rocpr: .venv is missing or out of date" >&2
    exit 1
fi

echo "rocpr: making .venv from $lock; this downloads packages and may take a minute" >&2
# The service may be running from .venv, so what the tests need is added to it; any other change makes a new .venv.
if [ "$present" != "$(stamp_of run)" ]; then
    rm -rf .venv
    python3 -m venv --without-pip .venv
fi
rm -f .venv/rocpr-stamp
# Python's own pip and setuptools may be years old and have known vulnerabilities. That pip therefore runs from a separate
# environment, which is then deleted.
installer=.venv/installer
rm -rf "$installer"
python3 -m venv "$installer"
pip="env PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 $installer/bin/python -m pip --quiet --python .venv/bin/python"
if [ "$kind" = dev ]; then
    $pip install --require-hashes --only-binary :all: -r deploy/requirements-build.txt
fi
$pip install --require-hashes --only-binary :all: --no-binary pyspark-client --no-build-isolation -r "$lock"
$pip install --no-deps --no-build-isolation -e .
[ -e service/curves/sweep/sweep.library ] || echo "rocpr: no compiled loops: big evaluations take 10 to 50 times as long (deploy/README.md)" >&2
rm -rf "$installer"
echo "$wanted" > .venv/rocpr-stamp
