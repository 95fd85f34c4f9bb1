"""The bounds on what an answer repeats: a few bytes of a request may ask for names, or metrics, in every row.

Knows results, their names and options, not how they are written.
"""

from collections.abc import Iterable

import orjson

from service.curves.comparison import Best, Comparison
from service.curves.decisions import DEFAULT_METRICS
from service.inference.sliced import SliceOptions, Slicing
from service.wire.limits import Limits
from service.wire.problems import Problem

MOST_NAME_BYTES = 64 << 20
"""The most bytes of names, in UTF-8, that an answer repeats; JSON writes a control character with six times as many."""


MOST_METRICS = 10_000_000
"""The most metrics of decisions in slices, and ends of their intervals; each takes 8 bytes of memory."""


def refuse_many_slices(slicing: Slicing, tables: int, limits: Limits, words: Iterable[str] = ()) -> None:
    """Raise Problem if the values that name the slices, repeated this many times, are too long.

    `words` are further texts that each slice repeats once.
    """
    texts = (value for values in slicing.keys.values() for value in values if isinstance(value, str))
    more = slicing.count * sum(len(word.encode()) for word in words)
    size = tables * sum(len(text.encode()) for text in texts) + more
    fewer = "operating points or decisions" if more else "operating points"
    _refuse(size, limits, f"Give the slices shorter values, or ask for fewer {fewer}.")


def refuse_many_metrics(slicing: Slicing, options: SliceOptions) -> None:
    """Raise Problem if decisions in slices have too many metrics."""
    metrics = len(DEFAULT_METRICS if options.metrics is None else options.metrics)
    count = slicing.count * len(options.decisions) * metrics * (1 if options.intervals is None else 3)
    if count > MOST_METRICS:
        detail = f"All slices together would have {count} metrics and ends of intervals; the limit is {MOST_METRICS}."
        raise Problem("answer_too_large", f"{detail} Ask for fewer decisions or metrics.")


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
