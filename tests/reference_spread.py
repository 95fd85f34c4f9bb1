"""The spread of areas and of their differences, slow and obvious, from difference quotients for each example.

The area is computed exactly with a little more and a little less of each example. Sources: Efron 1982, section 6.3;
Zou & Donner 2008, section 4. Nothing here may import the service.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath

from tests import reference_inference as inference
from tests import reference_partial
from tests.reference import Row, with_ends
from tests.reference_gate import PARTIAL, Evaluation, Rule, examples
from tests.reference_pr import AREAS
from tests.support.strategies import Data

STEP = Fraction(1, 10**18)
"""The relative change of an example's mass; the error of the quotient is its square."""


@dataclass(frozen=True)
class Kind:
    """This many examples of one score, class and weight."""

    score: Any
    positive: bool
    count: Fraction
    weight: Fraction


def kinds(evaluation: Evaluation) -> list[Kind]:
    """The examples; for counts, what each row adds, which may be fractional."""
    if isinstance(evaluation, Data):
        return [Kind(each.score, each.positive, Fraction(1), each.weight) for each in examples(evaluation)]
    found = []
    for number, (a, b) in enumerate(evaluation.table().steps()):
        found += [
            Kind(-number, positive=True, count=b.tp - a.tp, weight=Fraction(1)),
            Kind(-number, positive=False, count=b.fp - a.fp, weight=Fraction(1)),
        ]
    return [each for each in found if each.count > 0]


def area(rule: Rule, found: list[Kind], masses: list[Fraction]) -> Any:
    """The area if the kinds have these masses."""
    rows = []
    for cut in sorted({each.score for each in found}, reverse=True):
        called = [(each.positive, mass) for each, mass in zip(found, masses, strict=True) if each.score >= cut]
        tp, fp = (sum((mass for positive, mass in called if positive == of), Fraction(0)) for of in (True, False))
        rows.append(Row(tp, fp, float(cut)))
    last = rows[-1]
    table = with_ends(rows, last.tp, last.fp)
    return reference_partial.mean(table, rule) if rule["metric"] == PARTIAL else AREAS[rule["metric"]](table)


def moves(evaluation: Evaluation, rule: Rule) -> list[Any]:
    """How far one more example of each kind moves the area, times the mass of its class."""
    found = kinds(evaluation)
    masses = [each.count * each.weight for each in found]
    out = []
    for place, each in enumerate(found):
        total = sum(mass for mass, other in zip(masses, found, strict=True) if other.positive == each.positive)
        step = masses[place] * STEP
        ends = []
        for change in (step, -step):
            changed = [*masses[:place], masses[place] + change, *masses[place + 1 :]]
            found_area = area(rule, found, changed)
            ends.append(inference.exactly(found_area) if isinstance(found_area, Fraction) else found_area)
        with mpmath.workdps(2 * inference.DIGITS):
            out.append((ends[0] - ends[1]) / (2 * inference.exactly(step)) * inference.exactly(total))
    return out


@dataclass(frozen=True)
class Moved:
    """A class: how far one example of each kind moves the area, how many there are, and the effective number."""

    by: list[Any]
    counts: list[Any]
    effective: Any


def classes(found: list[Kind], values: list[Any]) -> list[Moved]:
    """v = w (u - ū)/Σ c w of each kind of both classes."""
    out = []
    for of in (True, False):
        chosen = [(each, value) for each, value in zip(found, values, strict=True) if each.positive == of]
        counts = [inference.exactly(each.count) for each, _ in chosen]
        weights = [inference.exactly(each.weight) for each, _ in chosen]
        total = sum(c * w for c, w in zip(counts, weights, strict=True))
        mean = sum(c * w * u for c, w, (_, u) in zip(counts, weights, chosen, strict=True)) / total
        by = [w * (u - mean) / total for w, (_, u) in zip(weights, chosen, strict=True)]
        effective = total**2 / sum(c * w**2 for c, w in zip(counts, weights, strict=True))
        out.append(Moved(by, counts, effective))
    return out


