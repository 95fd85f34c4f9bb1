"""The rules of a gate: a metric, a bound, and how certain the verdict must be.

    bound       one of BOUNDS, inclusive; drops and rises are of the difference from a baseline, a gap is that between
                the greatest and the least of some slices
    confidence  the level of the interval whose unfavourable end must meet the bound
    slices      the columns in each combination of whose values the rule must hold
    classes     of several classes, those for each of which it must hold; `average` is of all of them

Knows metrics and numbers only.
"""

import math
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from typing import Any

from service.curves.arrays import LARGEST_DOUBLE
from service.curves.decisions import Decision
from service.curves.errors import plain
from service.curves.partial_areas import PartialRange
from service.curves.reliability import ReliabilityOptions
from service.inference.metric import Metric

BOUNDS = ("min", "max", "max_drop", "max_relative_drop", "max_rise", "max_gap")
"""The kinds of bounds."""

INCONCLUSIVE = {"fail": "failed", "pass": "passed", "undecided": "undecided"}
"""{what a rule may say about an interval on both sides of its bound: the status of its check}"""

CHANGES = {"max_drop": "drop", "max_relative_drop": "drop", "max_rise": "rise"}
"""{bound of the difference from a baseline: what `prove` says to fail only if it is proven}"""

ALL, CLASS = "all", "class"
"""What means all classes, and what a check calls the column of their names."""

CALLED = Decision(at_threshold=0.5)
"""The decision on scores that are 1 for what is called, and 0 for what is not."""

ROUNDING = 2.0**-52
"""Tolerance: a drop from 0.85 to 0.84 is 0.010000000000000009 in doubles, and must meet a bound of 0.01. It is
relative to the values, if these are above 1."""

REPORTED_DECIMALS = 4
"""The decimals of numbers in reports and pictures, at least."""

