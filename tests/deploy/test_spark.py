"""The Spark server of deploy/spark: well-formed, restricted, and started like the one that the tests use."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.test_containers import check_restrictions, run
from tests.engines.spark.server import CONNECT

FILES = ("deployment.yaml", "service.yaml", "networkpolicy.yaml", "cronjob.yaml")
PORT = 15002
"""The default port of Spark Connect."""


@pytest.fixture(scope="module")
def manifests(root: Path) -> dict[str, Any]:
    return {name: yaml.safe_load((root / "deploy/spark" / name).read_text()) for name in FILES}


@pytest.fixture(scope="module")
def compose(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "deploy/compose.yaml").read_text())["services"]


def pod_of(manifest: dict[str, Any]) -> dict[str, Any]:
    spec = manifest["spec"]
    return (spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec)["template"]["spec"]


@pytest.mark.all
def test_the_manifests_are_well_formed(root: Path) -> None:
    kustomization = yaml.safe_load((root / "deploy/spark/kustomization.yaml").read_text())
    assert tuple(kustomization["resources"]) == FILES
    assert {path.name for path in (root / "deploy/spark").glob("*.yaml")} == {*FILES, "kustomization.yaml"}
    run("kubernetes-validate", "--strict", "--quiet", *(f"deploy/spark/{name}" for name in FILES), root=root)


def test_only_the_job_reaches_the_server(manifests: dict[str, Any]) -> None:
    policy = manifests["networkpolicy.yaml"]["spec"]
    labels = manifests["deployment.yaml"]["spec"]["template"]["metadata"]["labels"]
    assert policy["podSelector"]["matchLabels"] == manifests["service.yaml"]["spec"]["selector"] == labels
    (way,) = policy["ingress"]
    (who,) = way["from"]
    job = manifests["cronjob.yaml"]["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
    assert who["podSelector"]["matchLabels"] == job
    assert policy["egress"] == []


def test_the_job_asks_the_service(manifests: dict[str, Any]) -> None:
    (container,) = pod_of(manifests["cronjob.yaml"])["containers"]
    service = manifests["service.yaml"]
    (port,) = service["spec"]["ports"]
    assert f"--remote=sc://{service['metadata']['name']}:{port['port']}" in container["args"]
    (server,) = pod_of(manifests["deployment.yaml"])["containers"]
    assert {"name": port["targetPort"], "containerPort": PORT} in server["ports"]


@pytest.mark.parametrize("name", ["deployment.yaml", "cronjob.yaml"])
def test_its_pods_are_restricted_and_limited(manifests: dict[str, Any], name: str) -> None:
    pod = pod_of(manifests[name])
    check_restrictions(pod)
    assert pod["automountServiceAccountToken"] is False


def test_the_image_starts_what_the_tests_start(root: Path, manifests: dict[str, Any], compose: dict[str, Any]) -> None:
    text = (root / "deploy/spark/Dockerfile").read_text().replace("\\\n", " ")
    entry, words = (json.loads(re.search(rf"^{key} (\[.*)$", text, re.MULTILINE)[1]) for key in ("ENTRYPOINT", "CMD"))
    assert entry[entry.index("--class") + 1] == CONNECT
    (server,) = pod_of(manifests["deployment.yaml"])["containers"]
    for command in (words, server["args"], compose["spark"]["command"]):
        assert command[-1] == "spark-internal"
        assert command[:2] == ["--master", "local[*]"]
    for path in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        assert all((root / "deploy" / name).is_file() for name in path.split())


def test_in_compose_it_is_asked_for_and_listens_on_loopback_alone(compose: dict[str, Any]) -> None:
    spark = compose["spark"]
    assert spark["profiles"] == ["spark"]
    assert "spark.connect.grpc.binding.address=127.0.0.1" in spark["command"]
    assert not any(f":{PORT}" in port for port in compose["rocpr"]["ports"])
