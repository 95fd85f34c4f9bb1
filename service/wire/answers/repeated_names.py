"""The bound on names in an answer: a few bytes of a request may name what every row of the answer repeats.

Knows results and their names, not how they are written.
"""

import orjson

from service.curves.comparison import Best, Comparison
from service.inference.sliced import Slicing
from service.wire.limits import Limits
from service.wire.problems import Problem

MOST_NAME_BYTES = 64 << 20
"""The most bytes of names, in UTF-8, that an answer repeats; JSON writes a control character with six times as many."""


def refuse_many_slices(slicing: Slicing, tables: int, limits: Limits) -> None:
    """Raise Problem if the values that name the slices, repeated this many times, are too long."""
    texts = (value for values in slicing.keys.values() for value in values if isinstance(value, str))
    size = tables * sum(len(text.encode()) for text in texts)
    _refuse(size, limits, "Give the slices shorter values, or ask for fewer operating points.")


def refuse_many_best(comparison: Comparison, limits: Limits) -> None:
    """Raise Problem if the names of the best curves are too long: any interval may list all of them."""
    longest = max(len(orjson.dumps(name)) for name in comparison.names) + 1
    bests: list[Best | None] = [comparison.best_roc, comparison.best_pr, *comparison.best_tradeoff.values()]
    listed = sum(len(names) for best in bests if best is not None for names in best.best)
    listed += sum(map(len, comparison.joint_hull.suppliers))
    _refuse(listed * longest, limits, "Give the evaluations shorter names, or compare fewer.")


def _refuse(size: int, limits: Limits, advice: str) -> None:
    most = min(MOST_NAME_BYTES, limits.max_answer_bytes)
    if size > most:
        detail = f"The answer would repeat {size} bytes of names; the limit is {most}. {advice}"
        raise Problem("answer_too_large", detail)