def covariance(one: list[Moved], other: list[Moved]) -> Any:
    """Σ over the classes of m/(m-1) Σ c v v'."""
    return sum(
        a.effective / (a.effective - 1) * sum(c * v * w for c, v, w in zip(a.counts, a.by, b.by, strict=True))
        for a, b in zip(one, other, strict=True)
    )


def standard_error(evaluation: Evaluation, rule: Rule) -> Any:
    """The standard error of one area."""
    with mpmath.workdps(inference.DIGITS):
        found = classes(kinds(evaluation), moves(evaluation, rule))
        return mpmath.sqrt(covariance(found, found))


def power(moved: list[Moved], exponent: int) -> Any:
    """Σ c |v|^exponent."""
    return sum(c * abs(v) ** exponent for each in moved for c, v in zip(each.counts, each.by, strict=True))


@dataclass(frozen=True)
class Difference:
    """The difference of two areas: both values, the errors of each and of the difference, correlation and jump."""

    values: tuple[Any, Any]
    errors: tuple[Any, Any]
    error: Any
    correlation: Any
    jump: Any
    fewest: Any
    kept: Any = 1

    def ends(self, z: Any) -> tuple[Any, Any]:
        """The lower and the upper end, at z standard errors."""
        with mpmath.workdps(inference.DIGITS):
            z = inference.students(z, self.fewest)
            a, b = self.values
            (la, ua), (lb, ub) = (probit_ends(v, e, z) for v, e in zip(self.values, self.errors, strict=True))
            b, lb, ub = (self.kept * each for each in (b, lb, ub))
            x, y = a - la, ub - b
            down = mpmath.sqrt(abs(x**2 + y**2 - 2 * self.correlation * x * y))
            x, y = ua - a, b - lb
            up = mpmath.sqrt(abs(x**2 + y**2 - 2 * self.correlation * x * y))
            # x² - z² J/2 x - z² SE² = 0
            half = z**2 * self.jump / 2
            reach = (half + mpmath.sqrt(half**2 + 4 * z**2 * self.error**2)) / 2
            return max(a - b - max(down, reach), -self.kept), min(a - b + max(up, reach), 1)


def difference(
    current: Evaluation,
    baseline: Evaluation,
    rule: Rule,
    values: tuple[float, float],
    *,
    paired: bool,
    kept: float = 1.0,
) -> Difference:
    """What the interval of a difference is computed from, or of the first area less a share of the second."""
    with mpmath.workdps(inference.DIGITS):
        part = mpmath.mpf(kept)
        both = [kinds(each) for each in (current, baseline)]
        of_both = [moves(each, rule) for each in (current, baseline)]
        one, other = (classes(found, values) for found, values in zip(both, of_both, strict=True))
        shared = covariance(one, other) if paired else mpmath.mpf(0)
        if paired:
            moved = classes(both[0], [u - part * v for u, v in zip(*of_both, strict=True)])
            variance = covariance(moved, moved)
        else:
            moved = [*one, *classes(both[1], [part * v for v in of_both[1]])]
            variance = covariance(one, one) + part**2 * covariance(other, other)
        errors = [mpmath.sqrt(covariance(each, each)) for each in (one, other)]
        error = mpmath.sqrt(variance)
        return Difference(
            (mpmath.mpf(values[0]), mpmath.mpf(values[1])),
            (errors[0], errors[1]),
            error,
            shared / (errors[0] * errors[1]) if errors[0] * errors[1] else mpmath.mpf(0),
            power(moved, 3) / power(moved, 2) if error else mpmath.mpf(0),
            min(each.effective for each in moved),
            part,
        )


def probit_ends(value: Any, error: Any, z: Any) -> tuple[Any, Any]:
    """Φ(x ± z error/φ(x)) with Φ(x) = value."""
    x = mpmath.sqrt(2) * mpmath.erfinv(2 * value - 1)
    half = z * error / mpmath.npdf(x)
    return mpmath.ncdf(x - half), mpmath.ncdf(x + half)
