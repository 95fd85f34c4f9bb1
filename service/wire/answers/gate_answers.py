"""A verdict as one document: what JSON holds, and what reports are laid out from. Knows the gate's result."""

from dataclasses import asdict
from typing import Any

from service.inference.gate import Check, Gate


def gate_document(gate: Gate) -> dict[str, Any]:
    """Write a verdict as the contract has it; what does not exist is None."""
    return {
        "passed": gate.passed,
        "status": gate.status,
        "paired": gate.paired,
        "checks": [_check(check) for check in gate.checks],
        "warnings": [asdict(warning) for warning in gate.warnings],
    }


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
    }
