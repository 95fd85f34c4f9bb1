"""The examples for Prometheus and Grafana name existing metrics, and deploy/README.md says what these mean."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.app import create_app
from service.settings import read_settings

ALERTS = "deploy/prometheus/alerts.yml"
CONFIGURATION = "deploy/prometheus/prometheus.yml"
DASHBOARD = "deploy/grafana/rocpr.json"

_METRIC = re.compile(r"\brocpr_\w+")
_LABELS = re.compile(r"\b(rocpr_\w+)\{([^}]*)\}")


@pytest.fixture(scope="module")
def exposed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The content of /metrics after one evaluation."""
    app = create_app(read_settings({"ROCPR_RUNTIME_DIR": str(tmp_path_factory.mktemp("runtime"))}))
    client = app.test_client()
    client.post("/v1/curves", json={"scores": [0.9, 0.1], "labels": [1, 0]})
    return client.get("/metrics").text


@pytest.fixture(scope="module")
def samples(exposed: str) -> dict[str, set[str]]:
    """{name of a sample: its labels}."""
    found: dict[str, set[str]] = {}
    for line in exposed.splitlines():
        if not line.startswith("#"):
            name, _, rest = line.partition("{")
            labels = set(re.findall(r'(\w+)="', rest)) if rest else set()
            found.setdefault(name.partition(" ")[0], set()).update(labels)
    return found


def alert_expressions(root: Path) -> Iterator[str]:
    for group in yaml.safe_load((root / ALERTS).read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["expr"]


def dashboard_expressions(root: Path) -> Iterator[str]:
    for panel in json.loads((root / DASHBOARD).read_text())["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"]


def check_expressions(expressions: list[str], samples: dict[str, set[str]]) -> None:
    for expression in expressions:
        names = set(_METRIC.findall(expression))
        assert names <= samples.keys(), expression
        for name, matchers in _LABELS.findall(expression):
            # job and instance are Prometheus's own.
            assert set(re.findall(r"(\w+)\s*[=!]~?", matchers)) - {"job", "instance"} <= samples[name], expression
        for by in re.findall(r"by \(([^)]*)\)", expression):
            known = set().union({"job", "instance"}, *(samples[name] for name in names))
            assert {label.strip() for label in by.split(",")} <= known, expression


def test_alerts_name_what_there_is(root: Path, samples: dict[str, set[str]]) -> None:
    expressions = list(alert_expressions(root))
    assert len(expressions) == 8
    check_expressions(expressions, samples)


def test_the_dashboard_names_what_there_is(root: Path, samples: dict[str, set[str]]) -> None:
    expressions = list(dashboard_expressions(root))
    assert len(expressions) > 12
    check_expressions(expressions, samples)


def test_the_dashboard_shows_all_there_is(root: Path, exposed: str) -> None:
    shown = " ".join(dashboard_expressions(root))
    families = re.findall(r"^# TYPE (\w+)", exposed, re.MULTILINE)
    assert [name for name in families if name not in shown] == []


def test_every_alert_tells_what_is_wrong_and_what_to_do(root: Path) -> None:
    (group,) = yaml.safe_load((root / ALERTS).read_text())["groups"]
    names = [rule["alert"] for rule in group["rules"]]
    assert len(set(names)) == len(names)
    for rule in group["rules"]:
        assert rule.keys() <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in {"critical", "warning"}
        assert rule["annotations"].keys() == {"summary", "description"}


def test_panels_do_not_overlap(root: Path) -> None:
    places: dict[tuple[int, int], str] = {}
    panels: list[dict[str, Any]] = json.loads((root / DASHBOARD).read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        place = panel["gridPos"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert places.setdefault((x, y), panel["title"]) == panel["title"]
                assert x < 24


def test_prometheus_reads_metrics_and_the_alerts_next_to_it(root: Path) -> None:
    configuration = yaml.safe_load((root / CONFIGURATION).read_text())
    (job,) = configuration["scrape_configs"]
    assert (job["job_name"], job["metrics_path"]) == ("rocpr", "/metrics")
    assert [(root / CONFIGURATION).with_name(name).is_file() for name in configuration["rule_files"]] == [True]


def test_readme_lists_every_metric(root: Path, exposed: str) -> None:
    text = (root / "deploy/README.md").read_text(encoding="utf-8")
    documented = {name for line in text.splitlines() if line.startswith("| `rocpr_") for name in _METRIC.findall(line)}
    assert documented == set(re.findall(r"^# TYPE (\w+)", exposed, re.MULTILINE))


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool (Debian's package prometheus) is not installed")
@pytest.mark.parametrize("command", [["check", "config", CONFIGURATION], ["check", "rules", ALERTS]])
def test_promtool_accepts_it(root: Path, command: list[str]) -> None:
    checked = subprocess.run(["promtool", *command], cwd=root, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
