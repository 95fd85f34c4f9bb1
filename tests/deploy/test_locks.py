"""The locks: all entries are hashed, in the bill of materials, audited, and equal to the content of .venv."""

import json
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
import yaml
from packaging.utils import canonicalize_name

from tests.deploy.locks import DEV, ENGINES, LOCKS, RUN, SPARK, build_bill, read_lock, with_our_programs

LIST = """
import importlib.metadata, json
print(json.dumps([[found.name, found.version] for found in importlib.metadata.distributions()]))
"""


def test_everything_locked_has_hashes(root: Path) -> None:
    """The tests run with what the service runs with; no lock has the address of a registry."""
    run, build, engines, dev, spark, release = (set(read_lock(root / lock)) for lock in LOCKS)
    assert run < engines < dev
    assert build < dev
    assert all(requirement.hashes for requirement in dev | spark | release)
    assert not any("://" in (root / lock).read_text() for lock in LOCKS)


def test_the_server_and_the_client_of_spark_are_never_in_one_environment(root: Path) -> None:
    """Their packages have the same name in Python."""
    names = {lock: {one.name for one in read_lock(root / lock)} for lock in LOCKS}
    assert [lock for lock in LOCKS if "pyspark" in names[lock]] == [SPARK]
    assert [lock for lock in LOCKS if "pyspark-client" in names[lock]] == [ENGINES, DEV]


@pytest.mark.all
def test_the_bill_of_materials_names_every_requirement(root: Path, *, runs_all: bool) -> None:
    from cyclonedx.schema import SchemaVersion  # takes a second, in each process that collects tests
    from cyclonedx.validation.json import JsonStrictValidator

    text = build_bill(root)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    component = bill["metadata"]["component"]
    assert (component["name"], component["version"]) == ("rocpr", project["version"])
    billed = Counter()
    for component in bill["components"]:
        hashes = [one for place in component["externalReferences"] for one in place["hashes"]]
        assert {one["alg"] for one in hashes} == {"SHA-256"}
        assert component["purl"] == f"pkg:pypi/{component['name']}@{component['version']}"
        billed[component["name"], component["version"], frozenset(one["content"] for one in hashes)] += 1
    assert billed == Counter((one.name, one.version, one.hashes) for one in read_lock(root / RUN))
    if runs_all:
        assert build_bill(root) == text


class Advisories(BaseHTTPRequestHandler):
    """A database of vulnerabilities with one in each package of `known`."""

    known: ClassVar[frozenset[str]] = frozenset()
    asked: ClassVar[set[tuple[str, str]]] = set()

    def do_POST(self) -> None:
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        package = query["package"]
        self.asked.add((package["name"], query["version"]))
        found = {"id": "MADE-UP-1", "summary": "Made up.", "affected": [{"package": package, "ranges": []}]}
        body = json.dumps({"vulns": [found]} if package["name"] in self.known else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def advisories() -> Iterator[str]:
    """The address of such a database on this machine."""
    Advisories.known, Advisories.asked = frozenset(), set()
    with ThreadingHTTPServer(("127.0.0.1", 0), Advisories) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def audit(root: Path) -> list[str]:
    """The arguments of the command in the workflow."""
    workflow = yaml.safe_load((root / ".github/workflows/audit.yml").read_text())
    assert workflow[True].keys() == {"schedule", "workflow_dispatch", "push", "pull_request"}
    (job,) = workflow["jobs"].values()
    *_, install, command = [step["run"] for step in job["steps"] if "run" in step]
    assert install == "sh deploy/setup.sh dev"
    return shlex.split(command)


@pytest.mark.all
@pytest.mark.parametrize(
    "known", [frozenset(), frozenset({"numpy", "pytest", "pyspark"})], ids=["nothing", "in each lock"]
)
def test_the_audit_asks_about_what_is_locked_for_this_python(
    root: Path, audit: list[str], advisories: str, tmp_path: Path, *, known: frozenset[str]
) -> None:
    Advisories.known = known
    program, *words = audit
    assert program == ".venv/bin/pip-audit"
    options = ["--vulnerability-service=osv", f"--osv-url={advisories}", f"--cache-dir={tmp_path}"]
    done = subprocess.run(
        [Path(sys.executable).with_name("pip-audit"), *words, *options],
        cwd=root,
        env=with_our_programs(NO_PROXY="127.0.0.1"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == bool(known), done.stderr
    assert {line.split()[0] for line in done.stdout.splitlines() if "MADE-UP-1" in line} == known
    locked = {(one.name, one.version) for lock in LOCKS for one in read_lock(root / lock)}
    assert Advisories.asked <= locked
    assert {name for name, _ in Advisories.asked} == {name for name, _ in locked} - {
        "colorama",
        "pywin32-ctypes",
    }  # of another system


@pytest.mark.all
def test_the_environment_holds_what_is_locked_and_no_more(root: Path) -> None:
    """It has no pip or setuptools from the Python that made it."""
    stamp = root / ".venv/rocpr-stamp"
    kind = stamp.read_text().split()[0] if stamp.exists() else "run"
    if subprocess.run(["sh", "deploy/setup.sh", kind, "check"], cwd=root, check=False, capture_output=True).returncode:
        pytest.skip(".venv was not made by deploy/setup.sh from the present lock")
    printed = subprocess.run([root / ".venv/bin/python", "-I", "-c", LIST], capture_output=True, text=True, check=True)
    installed = {(canonicalize_name(name), version) for name, version in json.loads(printed.stdout)}
    locked = {(one.name, one.version) for one in read_lock(root / {"run": RUN, "dev": DEV}[kind])}
    assert {one for one in installed if one[0] != "rocpr"} <= locked
    assert not (root / ".venv/installer").exists()
