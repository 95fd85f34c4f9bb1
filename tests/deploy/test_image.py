"""The image is built and serves; skipped without buildah and a base image, as it takes minutes.

ROCPR_IMAGE_BASE names the base: a directory made by `debootstrap --variant=minbase
--include=python3,python3-venv,ca-certificates bookworm DIRECTORY`. It needs root, and the package registry.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.deploy.locks import build_bill, read_lock

pytestmark = pytest.mark.all

BASE = os.environ.get("ROCPR_IMAGE_BASE")
# How this machine reaches its package registry.
OF_PIP = [Path("/etc/pip.conf"), Path.home() / ".config/pip/pip.conf", Path("/etc/ssl/certs")]
IN_IMAGE = ["/etc/pip.conf", "/etc/xdg/pip/pip.conf", "/etc/ssl/certs"]
ASK = """
import json, os, subprocess, time, urllib.request
server = subprocess.Popen(["rocpr", "serve", "--host", "127.0.0.1", "--port", "18765"])
url = "http://127.0.0.1:18765"
for _ in range(100):
    try:
        urllib.request.urlopen(url + "/health/ready", timeout=5)
        break
    except OSError:
        time.sleep(0.1)
sample = {"scores": list(range(50_000)), "labels": [0, 1] * 25_000}
headers = {"Content-Type": "application/json"}
request = urllib.request.Request(url + "/v1/curves", json.dumps(sample).encode(), headers)
status = urllib.request.urlopen(request, timeout=60).status
server.terminate()
print(json.dumps([os.getuid(), status, server.wait(60)]))
"""
"""Requests a big evaluation from a server in the container: its evaluator and its files work there, too."""
MOST_BYTES = 260_000_000
"""The most bytes of the image's files above the base; 47 MB of pyarrow's are left out."""
LIST = """
import importlib.metadata, json
print(json.dumps({found.name: found.version for found in importlib.metadata.distributions()}))
"""
DOCUMENTS = "/usr/share/doc/rocpr"


@pytest.fixture(scope="module")
def context(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout with a bill of materials, as deploy/sbom.sh says to make one."""
    copy = tmp_path_factory.mktemp("context") / "rocpr"
    ignored = shutil.ignore_patterns(".venv", ".spark", ".git", ".*_cache", ".hypothesis", ".coverage*", "tests")
    shutil.copytree(root, copy, ignore=ignored)
    (copy / "deploy/requirements.cdx.json").write_text(build_bill(root))
    return copy


@pytest.fixture(scope="module")
def image(context: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of the image, in a separate store."""
    if shutil.which("buildah") is None or BASE is None:
        pytest.skip("there is no buildah on this machine, or ROCPR_IMAGE_BASE does not name a base")
    store = tmp_path_factory.mktemp("store")
    configuration = store / "storage.conf"
    configuration.write_text(f'[storage]\ndriver = "vfs"\nrunroot = "{store}/run"\ngraphroot = "{store}/graph"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTAINERS_STORAGE_CONF", str(configuration))
        patch.setenv("BUILDAH_ISOLATION", "chroot")
        base = buildah("from", "scratch")
        buildah("add", "--quiet", base, f"{BASE}/", "/")
        buildah("commit", "--quiet", base, "localhost/base")
        mounts = [f"--volume={here}:{there}:ro" for here, there in zip(OF_PIP, IN_IMAGE, strict=True) if here.exists()]
        options = ["--network=host", "--pull-never", "--format=docker", "--build-arg=BASE=localhost/base", *mounts]
        file = str(context / "deploy/Dockerfile")
        buildah("build", *options, "--file", file, "--tag", "localhost/rocpr", str(context))
        yield "localhost/rocpr"
        buildah("rm", "--all")
        buildah("rmi", "--all", "--force")


def buildah(*words: str) -> str:
    done = subprocess.run(["buildah", *words], capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.strip()


def test_the_image_serves_as_user_nobody(image: str) -> None:
    container = buildah("from", "--pull-never", image)
    printed = buildah("run", "--network=host", container, "--", "python", "-c", ASK)
    assert printed.splitlines()[-1] == "[10001, 200, 0]"


def test_the_image_is_small_and_has_a_user_and_a_health_check(image: str) -> None:
    """Its own layers, without the base."""
    found = json.loads(buildah("inspect", "--type", "image", image))["Docker"]
    assert found["config"]["User"] == "10001:10001"
    assert "/health/live" in found["config"]["Healthcheck"]["Test"][-1]
    container = buildah("from", "--pull-never", image)
    size = int(buildah("run", container, "--", "du", "--summarize", "--bytes", "/opt/rocpr").split()[0])
    assert size < MOST_BYTES


def test_the_image_holds_what_is_locked_and_says_so(image: str, context: Path) -> None:
    """No pip and no setuptools either, neither in the service's environment nor in the base's."""
    container = buildah("from", "--pull-never", image)
    installed = json.loads(buildah("run", container, "--", "python", "-c", LIST))
    locked = read_lock(context / "deploy/requirements.txt")
    assert {canonicalize_name(name) for name in installed} <= {requirement.name for requirement in locked} | {"rocpr"}
    find = "find /opt /usr -name 'pip-*.dist-info' -o -name 'setuptools-*.dist-info'"
    assert buildah("run", container, "--", "sh", "-c", find) == ""
    for name in ("requirements.txt", "requirements.cdx.json"):
        printed = buildah("run", container, "--", "cat", f"{DOCUMENTS}/{name}")
        assert printed == (context / "deploy" / name).read_text().strip()
