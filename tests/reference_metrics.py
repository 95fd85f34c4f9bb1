"""Metrics of a confusion matrix by their textbook formulas, and decisions by trying every row, in exact fractions.

Rates and metrics that decisions compare are the doubles that an answer reports. Nothing here may import the service.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath

from tests.reference import Row, Table, correctly_rounded

Exact = Fraction | mpmath.mpf
QUOTIENTS = (
    *("accuracy", "precision", "ppv", "recall", "sensitivity", "tpr", "specificity", "npv", "fpr", "fnr"),
    *("f1", "f2", "f0_5", "jaccard", "share"),
)
"""The metrics that are a quotient of two counts."""

LESS_IS_BETTER = ("fpr", "fnr", "lr_negative")
LIMITED = {
    "min_precision": "precision",
    "min_recall": "recall",
    "min_specificity": "specificity",
    "max_fpr": "fpr",
    "max_share": "share",
}
"""{limit: what it limits}"""


def ratio(part: Fraction | None, whole: Fraction | None) -> Fraction | None:
    """The quotient; None if there is none."""
    return None if part is None or not whole else part / whole


def f_beta(tp: Fraction, fp: Fraction, fn: Fraction, beta: Fraction) -> Fraction | None:
    """Van Rijsbergen's F."""
    return ratio((1 + beta**2) * tp, (1 + beta**2) * tp + beta**2 * fn + fp)


def metrics(tp: Fraction, fp: Fraction, positives: Fraction, negatives: Fraction) -> dict[str, Exact | None]:
    """Every metric of one matrix; None where it is 0/0 or x/0."""
    fn, tn, total = positives - tp, negatives - fp, positives + negatives
    precision, recall = ratio(tp, tp + fp), ratio(tp, positives)
    specificity, npv = ratio(tn, negatives), ratio(tn, tn + fn)
    accuracy = (tp + tn) / total
    by_chance = (positives * (tp + fp) + negatives * (fn + tn)) / total**2
    sides = (tp + fp) * (tn + fn) * positives * negatives
    with mpmath.workdps(50):
        root = mpmath.sqrt(mpmath.mpf(sides.numerator) / sides.denominator)
        apart = tp * tn - fp * fn
        mcc = mpmath.mpf(apart.numerator) / apart.denominator / root if sides else None
    return {
        "accuracy": accuracy,
        "balanced_accuracy": None if recall is None or specificity is None else (recall + specificity) / 2,
        **dict.fromkeys(("precision", "ppv"), precision),
        **dict.fromkeys(("recall", "sensitivity", "tpr"), recall),
        "specificity": specificity,
        "npv": npv,
        "fpr": ratio(fp, negatives),
        "fnr": ratio(fn, positives),
        "f1": f_beta(tp, fp, fn, Fraction(1)),
        "f2": f_beta(tp, fp, fn, Fraction(2)),
        "f0_5": f_beta(tp, fp, fn, Fraction(1, 2)),
        "jaccard": ratio(tp, tp + fp + fn),
        "mcc": mcc,
        "kappa": ratio(accuracy - by_chance, 1 - by_chance),
        "youden": None if recall is None or specificity is None else recall + specificity - 1,
        "markedness": None if precision is None or npv is None else precision + npv - 1,
        "share": (tp + fp) / total,
        "lift": ratio(precision, positives / total),
        "lr_positive": ratio(recall, ratio(fp, negatives)),
        "lr_negative": ratio(ratio(fn, positives), specificity),
    }


def of_row(table: Table, row: Row) -> dict[str, Exact | None]:
    """Every metric of a row."""
    return metrics(row.tp, row.fp, table.positives, table.negatives)


def reported(table: Table, row: Row, name: str) -> float | None:
    """A metric as an answer reports it; exact for whole counts, so only quotients are compared."""
    found = of_row(table, row)[name]
    assert name in QUOTIENTS
    assert found is None or isinstance(found, Fraction)
    return None if found is None else correctly_rounded(found)


def within(found: float | None, limit: str, bound: float) -> bool:
    """Whether a row meets a limit."""
    return found is not None and (found >= bound if limit.startswith("min") else found <= bound)


def chosen(table: Table, decision: Mapping[str, Any]) -> Row | None:
    """The row of a decision other than a threshold, by trying all rows of a table of whole counts."""
    rows = list(table.rows)
    ways: dict[str, Callable[[float], Row | None]] = {
        "at_share": lambda at: [row for row in rows if reported(table, row, "share") <= at][-1],
        "at_fpr": lambda at: [row for row in rows if reported(table, row, "fpr") <= at][-1],
        "at_recall": lambda at: next(row for row in rows if reported(table, row, "recall") >= at),
    }
    for way, choose in ways.items():
        if way in decision:
            return choose(decision[way])
    name, limits = decision["best"], {key: bound for key, bound in decision.items() if key in LIMITED}
    best: tuple[float, Fraction, Fraction] | None = None
    found = None
    for row in rows:
        value = reported(table, row, name)
        met = all(within(reported(table, row, LIMITED[key]), key, bound) for key, bound in limits.items())
        if value is None or not met:
            continue
        rank = (-value if name in LESS_IS_BETTER else value, row.tp, -row.fp)
        if best is None or rank > best:
            best, found = rank, row
    return found
