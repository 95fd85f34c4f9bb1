"""The work to write a result, in rows as service/wire/budget.py defines them, and the bound on names in an answer.

A few bytes of a request may name what every row of an answer repeats. Each constant states its measurements;
`python -m tests.tools.costs` repeats them.
"""

import orjson

from service.curves.comparison import Best, Comparison
from service.curves.tradeoff import Tradeoffs
from service.inference.sliced import Slicing
from service.wire.budget import BYTES_PER_ROW
from service.wire.problems import Problem

MOST_NAME_BYTES = 64 << 20
"""The most bytes of names, in UTF-8, that an answer repeats; JSON writes a control character with six times as many."""

_OPTIMAL_ROW = 4
"""A row of an index's optimal curve: 75 to 150 bytes."""

_INTERVAL_BYTES = 44
"""An interval of a rate, without the names of the best."""

_HULL_BYTES = 110
"""A row of the joint hull, without the names of its suppliers."""


def tradeoffs_written(tradeoffs: Tradeoffs) -> int:
    """Work to write the optimal curves, whose lengths are known only after evaluation."""
    return sum(each.optimal.lambda_from.size for each in tradeoffs.tradeoffs.values()) * _OPTIMAL_ROW


def slices_written(slicing: Slicing, tables: int) -> int:
    """Work to write the values that name the slices, which are repeated this many times. Raises Problem."""
    texts = (value for values in slicing.keys.values() for value in values if isinstance(value, str))
    size = tables * sum(len(text.encode()) for text in texts)
    refuse_too_many_names(size, "Give the slices shorter values, or ask for fewer operating points.")
    return size // BYTES_PER_ROW


def refuse_too_many_names(size: int, advice: str) -> None:
    """Raise Problem if an answer would repeat too many bytes of names."""
    if size > MOST_NAME_BYTES:
        detail = f"The answer would repeat {size} bytes of names; the limit is {MOST_NAME_BYTES}. {advice}"
        raise Problem("answer_too_large", detail)


def comparison_written(comparison: Comparison) -> int:
    """Work to write which curves are best where: any interval may list all names. Raises Problem."""
    longest = max(len(orjson.dumps(name)) for name in comparison.names) + 1
    bests: list[Best | None] = [comparison.best_roc, comparison.best_pr, *comparison.best_tradeoff.values()]
    there = [best for best in bests if best is not None]
    listed = sum(len(names) for best in there for names in best.best) + sum(map(len, comparison.joint_hull.suppliers))
    size = sum(best.start.size for best in there) * _INTERVAL_BYTES + comparison.joint_hull.tp.size * _HULL_BYTES
    refuse_too_many_names(listed * longest, "Give the evaluations shorter names, or compare fewer.")
    return (size + listed * longest) // BYTES_PER_ROW
