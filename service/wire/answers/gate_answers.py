"""A verdict as a JSON document, and back."""

from typing import Any

from service.curves.clusters import ClusterCounts
from service.curves.evaluation import CurvesWarning
from service.inference.gate import Gate
from service.inference.intervals import Interval
from service.inference.rules import Rule
from service.inference.verdicts import Check
from service.wire.answers.infinite import FiniteScores


def interval_row(interval: Interval | None, *, clustered: bool) -> dict[str, Any] | None:
    """An interval as an object of an answer."""
    if interval is None:
        return None
    row = {each: getattr(interval, each) for each in ("lower", "upper", "level", "method", "standard_error")}
    return row | {"design_effect": interval.design_effect} if clustered else row


def check_object(check: Check, scores: FiniteScores, *, clustered: bool) -> dict[str, Any]:
    """Write a check as the contract defines it: what does not exist is None, and dataclasses are objects."""
    if check.rule.decision is not None:
        scores.finite(check.rule.decision.at_threshold)  # the rule has the finite one, but the answer must say so
    return {
        "rule": check.rule.given(),
        "status": check.status,
        "value": check.value,
        "interval": interval_row(check.interval, clustered=clustered),
        "baseline": check.baseline,
        "difference": check.difference,
        "p_value": check.p_value,
        "reason": check.reason,
        **({} if check.bounds is None else {"bounds": check.bounds}),
        **({} if check.rows_needed is None else {"rows_needed": check.rows_needed}),
        **({} if check.slices is None else {"slices": check.slices}),
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
    clusters = document.get("clusters")
    counts = clusters and ClusterCounts(**clusters)
    return Gate(document["paired"], tuple(checks), tuple(warnings), counts, document.get("prevalence"))
