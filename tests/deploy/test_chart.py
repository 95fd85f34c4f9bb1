"""The chart renders to valid manifests whose limits fit the settings; skipped where there is no helm."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.settings import read_settings
from tests.deploy.test_containers import AFTER_THE_DRAIN, check_memory, check_restrictions, containers

EVERYTHING = [
    *("nginx.enabled=true", "autoscaling.enabled=true", "apiKeysSecret=keys", "settings.ROCPR_SLOTS=4"),
    *("ingress.enabled=true", "ingress.host=rocpr.example.org", "ingress.tlsSecret=tls", "ingress.className=nginx"),
    *("serviceMonitor.enabled=true", "serviceMonitor.labels.release=prometheus", "prometheusRule.enabled=true"),
    *("serviceMonitor.apiKeySecret.name=keys", "serviceMonitor.apiKeySecret.key=prometheus"),
    f"image.digest=sha256:{'0' * 64}",
]
SETS = {
    "as it is": [],
    "everything": EVERYTHING,
    "nginx": ["nginx.enabled=true"],
    "an ingress": ["ingress.enabled=true", "ingress.host=rocpr.example.org"],
    "no policy": ["networkPolicy.enabled=false", "image.tag=1.2.3"],
    "traces": [
        "settings.OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318",
        "networkPolicy.egress[0].ports[0].port=4318",
        "image.pullSecrets[0].name=registry",
    ],
}
KINDS_OF_OPERATOR = {"ServiceMonitor", "PrometheusRule"}
"""kubernetes-validate does not know them."""


@pytest.fixture(scope="module")
def helm(root: Path) -> str:
    found = shutil.which("helm", path=f"{root}/.helm") or shutil.which("helm")
    if found is None:
        pytest.skip("there is no helm on this machine; sh deploy/programs.sh gets one")
    return found


def run_helm(helm: str, root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([helm, *words], cwd=root, capture_output=True, text=True, timeout=60, check=False)


def rendered(helm: str, root: Path, values: list[str]) -> dict[str, dict[str, Any]]:
    words = [word for value in values for word in ("--set-string" if "settings" in value else "--set", value)]
    done = run_helm(helm, root, "template", "rocpr", "deploy/helm/rocpr", *words)
    assert done.returncode == 0, done.stderr
    return {each["kind"]: each for each in yaml.safe_load_all(done.stdout) if each}


@pytest.fixture(scope="module")
def pods(helm: str, root: Path) -> dict[str, dict[str, Any]]:
    return {
        name: rendered(helm, root, values)["Deployment"]["spec"]["template"]["spec"] for name, values in SETS.items()
    }


def test_lint(helm: str, root: Path) -> None:
    done = run_helm(helm, root, "lint", "--strict", "deploy/helm/rocpr")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", SETS)
def test_the_manifests_are_valid(helm: str, root: Path, tmp_path: Path, name: str) -> None:
    manifests = rendered(helm, root, SETS[name])
    assert ("ConfigMap" in manifests) == any("nginx.enabled" in value for value in SETS[name])
    paths = []
    for kind in manifests.keys() - KINDS_OF_OPERATOR:
        path = tmp_path / f"{kind}.yaml"
        path.write_text(yaml.safe_dump(manifests[kind]))
        paths.append(str(path))
    program = Path(sys.executable).with_name("kubernetes-validate")
    done = subprocess.run([program, "--strict", "--quiet", *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_everything_is_all_kinds(helm: str, root: Path) -> None:
    found = rendered(helm, root, EVERYTHING)
    assert len(found) == 9
    assert found["ConfigMap"]["data"]["nginx.conf"] == (root / "deploy/nginx.conf").read_text()
    alerts = yaml.safe_load((root / "deploy/prometheus/alerts.yml").read_text())
    assert found["PrometheusRule"]["spec"] == alerts
    assert "replicas" not in found["Deployment"]["spec"]
    assert found["ServiceMonitor"]["spec"]["jobLabel"] in found["Service"]["metadata"]["labels"]
    (endpoint,) = found["ServiceMonitor"]["spec"]["endpoints"]
    assert endpoint["port"] in {port["name"] for port in found["Service"]["spec"]["ports"]}


def test_pods_are_restricted_and_limited(pods: dict[str, dict[str, Any]]) -> None:
    for pod in pods.values():
        check_restrictions(pod)
        check_memory(containers(pod)["rocpr"]["resources"]["limits"]["memory"])
        assert all({"livenessProbe", "readinessProbe"} <= set(container) for container in pod["containers"])


def test_pods_go_in_order(pods: dict[str, dict[str, Any]]) -> None:
    """nginx accepts requests for some seconds and then none; the service accepts them for longer than nginx does."""
    for pod in pods.values():
        both = containers(pod)
        (drain,) = (int(each["value"]) for each in both["rocpr"]["env"] if each["name"] == "ROCPR_DRAIN_SECONDS")
        assert drain + AFTER_THE_DRAIN < pod["terminationGracePeriodSeconds"]
        probe = both["rocpr"]["readinessProbe"]
        waits = int(both["nginx"]["lifecycle"]["preStop"]["exec"]["command"][1]) if "nginx" in both else drain
        assert probe["periodSeconds"] * probe["failureThreshold"] < waits <= drain


def test_what_it_sets_is_a_setting(pods: dict[str, dict[str, Any]]) -> None:
    for pod in pods.values():
        variables = containers(pod)["rocpr"]["env"]
        assert len({each["name"] for each in variables}) == len(variables)
        read_settings({each["name"]: each["value"] for each in variables if each["name"].startswith("ROCPR_")})


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("ingress.enabled=true", "host"),
        ("settings.SLOTS=4", "SLOTS"),
        ("settings.ROCPR_DRAIN_SECONDS=1", "ROCPR_DRAIN_SECONDS"),
        ("imagge.tag=1", "imagge"),
        ("image.digest=latest", "digest"),
    ],
)
def test_a_wrong_value_is_refused(helm: str, root: Path, value: str, told: str) -> None:
    done = run_helm(helm, root, "template", "rocpr", "deploy/helm/rocpr", "--set", value)
    assert done.returncode != 0
    assert told in done.stderr


def test_its_versions_are_the_packages(root: Path) -> None:
    chart = yaml.safe_load((root / "deploy/helm/rocpr/Chart.yaml").read_text())
    (version,) = re.findall(r'^version = "(.+)"$', (root / "pyproject.toml").read_text(), re.MULTILINE)
    assert (chart["version"], chart["appVersion"]) == (version, version)
