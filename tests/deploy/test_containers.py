"""The files for containers are well-formed, name existing things, and fit the settings."""

import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.settings import read_settings

SETTINGS = read_settings({})
GIBIBYTE = 1024**3
AFTER_THE_DRAIN = SETTINGS.big_seconds + 30
"""What gunicorn.conf.py adds to the drain, in seconds."""
BILL = "deploy/requirements.cdx.json"
"""What deploy/sbom.sh writes; an image is made without it, too."""


def run(*command: str | Path, root: Path) -> None:
    program = Path(sys.executable).parent / command[0]
    done = subprocess.run([program, *command[1:]], cwd=root, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


@pytest.fixture(scope="module")
def compose(root: Path) -> dict[str, Any]:
    return load(root / "deploy/compose.yaml")


def containers(pod: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {container["name"]: container for container in pod["containers"]}


def test_scripts(root: Path) -> None:
    run("shellcheck", ".ci/run", *sorted((root / "deploy").glob("*.sh")), root=root)


def test_dockerfile(root: Path) -> None:
    run("hadolint", "--failure-threshold", "style", "deploy/Dockerfile", "deploy/spark/Dockerfile", root=root)


def test_the_image_gets_what_it_copies(root: Path) -> None:
    """Exactly the paths that are copied from the checkout exist and pass .dockerignore."""
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", (root / "deploy/Dockerfile").read_text(), re.MULTILINE)
    patterns = {path for line in copies for path in line.split()}
    ignored, *rest = re.findall(r"^(?!#)(.+)$", (root / ".dockerignore").read_text(), re.MULTILINE)
    assert ignored == "*"
    let_through = {line.removeprefix("!") for line in rest if line.startswith("!")}
    assert all((root / path).exists() for path in let_through - {BILL})
    assert all(any(fnmatchcase(path, pattern) for pattern in patterns) for path in let_through)
    assert all(any(fnmatchcase(path, pattern) for path in let_through - {BILL}) for pattern in patterns)


def check_memory(limit: str) -> None:
    assert int(re.match(r"\d+", limit)[0]) * GIBIBYTE > SETTINGS.slots * SETTINGS.big_memory_bytes


def check_restrictions(pod: dict[str, Any]) -> None:
    assert pod["securityContext"]["runAsNonRoot"]
    volumes = {volume["name"] for volume in pod["volumes"]}
    for container in pod["containers"]:
        security = container["securityContext"]
        assert security["readOnlyRootFilesystem"]
        assert not security["allowPrivilegeEscalation"]
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes


def test_memory_holds_the_helpers(compose: dict[str, Any]) -> None:
    check_memory(compose["services"]["rocpr"]["mem_limit"])


def test_compose_names_what_there_is(root: Path, compose: dict[str, Any]) -> None:
    used = set()
    for service in compose["services"].values():
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            if source.startswith("."):
                assert (root / "deploy" / source).exists(), source
            else:
                used.add(source)
        assert set(service.get("depends_on", {})) <= set(compose["services"])
        if "build" in service:
            assert (root / "deploy" / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    assert used == set(compose["volumes"])


def test_compose_restricts_and_limits(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert {"mem_limit", "pids_limit"} <= set(service)
        # The service's is that of its image.
        assert "healthcheck" in service or name == "rocpr"
    rocpr = compose["services"]["rocpr"]
    drain = rocpr["environment"]["ROCPR_DRAIN_SECONDS"]
    assert drain + AFTER_THE_DRAIN < int(rocpr["stop_grace_period"].removesuffix("s"))


def test_compose_has_one_network_in_which_the_files_are_right(root: Path, compose: dict[str, Any]) -> None:
    """The service listens only on loopback, where nginx.conf and prometheus.yml look for it."""
    services = compose["services"]
    assert {services[name]["network_mode"] for name in ("nginx", "prometheus", "spark")} == {"service:rocpr"}
    assert services["rocpr"]["command"] == ["serve", "--host", "127.0.0.1", "--port", "8000"]
    assert "server 127.0.0.1:8000;" in (root / "deploy/nginx.conf").read_text()
    (job,) = load(root / "deploy/prometheus/prometheus.yml")["scrape_configs"]
    assert job["static_configs"] == [{"targets": ["127.0.0.1:8000"]}]
    assert not any(port.endswith(":8000") for port in services["rocpr"]["ports"])


def test_workflow(root: Path) -> None:
    """It runs the commands that README names, and builds the image with its bill of materials."""
    workflow = load(root / ".github/workflows/ci.yml")
    assert set(workflow[True]) == {"schedule", "push", "pull_request", "workflow_call"}  # how YAML reads the key `on`
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    commands = [step["run"] for step in steps if "run" in step]
    for command in ("sh deploy/test.sh", "sh deploy/test.sh --all"):
        assert command in commands
        assert command in (root / "README.md").read_text()
    bill = [step["with"]["path"] for step in steps if step.get("with", {}).get("name") == "sbom"]
    assert f"sh deploy/sbom.sh >{BILL}" in commands
    assert bill == [BILL]
    named = {path for command in commands for path in re.findall(r"(?<![\w/])deploy/[\w./-]+", command)}
    scripts = {f"deploy/{name}.sh" for name in ("test", "programs", "image", "setup", "sbom", "contract", "clients")}
    assert named == {*scripts, BILL}
    assert all((root / path).is_file() for path in named - {BILL})
    assert all(job["timeout-minutes"] for job in workflow["jobs"].values())
