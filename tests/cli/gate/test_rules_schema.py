"""`rocpr gate --schema`: what an editor knows of RULES.toml is what the command takes."""

import json
import tomllib
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from service.inference.rules import RULE_KEYS
from tests.cli.gate.gating import DATA, rocpr
from tests.reference_gate import metrics


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    run = rocpr("--schema")
    assert (run.exit_code, run.stderr) == (0, "")
    schema = json.loads(run.stdout)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_it_takes_every_metric_and_key(validator: Draft202012Validator) -> None:
    assert validator.is_valid(tomllib.loads((DATA / "rules.toml").read_text()))
    for metric in metrics():
        assert validator.is_valid({"rules": [metric | {"min": 0.5}]}), metric
    assert validator.is_valid(
        {"rules": [{"metric": "roc", "max": 1}], "intervals": {"seed": 1}, "baseline": {"scores": "p"}}
    )
    rule = validator.schema["properties"]["rules"]["items"]
    assert set(rule["properties"]) == set(RULE_KEYS)
    assert all(each["description"] for each in rule["properties"].values())


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"rules": []},
        {"rules": [{"metric": "roc"}]},
        {"rules": [{"metric": "roc", "min": 0.5, "max": 0.9}]},
        {"rules": [{"metric": "auc", "min": 0.5}]},
        {"rules": [{"metric": "roc", "min": "0.5"}]},
        {"rules": [{"metric": "roc", "min": 0.5, "confidnce": 0.9}]},
        {"rules": [{"metric": "roc", "min": 0.5, "severity": "error"}]},
        {"rules": [{"metric": "roc", "min": 0.5}], "pared": True},
    ],
    ids=str,
)
def test_it_refuses_what_the_command_refuses(validator: Draft202012Validator, document: dict[str, Any]) -> None:
    assert not validator.is_valid(document)
