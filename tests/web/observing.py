"""An observed application, for tests of its reports."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from flask import Flask

from service.app import create_app
from service.settings import read_settings

Lines = Callable[[], list[dict[str, Any]]]
"""Reads the lines logged since the last call."""

CURVES = "/v1/curves"
GATES = "/v1/gates"
CANARY = "canary7731"
SAMPLE = {"scores": [0.9, 0.6, 0.4, 0.1], "labels": [1, 0, 1, 0], "include": ["auc"]}
FAILING = {
    **{key: SAMPLE[key] for key in ("scores", "labels")},
    "rules": [{"metric": "roc", "min": 1}],
    "fail_status": 409,
}


def observed_app(directory: Path, level: str = "info") -> Flask:
    variables = {"ROCPR_LOG_LEVEL": level, "ROCPR_RUNTIME_DIR": str(directory), "ROCPR_MAX_BODY_BYTES": "10000"}
    return create_app(read_settings(variables))
