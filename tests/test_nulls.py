"""Nothing is null without a word: a null has a warning or a reason beside it, or the contract says what it means.

The requests have gaps: rows that form no curve, one class, few rows, no probabilities, open groups.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pytest

from tests.properties.bodies import arrow_body
from tests.support.asking import answered

Row = Mapping[str, Any]
"""What stands beside a null: the other members of its object, or the other cells of its row."""

SAMPLE = {"scores": [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], "labels": [1, 0, 1, 1, 0, 0]}
ALL = ["auc", "points", "interpolated_pr", "achievable_pr", "calibration", "statistics"]
POINTS = [
    {"metric": "precision_at_recall", "at": 0.5},
    {"metric": "recall_at_precision", "at": 0.99},
    {"metric": "recall_at_precision", "at": 0.1},
    {"metric": "tpr_at_fpr", "at": 0},
    {"metric": "f_measure", "at": 0.5},
]
CURVES = {
    "include": ALL,
    "intervals": {},
    "operating_points": POINTS,
    "partial": [{"over": "fpr", "to": 0.5}, {"over": "recall"}, {"over": "fpr", "to": 1, "min_tpr": 0.5}],
    "costs": {"prevalence": [0, 0.5, 1]},
}
MORE = {
    "include": ["statistics", "points"],
    "intervals": {},
    "decisions": [
        {"at_threshold": 0.75},
        {"at_threshold": 5},
        {"at_share": 0},
        {"at_recall": 1},
        {"best": "f1"},
        {"best": "recall", "min_precision": 1, "min_specificity": 1, "min_recall": 1},
    ],
    "metrics": ["precision", "npv", "mcc", "kappa", "lift", "lr_positive", "lr_negative", "markedness", "f1", "share"],
    "gains": {},
    "reliability": {"bins": 3, "by": "mass"},
    "net_benefit": {"thresholds": [0.1, 0.5, 0.75]},
}
"""Options about rows, shares and probabilities; net benefit is refused without probabilities."""
OF_SINGLE_SCORES = ("gains", "reliability", "net_benefit")
OPEN = {"score_from": [0.0, 0.5], "score_to": [0.4, 1.0], "positives": [1, 5], "negatives": [5, 1]}
SUMS = {"score": [0.2, 0.6, 0.8], "positives": [0.5, 1.5, 2.5], "negatives": [2.5, 1.5, 0.5]}
CLASSIFIERS = {"tp": [5, 10, 8], "fp": [5, 10, 20], "positives": 20, "negatives": 30}
STEPS = {"tp": [5, 10], "fp": [5, 10], "positives": 20, "negatives": 30}
THRESHOLDS = {"tp": [1, 2, 3], "fp": [0, 1, 3], "positives": 4, "negatives": 4, "threshold": [0.9, None, 0.1]}
EVALUATIONS: dict[str, dict[str, Any]] = {
    "plain": SAMPLE,
    "reversed": SAMPLE | {"lower_is_positive": True},
    "no probabilities": {"scores": [3, 2, 2, -1], "labels": [1, 0, 1, 0]},
    "rounded": {"scores": [1.0000000000000002, 0.8, -4e-16], "labels": [1, 0, 0]},
    "two rows": {"scores": [0.9, 0.2], "labels": [1, 0]},
    "a tie": {"scores": [0.5, 0.5, 0.5], "labels": [1, 0, 1]},
    "weights": SAMPLE | {"weights": [0.5, 1, 0, 2, 1, 1]},
    "one weight": {"scores": [0.9, 0.2, 0.1], "labels": [1, 0, 0], "weights": [1, 1e9, 1]},
    "soft labels": {"scores": [0.9, 0.2, 0.1], "soft_labels": [0.7, 0.5, 0]},
    "cut": SAMPLE | {"thresholds": [0.75, 5, -5]},
    "tuned": SAMPLE | {"tuning": SAMPLE},
    "classifiers": {"counts": CLASSIFIERS},
    "counts": {"counts": {"tp": [1, 2], "fp": [0, 1], "positives": 4, "negatives": 4}},
    "thresholds": {"counts": THRESHOLDS},
    "fractions": {"counts": {"tp": [0.5, 2], "fp": [0, 1], "positives": 4, "negatives": 4}},
    "groups": {"groups": {"score": [0.2, 0.8], "positives": [1, 5], "negatives": [5, 1]}},
    "sums": {"groups": SUMS},
    "squares": {"groups": SUMS | {"positives_squared": [0.25, 1, 2], "negatives_squared": [2, 1, 0.25]}},
    "open": {"groups": OPEN},
    "open sums": {"groups": OPEN | {"positives": [0.5, 1.5], "negatives": [1.5, 0.5]}},
}
RULES = [
    {"metric": "roc", "min": 0.9, "confidence": 0.95},
    {"metric": "roc_hull", "min": 0.9},
    {"metric": "pr_trapezoid", "min": 0.1},
    {"metric": "precision", "at_threshold": 5, "min": 0.1, "confidence": 0.95},
    {"metric": "recall", "at_threshold": 0.75, "min": 0.1},
    {"metric": "recall_at_precision", "at": 0.99, "min": 0.1},
    {"metric": "partial", "over": "fpr", "to": 0.1, "min": 0.1, "confidence": 0.9},
    {"metric": "mcc", "best": "mcc", "min": 0.1},
    *({"metric": name, "min": 0.1} for name in ("gini", "ks", "prg", "calibration_slope")),
    *({"metric": name, "max": 0.1} for name in ("eer", "brier", "log_loss", "miscalibration", "ece")),
]
DROPS = [
    {"metric": "roc", "max_drop": 0.1, "confidence": 0.9},
    {"metric": "roc", "max_drop": 0.1},
    {"metric": "roc_hull", "max_drop": 0.1},
    {"metric": "precision", "at_threshold": 5, "max_drop": 0.1, "confidence": 0.95},
    {"metric": "f_measure", "at": 0.5, "max_drop": 0.1},
    {"metric": "roc", "min": 0.1},
]
SLICED = SAMPLE | {
    "slices": {"country": ["DE", "DE", "FR", "FR", None, "IT"], "big": [True, True, None, None, True, False]}
}


def _about_rows(name: str) -> dict[str, Any]:
    """The options about rows that an evaluation takes."""
    if name.startswith("open"):
        left_out: tuple[str, ...] = OF_SINGLE_SCORES
        return {key: value for key, value in MORE.items() if key not in left_out} | {"include": ["points"]}
    left_out = ("net_benefit",) * (name == "no probabilities") + ("intervals",) * (name == "soft labels")
    return {key: value for key, value in MORE.items() if key not in left_out}


def _requests() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, evaluation in EVALUATIONS.items():
        of_curves = CURVES
        if name == "soft labels":
            of_curves = {key: value for key, value in CURVES.items() if key != "intervals"}
        if name.startswith("open"):
            of_curves = {key: value for key, value in CURVES.items() if key != "costs"} | {"include": ALL[:4]}
        yield name, "curves", evaluation | of_curves
        more = _about_rows(name)
        yield f"{name}, rows", "curves", evaluation | more
        yield f"{name}, rows, no intervals", "curves", evaluation | more | {"intervals": None}
        if "soft_labels" in evaluation or {"thresholds", "tuning"} & evaluation.keys():
            continue
        for method in ("bootstrap", "delong", "logit"):
            if method != "bootstrap" or "squares" not in name:
                yield f"{name}, {method}", "curves", evaluation | {"intervals": {"method": method}, "include": ["auc"]}
        yield name, "tradeoffs", evaluation | {"at_lambda": [0, 0.5, 1]}
        yield f"{name}, charged", "tradeoffs", evaluation | {"min_recall": 0.1, "lambda_range": [0.5, 1]}
        yield name, "gates", evaluation | {"rules": RULES, "intervals": {}}
        yield f"{name}, without", "gates", evaluation | {"rules": RULES}
        for baseline in (CLASSIFIERS, STEPS):
            against = {"rules": DROPS + RULES, "baseline": {"counts": baseline}}
            yield f"{name}, against {len(baseline['tp'])}", "gates", evaluation | against
            yield f"{name}, sure against {len(baseline['tp'])}", "gates", evaluation | against | {"intervals": {}}
        yield f"{name}, itself", "gates", evaluation | {"rules": DROPS, "baseline": evaluation}
        if not name.startswith("open"):
            named = [evaluation | {"name": "a"}, evaluation | {"name": "b"}]
            yield name, "comparisons", {"evaluations": named}
    yield "plain", "slices", SLICED | {"intervals": {}, "operating_points": POINTS}
    yield "delong", "slices", SLICED | {"intervals": {"method": "delong"}}
    yield (
        "weights",
        "slices",
        SLICED | {"weights": [1, 0, 1e-160, 1, 1, 1], "intervals": {}, "operating_points": POINTS},
    )
    yield "huge", "slices", SLICED | {"weights": [1, 1, 1e149, 1e-160, 1e149, 1e149]}
    groups = {"score": [0.2, 0.8, 0.2, 0.8], "positives": [1, 5, 0, 1], "negatives": [5, 1, 0, 0]}
    yield "groups", "slices", {"groups": groups, "slices": {"country": ["DE", "DE", "FR", "FR"]}, "intervals": {}}
    sums = groups | {"positives": [1, 0.5, 0, 1]}
    yield "sums", "slices", {"groups": sums, "slices": {"country": ["DE", "DE", "FR", "FR"]}, "intervals": {}}
    scores = {"a": [0.9, 0.2, 0.4], "b": [0.1, 0.8, 0.5], "c": [0, 0, 0.1]}
    yield "absent", "classes", {"scores": scores, "labels": ["a", "b", "a"]}
    yield "weightless", "classes", {"scores": scores, "labels": ["a", "b", "c"], "weights": [1, 1, 0]}
    yield "huge", "classes", {"scores": scores, "labels": ["a", "b", "c"], "weights": [1e308, 1e308, 1e308]}
    members = {"a": [1, 0, 1], "b": [1, 1, 1], "c": [0, 0, 1]}
    yield "memberships", "classes", {"scores": scores, "labels": members}


REQUESTS = {f"{operation}: {name}": (operation, body) for name, operation, body in _requests()}


def nulls(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Row]]:
    """Find the nulls of an answer, each with the names that lead to it and what stands beside it."""
    if not isinstance(value, dict):
        return
    rows = {len(column) for column in value.values() if isinstance(column, list)}
    for name, member in value.items():
        if member is None:
            yield (*path, name), value
        elif isinstance(member, list) and name != "warnings":
            for row, cell in enumerate(member):
                if isinstance(cell, dict):
                    yield from nulls(cell, (*path, name))
                elif cell is None:
                    beside = {key: column[row] for key, column in value.items() if isinstance(column, list)}
                    yield (*path, name), beside if len(rows) == 1 else {}
        else:
            yield from nulls(member, (*path, name))


def is_said(path: tuple[str, ...], beside: Row, warnings: str) -> bool:
    """Whether a reason stands beside a null, or a warning names it, or what it is a part of."""
    if beside.get("reason"):
        return True
    own = path[-1].removesuffix("_lower").removesuffix("_upper")
    names = [own, PARTS.get(path[0], own), beside.get("average", own)]
    if "intervals" in path or own != path[-1] or own in {"lower", "upper", "method"}:
        names += ["Intervals", "intervals"]
    if own in {"interval", "baseline"}:
        metric = beside["rule"]["metric"]
        told = (
            rf"[Ii]ntervals|interval.* of .*\b{metric}\b" if own == "interval" else rf"\b{metric}\b.* in the baseline"
        )
        return bool(re.search(told, warnings))
    return any(re.search(rf"\b{name}\b", warnings) for name in names)


PARTS = {"operating_points": "operating points", "partial": "partial areas"}
"""{part of an answer: what warnings call it}"""


def _of_no_row(path: tuple[str, ...], row: Row) -> bool:
    """Whether no row meets a decision, or counts have no row of a threshold."""
    return path[0] in {"decisions", "net_benefit"} and row["tp"] is None


def _is_undefined(path: tuple[str, ...], row: Row) -> bool:
    """Whether a metric of a row is 0/0 or x/0, or there is no row; the ends of its interval are then, too."""
    own = path[-1].removesuffix("_lower").removesuffix("_upper")
    if path[-1] != own and row[own] is None:
        return True
    divisors = {
        **dict.fromkeys(("precision", "lift"), ("tp", "fp")),
        "npv": ("fn", "tn"),
        "lr_positive": ("fp",),
        "lr_negative": ("tn",),
    }
    either = [("tp", "fp"), ("fn", "tn")] if own in {"mcc", "markedness"} else [divisors.get(own, ("positives",))]
    return _of_no_row(path, row) or any(all(row.get(name) == 0 for name in names) for names in either)


UNDEFINED = tuple(f"{name}{end}" for name in MORE["metrics"] for end in ("", "_lower", "_upper"))

DOCUMENTED: dict[str, Callable[[tuple[str, ...], Row], bool]] = {
    **dict.fromkeys(UNDEFINED, _is_undefined),
    **dict.fromkeys(("fn", "tn", "net_benefit", "standardized", "avoided", "lower", "upper"), _of_no_row),
    # A row that calls nothing positive, or everything, or that counts give none.
    "threshold": lambda *_: True,
    "ks_threshold": lambda *_: True,
    "eer_threshold": lambda *_: True,
    "score_from": lambda *_: True,
    "score_to": lambda *_: True,
    # Operating points: no row meets the condition, or nowhere does the curve.
    "value": lambda path, row: path[0] == "operating_points" and row["metric"] == "recall_at_precision",
    "tp": lambda path, row: _of_no_row(path, row) or row["metric"] == "recall_at_precision",
    "fp": lambda path, row: _of_no_row(path, row) or row["metric"] == "recall_at_precision",
    "value_lower": lambda _, row: row["metric"] == "recall_at_precision" and row["value"] is None,
    "value_upper": lambda _, row: row["metric"] == "recall_at_precision" and row["value"] is None,
    "roc": lambda path, _: path[0] == "pairs",  # one of the classes has no rows
    "min_tpr": lambda *_: True,
    "mcclish": lambda _, row: row["over"] == "recall" or row["min_tpr"] is not None,
    "uninformative_from": lambda *_: True,
    "standard_error": lambda *_: True,  # the methods exact and score have none, nor have open groups
    "reason": lambda _, row: row["roc"] is not None,
    "country": lambda *_: True,
    "big": lambda *_: True,
    "missing": lambda *_: True,  # cells that were not read
    "difference": lambda _, row: row["baseline"] is None or row["value"] is None,
    "p_value": lambda *_: True,
}
"""{name of a null whose meaning the contract states: whether it is one, by its path and what stands beside it}"""


def _not_asked(body: dict[str, Any]) -> set[str]:
    """The members of checks that are null because nothing asks for them."""
    return {own for own, option in {"interval": "intervals", "baseline": "baseline"}.items() if option not in body}


def silent(operation: str, body: dict[str, Any]) -> list[str]:
    answer = answered(operation, body)
    told = [warning["detail"] for warning in answer["warnings"]]
    warnings = " ".join(detail for detail in told if re.search("null|see reason", detail))
    return sorted(
        {
            ".".join(path)
            for path, beside in nulls(answer)
            if not is_said(path, beside, warnings)
            and path[-1] not in _not_asked(body)
            and not (path[-1] in DOCUMENTED and DOCUMENTED[path[-1]](path, beside))
        }
    )


@pytest.mark.parametrize("name", REQUESTS)
def test_nothing_is_null_without_a_word(name: str) -> None:
    operation, body = REQUESTS[name]
    assert silent(operation, body) == []


def test_a_reason_that_refers_to_a_warning_has_one() -> None:
    for operation, body in REQUESTS.values():
        if operation == "gates":
            answer = answered(operation, body)
            told = {warning["code"] for warning in answer["warnings"]} - {"below_chance", "loose_rule"}
            assert told or not any("warning" in check["reason"] for check in answer["checks"])


def test_cells_that_are_not_read_are_listed_without_values() -> None:
    body = arrow_body(pa.table({"lists": pa.array([[1], None])}))
    found = answered("columns", body, content_type="application/vnd.apache.arrow.stream")["columns"]
    assert (found["missing"], found["more"]) == ([None], [True])
