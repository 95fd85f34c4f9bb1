"""A verdict as one document: the JSON answer, and the source of reports. Knows the gate's result."""

import math
from dataclasses import asdict
from typing import Any

from service.curves.evaluation import CurvesWarning
from service.inference.gate import Check, Gate
from service.inference.intervals import Interval
from service.inference.rules import Rule
from service.wire.answers.infinite import INFINITE_SCORES


def gate_document(gate: Gate) -> dict[str, Any]:
    """Write a verdict as the contract defines it; what does not exist is None."""
    infinite = any(math.isinf(check.rule.at_threshold or 0) for check in gate.checks)
    warnings = (*gate.warnings, *([INFINITE_SCORES] if infinite else []))
    return {
        "passed": gate.passed,
        "status": gate.status,
        "paired": gate.paired,
        "checks": [_check(check) for check in gate.checks],
        "warnings": [asdict(warning) for warning in warnings],
    }


def gate_of(document: dict[str, Any]) -> Gate:
    """Read a verdict back, for a client that has only the document."""
    checks = (
        Check(
            **check
            | {"rule": Rule.read(check["rule"]), "interval": check["interval"] and Interval(**check["interval"])}
        )
        for check in document["checks"]
    )
    warnings = (CurvesWarning(**warning) for warning in document["warnings"])
    return Gate(document["passed"], document["paired"], tuple(checks), tuple(warnings))


def _check(check: Check) -> dict[str, Any]:
    return {
        "rule": check.rule.given(),
        "status": check.status,
        "value": check.value,
        "interval": None if check.interval is None else asdict(check.interval),
        "baseline": check.baseline,
        "difference": check.difference,
        "p_value": check.p_value,
        "reason": check.reason,
        **({} if check.bounds is None else {"bounds": asdict(check.bounds)}),
    }
