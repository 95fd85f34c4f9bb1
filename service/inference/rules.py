"""The rules of a gate: a metric, a bound, and how certain the verdict must be.

    metric      what is compared: an area, the mean of a part, or a number at a place `at` or a threshold `at_threshold`
    bound       one of min, max and max_drop, inclusive
    confidence  the level of the interval whose unfavourable end must meet the bound

Knows names and numbers only.
"""

import math
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any

from service.curves.areas import Areas
from service.curves.arrays import LARGEST_DOUBLE
from service.curves.errors import plain
from service.curves.indices import INDICES
from service.curves.operating_points import METRICS
from service.curves.partial_areas import PartialRange

AREAS = tuple(field.name for field in fields(Areas))
"""The areas, which are metrics without a place."""

AREAS_WITH_INTERVALS = ("roc", "pr", "average_precision")
"""The areas that have intervals. A hull is fitted to its test data, so it lies above what new data would give."""

POINTS_WITH_INTERVALS = ("tpr_at_fpr", "precision_at_recall")
"""The metrics with a place that have intervals. Others take the best of all rows, fitted to the data like a hull."""

PARTIAL = "partial"
"""The mean height of a part of a curve."""

RATES = ("precision", "recall", "fpr")
"""The metrics of one row, at a threshold."""

LESS_IS_BETTER = ("fpr",)
"""The metrics for which lower is better."""

BOUNDS = ("min", "max", "max_drop")
"""The kinds of bounds."""

ROUNDING = 2.0**-52
"""Tolerance: a drop from 0.85 to 0.84 is 0.010000000000000009 in doubles, and must meet a bound of 0.01."""

REPORTED_DECIMALS = 4
"""The decimals of numbers in reports and pictures, at least."""

_DIGITS_OF_A_DOUBLE = 17


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of an evaluation: an area, or a metric at an operating point (`at`) or at a deployed threshold.

    part   the range, for PARTIAL.
    """

    name: str
    at: float | None = None
    at_threshold: float | None = None
    part: PartialRange | None = None

    @property
    def is_area(self) -> bool:
        """Whether it is an area under a curve or, for PARTIAL, under a part of one."""
        return self.part is not None or self.name in AREAS

    @property
    def family(self) -> str | None:
        """Its kind of interval: roc, area, point or rate; None if it has no interval."""
        if self.at_threshold is not None:
            return "rate"
        if self.name == "roc":
            return "roc"
        if self.name in (*AREAS_WITH_INTERVALS, PARTIAL):
            return "area"
        return "point" if self.name in POINTS_WITH_INTERVALS else None

    def __str__(self) -> str:
        """Name it in a sentence."""
        if self.part is not None:
            above = "" if self.part.min_tpr is None else f" above tpr {plain(self.part.min_tpr)}"
            return f"{self.name} over {self.part.over} {plain(self.part.start)} to {plain(self.part.end)}{above}"
        at = "" if self.at is None else f" at {_PLACES.get(self.name, 'lambda')} {plain(self.at)}"
        return self.name + at + ("" if self.at_threshold is None else f" at threshold {plain(self.at_threshold)}")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, in the contract's terms; exactly one of `min`, `max` and `max_drop` is given.

    confidence  the two-sided level of the interval whose unfavourable end must meet the bound.
    prove       "drop": a `max_drop` fails only if the interval proves the drop.
    """

    metric: str
    at: float | None = None
    at_threshold: float | None = None
    min: float | None = None
    max: float | None = None
    max_drop: float | None = None
    confidence: float | None = None
    prove: str | None = None
    part: PartialRange | None = None

    @property
    def of(self) -> Metric:
        """The metric, with its place."""
        return Metric(self.metric, self.at, self.at_threshold, self.part)

    @property
    def kind(self) -> str:
        """The one of BOUNDS that is given."""
        return next(kind for kind in BOUNDS if getattr(self, kind) is not None)

    @property
    def bound(self) -> float:
        """The bound itself."""
        bound: float = getattr(self, self.kind)
        return bound

    @property
    def phrase(self) -> str:
        """The rule in words: roc at least 0.8, with 95 % confidence."""
        how = "with" if self.prove is None else "unless disproven with"
        sure = "" if self.confidence is None else f", {how} {percent(self.confidence)} % confidence"
        return f"{self.of} {_WORDS[self.kind]} {plain(self.bound)}{sure}"

    def written(
        self, number: float, decimals: int = REPORTED_DECIMALS, *, difference: bool = False, sign: str = ""
    ) -> str:
        """Write a value, or a difference; the one that the bound is for stays on its side of the bound."""
        limit = 0.0 - self.bound if difference else self.bound
        is_compared = difference == (self.kind == "max_drop")
        if is_compared and difference and abs(number - limit) <= ROUNDING:
            number = limit
        limits = (limit,) * is_compared + (() if difference else (float(round(number)),))
        return in_decimals(number, decimals, *limits, sign=sign)

    def given(self) -> dict[str, Any]:
        """The fields of a metric that were given; of a range, both ends. JSON has no infinite threshold."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        if self.part is not None:
            part = self.part
            ends = dict(zip(RANGE_KEYS, (part.over, part.start, part.end, part.min_tpr), strict=True))
            given = {"metric": self.metric} | ends | given | {"part": None}
        if self.at_threshold is not None:
            given["at_threshold"] = min(max(self.at_threshold, -LARGEST_DOUBLE), LARGEST_DOUBLE)
        return {name: value for name, value in given.items() if value is not None}

    @classmethod
    def read(cls, given: dict[str, Any]) -> "Rule":
        """Read what `given` wrote."""
        given = dict(given)
        ends = given.pop("over", None), given.pop("from", 0.0), given.pop("to", 1.0), given.pop("min_tpr", None)
        if abs(given.get("at_threshold", 0)) == LARGEST_DOUBLE:
            given["at_threshold"] = math.copysign(math.inf, given["at_threshold"])
        rule = cls(**given)
        return rule if ends[0] is None else replace(rule, part=PartialRange(*ends))


RANGE_KEYS = ("over", "from", "to", "min_tpr")
"""The keys of a rule that describe the range of PARTIAL."""

RULE_KEYS = (*(each.name for each in fields(Rule) if each.name != "part"), *RANGE_KEYS)
"""All keys that a rule may have."""

_WORDS = {"min": "at least", "max": "at most", "max_drop": "drop at most"}
"""The kinds of bounds, as phrases name them."""


def in_decimals(number: float, decimals: int, *limits: float, sign: str = "") -> str:
    """Write a number with this many decimals, or as many more as keep it on its side of every limit."""
    for more in range(decimals, _DIGITS_OF_A_DOUBLE + 1):
        text = f"{number:{sign}.{more}f}"
        if all(_side(float(text), limit) == _side(number, limit) for limit in limits):
            return text
    return f"{number:{sign}}"


def _side(number: float, limit: float) -> int:
    return (number > limit) - (number < limit)


def percent(level: float) -> str:
    """Write a level in percent, with all its digits."""
    return f"{(100 * Decimal(repr(level))).normalize():f}"


_PLACES = {"precision_at_recall": "recall", "recall_at_precision": "precision", "tpr_at_fpr": "fpr"}
"""{metric: the name of what `at` gives}, where that is not lambda."""

METRIC_NAMES = tuple(dict.fromkeys((*AREAS, PARTIAL, *METRICS, *RATES, *INDICES)))
"""All metrics that a rule may name."""