_DIGITS_OF_A_DOUBLE = 17


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, in the contract's terms; exactly one of BOUNDS is given.

    confidence  the two-sided level of the interval whose unfavourable end must meet the bound.
    prove       "drop" or "rise": a bound of the difference fails only if the interval proves that it is missed.
    inconclusive  what the check is if the interval lies on both sides of the bound; "pass" says what `prove` does.
    severity    "warn": the gate passes whatever becomes of this check.
    name        what to call it, instead of its metric.
    expected    for a plan, the value that is taken to be true, or the drop or rise.
    slices      names of columns: the rule must hold in each combination of their values.
    folds       names of columns: the rule is on the mean over the combinations of their values, for roc.
    classes      ALL, or the names of classes, for each of which the rule must hold.
    average      one of the averages of all classes, hand_till, or overall: a number of the whole confusion matrix.
    decide       "highest": a row of the metric is called the class with the highest score.
    min_examples  slices whose smaller class has fewer effective examples are not judged; 1 if not given.
    """

    metric: str
    at: float | None = None
    decision: Decision | None = None
    min: float | None = None
    max: float | None = None
    max_drop: float | None = None
    max_relative_drop: float | None = None
    max_rise: float | None = None
    max_gap: float | None = None
    confidence: float | None = None
    prove: str | None = None
    inconclusive: str | None = None
    severity: str | None = None
    name: str | None = None
    part: PartialRange | None = None
    bins: ReliabilityOptions | None = None
    expected: float | None = None
    slices: tuple[str, ...] | None = None
    folds: tuple[str, ...] | None = None
    min_examples: int | None = None
    classes: str | tuple[str, ...] | None = None
    average: str | None = None
    decide: str | None = None

    @property
    def of(self) -> Metric:
        """The metric, with its place; with `decide`, that of scores which are 1 for the class that is called."""
        decision = CALLED if self.decide else self.decision
        return Metric(self.metric, self.at, decision, self.part, self.bins)

    @property
    def named(self) -> str:
        """The metric in a sentence, with its average."""
        what = f"{Metric(self.metric, self.at)} by highest score" if self.decide else str(self.of)
        return f"{self.average} {what}" if self.average else what

    @property
    def keys(self) -> tuple[str, ...]:
        """What names the parts of the data in each of which the rule must hold: columns, or the class."""
        return self.slices or ((CLASS,) if self.classes else ())

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
    def is_change(self) -> bool:
        """Whether the bound is of the difference from a baseline."""
        return self.kind in CHANGES

    @property
    def kept(self) -> float:
        """How much of the baseline the difference subtracts: all of it, or for a relative drop r the share 1 - r."""
        return 1.0 - (self.max_relative_drop or 0.0)

    def difference(self, value: float | None, baseline: float | None) -> float | None:
        """The value less the baseline's, or less what the rule keeps of that; None unless there are both."""
        return None if value is None or baseline is None else value - self.kept * baseline

    def change(self, value: float, baseline: float) -> float:
        """How far the value has dropped or risen, as the bound counts it."""
        if self.kind == "max_relative_drop":
            return 1 - value / baseline
        return value - baseline if self.is_ceiling else baseline - value

    def difference_at(self, expected: float, baseline: float) -> float:
        """The value, or the difference from a baseline's, that is expected."""
        if self.kind == "max_relative_drop":
            return (self.bound - expected) * baseline
        return 0.0 - expected if self.kind == "max_drop" else expected

    @property
    def is_ceiling(self) -> bool:
        """Whether less passes, rather than more."""
        return self.kind in {"max", "max_rise", "max_gap"}

    @property
    def limit(self) -> float:
        """The value, or the difference, that just passes."""
        if self.kind == "max_relative_drop":
            return 0.0
        return 0.0 - self.bound if self.kind == "max_drop" else self.bound

    @property
    def if_inconclusive(self) -> str:
        """The status of a check whose interval lies on both sides of the bound."""
        return INCONCLUSIVE["pass" if self.prove else self.inconclusive or "fail"]

    @property
    def is_lenient(self) -> bool:
        """Whether only proof fails the rule."""
        return self.if_inconclusive == "passed"

    @property
    def is_of_all(self) -> bool:
        """Whether it is about all rows together."""
        return not self.keys and self.folds is None

    @property
    def warns(self) -> bool:
        """Whether the gate passes whatever becomes of this rule."""
        return self.severity == "warn"

    @property
    def title(self) -> str:
        """Its name, or its metric with its place and its slices, classes or folds."""
        if self.name or not (self.keys or self.folds):
            return self.name or self.named
        if self.folds is not None:
            return f"{self.named} averaged over {' and '.join(self.folds)}"
        over = "over" if self.kind == "max_gap" else "in every"
        if isinstance(self.classes, tuple):
            return f"{self.named} {over.removesuffix(' every')} {' and '.join(self.classes)}"
        return f"{self.named} {over} {' and '.join(self.keys)}"

    def ends_of(self, lower: float, upper: float) -> tuple[float, float]:
        """The ends of an interval, the one farther from meeting the bound first."""
        return (upper, lower) if self.is_ceiling else (lower, upper)

    def excess(self, number: float) -> float:
        """How far a value, or a difference, is beyond the bound; at most 0 if it meets it."""
        return number - self.limit if self.is_ceiling else self.limit - number

    @property
    def phrase(self) -> str:
        """The rule in words: roc at least 0.8, with 95 % confidence."""
        how = "unless disproven with" if self.is_lenient else "with"
        sure = "" if self.confidence is None else f", {how} {percent(self.confidence)} % confidence"
        return f"{self.title} {_WORDS[self.kind]} {plain(self.bound)}{sure}"

    def written(
        self, number: float, decimals: int = REPORTED_DECIMALS, *, difference: bool = False, sign: str = ""
    ) -> str:
        """Write a value, or a difference; the one that the bound is for stays on its side of the bound."""
        is_compared = difference == self.is_change
        limit = self.limit if is_compared else self.bound
        if is_compared and difference and abs(number - limit) <= ROUNDING:
            number = limit
        limits = (limit,) * is_compared + (() if difference else (float(round(number)),))
        return in_decimals(number, decimals, *limits, sign=sign)

    def given(self) -> dict[str, Any]:
        """The fields that were given, as a request has them. JSON has no infinite threshold."""
        given: dict[str, Any] = {"metric": self.metric}
        if (part := self.part) is not None:
            given |= zip(RANGE_KEYS, (part.over, part.start, part.end, part.min_tpr), strict=True)
        given["at"] = self.at
        if self.decision is not None:
            given |= asdict(self.decision)
        if (threshold := given.get("at_threshold")) is not None:
            given["at_threshold"] = min(max(threshold, -LARGEST_DOUBLE), LARGEST_DOUBLE)
        if self.bins is not None:
            given |= asdict(self.bins)
        given |= {name: getattr(self, name) for name in _ABOUT_VERDICTS}
        for name in _LISTING_NAMES:
            value = getattr(self, name)
            given[name] = [*value] if isinstance(value, tuple) else value
        return {name: value for name, value in given.items() if value is not None}

    @classmethod
    def read(cls, given: dict[str, Any]) -> "Rule":
        """Read what `given` wrote."""
        rule = {name: value for name, value in given.items() if name in _OWN_KEYS}
        if abs(given.get("at_threshold", 0)) == LARGEST_DOUBLE:
            given = given | {"at_threshold": math.copysign(math.inf, given["at_threshold"])}
        for name in _LISTING_NAMES:
            if isinstance(given.get(name), list):
                rule[name] = tuple(given[name])
        decision = {name: given[name] for name in DECISION_KEYS if name in given}
        bins = {name: given[name] for name in BIN_KEYS if name in given}
        if "over" in given:
            rule["part"] = PartialRange(
                given["over"], given.get("from", 0.0), given.get("to", 1.0), given.get("min_tpr")
            )
        return cls(
            **rule,
            decision=Decision(**decision) if decision else None,
            bins=ReliabilityOptions(**bins) if bins else None,
        )


RANGE_KEYS = ("over", "from", "to", "min_tpr")
"""The keys of a rule that describe the range of PARTIAL."""

DECISION_KEYS = tuple(each.name for each in fields(Decision))
"""The keys of a rule that name a row."""

BIN_KEYS = tuple(each.name for each in fields(ReliabilityOptions))
"""The keys of a rule that describe the bins of ece."""

_ABOUT_VERDICTS = (
    *("average", "decide", *BOUNDS, "confidence", "prove", "inconclusive", "severity", "name", "min_examples"),
    "expected",
)
"""The keys of a rule that do not name its metric."""

_LISTING_NAMES = ("slices", "folds", "classes")
"""The keys of a rule that may be lists of names."""

_OWN_KEYS = tuple(each.name for each in fields(Rule) if each.name not in {"decision", "part", "bins"})

RULE_KEYS = (*_OWN_KEYS, *RANGE_KEYS, *DECISION_KEYS, *BIN_KEYS)
"""All keys that a rule may have."""

_WORDS = {
    "min": "at least",
    "max": "at most",
    "max_drop": "drop at most",
    "max_relative_drop": "relative drop at most",
    "max_rise": "rise at most",
    "max_gap": "gap at most",
}
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
