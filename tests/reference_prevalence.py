"""Curves where positives are as common as in use, in exact fractions: slow, obvious, independent of service/curves.

Each positive counts π/P and each negative (1 - π)/N; everything else follows from the table of these. Nothing here may
import the service.
"""

from __future__ import annotations

from fractions import Fraction

from tests.reference import Row, Table


def in_use(table: Table, share: float) -> Table:
    """The table with tp and fp as shares of all examples where the share of positives is π."""
    pi = Fraction(share)
    positive, negative = pi / table.positives, (1 - pi) / table.negatives
    rows = tuple(Row(row.tp * positive, row.fp * negative, row.threshold) for row in table.rows)
    return Table(rows, pi, 1 - pi)


def stand_ins(negatives: float, share: float) -> Fraction:
    """How many positives so many negatives can stand for, N π/(1 - π)."""
    return Fraction(negatives) * Fraction(share) / (1 - Fraction(share))


def weights_in_use(labels: list[bool], share: float) -> list[Fraction]:
    """What each row of a sample without weights counts."""
    pi, positives = Fraction(share), sum(labels)
    negatives = len(labels) - positives
    return [pi / positives if label else (1 - pi) / negatives for label in labels]
