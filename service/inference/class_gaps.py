"""The interval of a gap between classes: the greatest of their true areas less the least.

    V = V_j - V_k    how far a row moves the difference of the areas of two classes (row_moves.py)
    upper end        the greatest of the upper ends of θ_j - θ_k over all ordered pairs, at the level (gaps.py)
    lower end        the greatest of the lower ends, at least 0: of MOVER on both probit intervals or d ± z SE,
                     whichever is lower, with the z of gaps.py

All ends take the correlation of both areas from V, since classes share their rows. If one of two areas is 0 or 1, no
correlation is known: the upper end is then that of the worst one, and the pair proves no gap.

That the z of independent samples suffices for areas that are correlated is not proven, but simulated in
tests/README.md. MOVER alone proved gaps of equal areas near 1 in up to 3.7 % of data sets, not 2.5.

Knows the scores of classes, models and areas; nothing of verdicts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from service.curves.arrays import FloatArray
from service.curves.class_scores import ClassScores
from service.curves.classes import AVERAGED_AREAS
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable
from service.curves.evaluation import CurvesWarning
from service.curves.sample import Sample
from service.inference.class_averages import SEVERAL_LABELS, too_few
from service.inference.estimates import FOR_ROC, omitted
from service.inference.gaps import pairwise_z
from service.inference.intervals import (
    Interval,
    area_difference_interval,
    difference_interval,
    mover_ends,
    probit_ends,
)
from service.inference.methods import closed_interval, method_of
from service.inference.metric import ENDS, Metric
from service.inference.models import Models
from service.inference.proportions import Ends, widened
from service.inference.row_moves import ClassRows, moves_in
from service.inference.sliced_models import SliceModels
from service.inference.spread import Spread

GAPS_WITH_INTERVALS = (*AVERAGED_AREAS, "gini")
"""The metrics whose gaps between classes have intervals; gini is twice roc less 1."""

_OF_AREAS = "only gaps between areas of classes have one"
_OPPOSED = 2.0
"""1 - ρ of areas that move against each other, which is the worst that may be."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassArea:
    """The area of a class, how far each row moves it, centred, and the ends of its own interval, if any is 0 or 1."""

    value: float
    moves: FloatArray
    alone: Ends | None = None


class ClassGaps:
    """The intervals of gaps between the classes of a model; `parts` are these, each against the rest."""

    def __init__(self, given: ClassScores, parts: Sequence[SliceModels]) -> None:
        """Begin without warnings."""
        self._given = given
        self._parts = parts
        self._warnings: dict[CurvesWarning, None] = {}

    @property
    def warnings(self) -> tuple[CurvesWarning, ...]:
        """Why gaps have no interval."""
        return tuple(self._warnings)

    @cached_property
    def _rows(self) -> ClassRows:
        return ClassRows(self._given)

    def interval(
        self, judged: Sequence[SliceModels], metric: Metric, values: Sequence[float], level: float, asked: str
    ) -> Interval | None:
        """The interval of the gap between these classes, whose areas are given; None if it has none."""
        method = method_of(metric, asked, difference=True)
        if metric.name not in AVERAGED_AREAS or method is None or not self._given.exclusive:
            why = FOR_ROC if metric.name in AVERAGED_AREAS else _OF_AREAS
            self._omit(metric, why if self._given.exclusive else SEVERAL_LABELS)
            return None
        if not self._rows.enough:
            self._warnings[too_few(self._rows)] = None
            return None
        found, is_exact = [], any(value in ENDS for value in values)
        for part, value in in_time(zip(judged, values, strict=True)):
            alone = _ends_alone(part, metric, value, level) if is_exact else None
            found.append(ClassArea(value, self._moves(part, metric), alone))
        return gap_between(self._rows, found, level, method)

    def _moves(self, part: SliceModels, metric: Metric) -> FloatArray:
        assert part.models is not None  # noqa: S101  # it is judged
        sample = part.models.models[0].evaluation
        assert isinstance(sample, Sample)  # noqa: S101  # a class against the rest
        members = self._given.members[self._parts.index(part)]
        moves = moves_in(metric.name, *ConfusionTable.from_sample_with_rows(sample), members, self._rows.masses)
        return self._rows.centred(moves)

    def _omit(self, metric: Metric, why: str) -> None:
        self._warnings[omitted([f"the gap of {metric}"], why)] = None


def gap_between(rows: ClassRows, areas: Sequence[ClassArea], level: float, method: str) -> Interval:
    """The interval of the gap between areas of classes that have the same rows."""
    values, z = [each.value for each in areas], pairwise_z(level, len(areas))
    least, most = 0.0, max(values) - min(values)
    for one, other in in_time(combinations(areas, 2)):
        both = one.value, other.value
        if any(value in ENDS for value in both):
            lower, upper = mover_ends(both, [each.alone or (0.0, 1.0) for each in (one, other)], _OPPOSED)
        else:
            spread = rows.spread_of(one.moves, other.moves)
            if method == "delong":
                found = difference_interval(both[0] - both[1], spread.error, level)
            else:
                found = area_difference_interval(both, spread, level)
            lower, upper = found.lower, found.upper
            proven = _proven_ends(both, spread, z)
            least = max(least, proven[0], -proven[1])
        most = max(most, upper, -lower)
    return Interval(least, most, level, method, None)


def _proven_ends(values: tuple[float, float], spread: Spread, z: float) -> Ends:
    """The ends of a difference for this z, of which the one nearer to 0 counts."""
    wide, difference = widened(z, spread.fewest), values[0] - values[1]
    of_each = [probit_ends(value, error, wide) for value, error in zip(values, spread.errors, strict=True)]
    lower, upper = mover_ends(values, of_each, spread.one_minus_correlation)
    return min(lower, difference - wide * spread.error), max(upper, difference + wide * spread.error)


def _ends_alone(part: SliceModels, metric: Metric, value: float, level: float) -> Ends | None:
    """The ends of a class's own interval."""
    assert part.models is not None  # noqa: S101  # it is judged
    found = closed_interval(Models((part.models.models[0],)), metric, [value], level, "logit")
    return None if found is None else (found.lower, found.upper)
