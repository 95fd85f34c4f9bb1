"""The least cost of errors in fractions: every row is tried (Drummond & Holte 2006). Nothing imports the service."""

from __future__ import annotations

from fractions import Fraction

from tests.reference import Row, Table


def cheapest(
    table: Table, prevalence: Fraction, fn_cost: Fraction, fp_cost: Fraction
) -> tuple[Fraction, Fraction, Row]:
    """The least average cost of an example, its ratio to the cost of being wrong about all, and the first such row."""
    of_rows = [
        prevalence * fn_cost * (1 - row.tp / table.positives) + (1 - prevalence) * fp_cost * row.fp / table.negatives
        for row in table.rows
    ]
    least = min(of_rows)
    return least, least / (prevalence * fn_cost + (1 - prevalence) * fp_cost), table.rows[of_rows.index(least)]
