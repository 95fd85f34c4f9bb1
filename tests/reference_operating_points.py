"""Operating points of the reference table, found by trying every row and every segment, in exact fractions.

A row has the recall, precision and false positive rate that an answer reports: for whole counts the double nearest to
each, for others the quotient of doubles. Nothing here may import the service.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import mpmath

from tests.reference import Row, Table, correctly_rounded
from tests.reference_pr import fp_between, interpolated_at_recall
from tests.reference_tradeoff import best_value, value

Exact = Fraction | mpmath.mpf
CURVE_METRICS = ("precision_at_recall", "recall_at_precision", "tpr_at_fpr")


@dataclass(frozen=True)
class Rates:
    """What an answer reports for a row; no precision where nothing is called positive."""

    recall: float
    fpr: float
    precision: float | None


def rates(table: Table, row: Row) -> Rates:
    """The doubles that are reported."""
    called = row.tp + row.fp
    if table.whole:
        precision = correctly_rounded(row.tp / called) if called else None
    else:
        precision = float(row.tp) / (float(row.tp) + float(row.fp)) if called else None
    return Rates(correctly_rounded(row.tp / table.positives), correctly_rounded(row.fp / table.negatives), precision)


def value_at(table: Table, metric: str, at: float) -> Exact | None:
    """The metric there; None if it has no value. Rows that are not a sweep have no curve, but they have indices."""
    if metric not in CURVE_METRICS:
        return best_value(metric, [row for row in table.rows if row.tp > 0], table.positives, Fraction(at))
    if not table.sweep:
        return None
    readers: dict[str, Callable[[Table, float], Fraction | None]] = {
        "precision_at_recall": lambda table, at: interpolated_at_recall(table, [at])[0].precision,
        "recall_at_precision": recall_at_precision,
        "tpr_at_fpr": tpr_at_fpr,
    }
    return readers[metric](table, at)


def recall_at_precision(table: Table, precision: float) -> Fraction | None:
    """The greatest recall of the rows that have this precision and of the places between two rows where it is reached.

    Between two rows precision = t/(m t + c), with m = 1 + dfp/dtp and c = fp_A - tp_A dfp/dtp, which is p at
    t = p c/(1 - p m).
    """
    p = Fraction(precision)
    found = [row.tp for row in table.rows if at_least(rates(table, row).precision, precision)]
    for a, b in table.steps():
        if b.tp > a.tp:
            slope = (b.fp - a.fp) / (b.tp - a.tp)
            m, c = 1 + slope, a.fp - a.tp * slope
            t = p * c / (1 - p * m) if p * m != 1 else None
            if t is not None and a.tp < t < b.tp:
                assert t == p * (t + fp_between(a, b, t))
                found.append(t)
    return max(found) / table.positives if found else None


def tpr_at_fpr(table: Table, fpr: float) -> Fraction:
    """The greatest tp of the rows that have this rate, else that of the straight line between the rows around it."""
    found = [row.tp for row in table.rows if rates(table, row).fpr == fpr]
    if not found:
        x = Fraction(fpr) * table.negatives
        found = [a.tp + (b.tp - a.tp) * (x - a.fp) / (b.fp - a.fp) for a, b in table.steps() if a.fp < x < b.fp]
    return max(found) / table.positives


def at_least(reported: float | None, bound: float) -> bool:
    """Whether there is a number and it meets the bound."""
    return reported is not None and reported >= bound


def row_at(table: Table, metric: str, at: float) -> Row | None:
    """The best row that meets the condition; among equal ones, that of least fp, then the first."""
    reported = [(row, rates(table, row)) for row in table.rows]
    if metric == "precision_at_recall":
        rows = [(row, (of.precision, row.tp)) for row, of in reported if of.recall >= at and of.precision is not None]
    elif metric == "recall_at_precision":
        rows = [(row, (row.tp,)) for row, of in reported if at_least(of.precision, at)]
    else:
        rows = [(row, (row.tp,)) for row, of in reported if of.fpr <= at]
    best = [row for row, key in rows if key == max(key for _, key in rows)]
    return min(best, key=lambda row: row.fp) if best else None


def rows_of_index(table: Table, index: str, at: float, slack: Exact) -> list[Row]:
    """The rows whose index is the greatest, to within a relative slack."""
    best = best_value(index, [row for row in table.rows if row.tp > 0], table.positives, Fraction(at))
    return [
        row
        for row in table.rows
        if row.tp > 0 and value(index, row, table.positives, Fraction(at)) >= best * (1 - slack)
    ]


def called_at(
    scores: Iterable[float], labels: Iterable[bool], threshold: float, *, lower_is_positive: bool
) -> tuple[int, int]:
    """How many positives and negatives a threshold calls positive, score by score."""
    called = [
        label
        for score, label in zip(scores, labels, strict=True)
        if (score <= threshold if lower_is_positive else score >= threshold)
    ]
    return sum(called), len(called) - sum(called)
