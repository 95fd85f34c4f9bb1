"""The work to write a result, known only after evaluation, in rows as service/curves/budget.py defines them.

Each constant states its measurements; `python -m tests.costs` repeats them.
"""

import orjson

from service.curves.budget import BYTES_PER_ROW
from service.curves.comparison import Best, Comparison
from service.curves.tradeoff import Tradeoffs

_OPTIMAL_ROW = 4
"""A row of an index's optimal curve: 75 to 150 bytes."""

_INTERVAL_BYTES = 44
"""An interval of a rate, without the names of the best."""

_HULL_BYTES = 110
"""A row of the joint hull, without the names of its suppliers."""


def tradeoffs_written(tradeoffs: Tradeoffs) -> int:
    """Work to write the optimal curves, whose lengths are known only after evaluation."""
    return sum(each.optimal.lambda_from.size for each in tradeoffs.tradeoffs.values()) * _OPTIMAL_ROW


def comparison_written(comparison: Comparison) -> int:
    """Work to write which curves are best where: any interval may list all names."""
    longest = max(len(orjson.dumps(name)) for name in comparison.names) + 1
    bests: list[Best | None] = [comparison.best_roc, comparison.best_pr, *comparison.best_tradeoff.values()]
    there = [best for best in bests if best is not None]
    listed = sum(len(names) for best in there for names in best.best) + sum(map(len, comparison.joint_hull.suppliers))
    size = sum(best.start.size for best in there) * _INTERVAL_BYTES + comparison.joint_hull.tp.size * _HULL_BYTES
    return (size + listed * longest) // BYTES_PER_ROW
