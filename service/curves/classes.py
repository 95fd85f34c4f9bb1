"""Several classes: each against the rest, averages, and all pairs (Hand and Till 2001).

    class      a sample of its scores, with its rows as the positives
    averages   macro of the areas, weighted by positives, and micro: the area of all those samples as one
    pairs      for each ordered pair of classes, the area under the ROC curve of their rows by the scores for the first

Each area has the bits of that of a single sample. Averages are rounded once, so that no number depends on the order of
rows or classes. Knows samples, tables and areas.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import compress
from math import fsum
from operator import mul

import numpy as np

from service.curves.area_columns import AreaColumns, Undefined, areas_of_each, sample_or_reason, without_areas
from service.curves.areas import roc_area
from service.curves.arrays import LARGEST_EXACT_INTEGER, FloatArray, IntArray
from service.curves.class_decisions import ClassDecisionOptions, ClassDecisions, class_decisions
from service.curves.class_scores import ClassScores
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable
from service.curves.drawing import DrawingOptions, DrawnTable
from service.curves.errors import counted_rows, enumerated, joined
from service.curves.evaluation import CurvesWarning, below_chance
from service.curves.sample import Sample

FEWEST_CLASSES, MOST_CLASSES = 2, 100
AVERAGES = ("macro", "weighted", "micro")
AVERAGED_AREAS = ("roc", "pr", "average_precision")
"""The areas that have averages."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassAverages:
    """The averages of areas, (3,) each, in the order of AVERAGES; NaN where undefined."""

    roc: FloatArray
    pr: FloatArray
    average_precision: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ClassPairs:
    """Ordered pairs of classes, k (k - 1) rows.

    number, against   the index of each class in the names.
    roc               the probability that a row of the class outscores one of the other, by the scores for the class,
                      with ties as one half: Â(i|j) of Hand and Till, section 2.
    """

    number: Sequence[int]
    against: Sequence[int]
    roc: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """The answer: each class against the rest, the averages, and, for exclusive classes, the pairs.

    hand_till   the mean of roc over all pairs: M of Hand and Till, equation 7. Pairs with a class without positives are
                left out; NaN if another pair has none, or there is no pair.
    drawings    what a picture draws of each class, if one was requested; None for a class without areas.
    decisions   predicted classes, if that was asked for.
    """

    names: tuple[str, ...]
    areas: AreaColumns
    averages: ClassAverages
    pairs: ClassPairs | None
    hand_till: float | None
    drawings: tuple[DrawnTable | None, ...] | None
    warnings: tuple[CurvesWarning, ...]
    decisions: ClassDecisions = ClassDecisions()  # noqa: RUF009  # it is frozen


def evaluate_classes(
    given: ClassScores, drawn: DrawingOptions | None = None, decided: ClassDecisionOptions | None = None
) -> Classes:
    """Evaluate each class as a sample of its scores, with its rows as the positives.

    Two labels whose `roc` is 1 and 0.5, of one row and of three, have the macro average 0.75 and the weighted 0.625.
    """
    parts = (
        sample_or_reason(scores, members, given.weights, lower_is_positive=given.lower_is_positive)
        for scores, members in zip(given.scores, given.members, strict=True)
    )
    areas, tables = areas_of_each(parts, len(given.names))
    drawings = None
    if drawn is not None:
        drawings = tuple(None if table is None else DrawnTable.of(table, drawn) for table in in_time(tables))
    pairs = _pairs(given) if given.exclusive else None
    averages = _averages(areas, pooled_classes(given))
    hand_till = None if pairs is None else _hand_till(pairs, areas)
    warnings = (*_warnings(given, areas, averages, hand_till), *below_chance(areas.roc.tolist(), given.names))
    decisions = ClassDecisions() if decided is None else class_decisions(given, decided)
    if decisions.tied:
        detail = f"Several classes have the highest score in {counted_rows(decisions.tied)}; each gets an equal part."
        warnings += (CurvesWarning("tied_decisions", detail),)
    return Classes(given.names, areas, averages, pairs, hand_till, drawings, warnings, decisions)


def pooled_classes(given: ClassScores) -> Sample | Undefined:
    """Every row for every class, as a sample of n k rows; positive if the row belongs to the class."""
    weights = None if given.weights is None else np.tile(given.weights, len(given.names))
    return sample_or_reason(
        np.concatenate(given.scores), np.concatenate(given.members), weights, lower_is_positive=given.lower_is_positive
    )


def _averages(areas: AreaColumns, pooled: Sample | Undefined) -> ClassAverages:
    """Average areas over the classes: Σ A / k; Σ P A / Σ P; and the area of all classes in one sample.

    A class without positives has the weight 0 in Σ P A, so that it needs no area.
    """
    micro, _ = areas_of_each([pooled], 1)
    there = areas.positives != 0
    known = there.any() and not any(compress(areas.reason, there))
    positives = [Fraction(each) for each in areas.positives[there]] if known else []

    def averages(name: str) -> FloatArray:
        each: FloatArray = getattr(areas, name)
        macro = fsum(each) / each.size  # NaN if one is
        weighted = float(sum(map(mul, map(Fraction, each[there]), positives)) / sum(positives)) if known else np.nan
        return np.array([macro, weighted, getattr(micro, name)[0]])

    return ClassAverages(*map(averages, AVERAGED_AREAS))


def _pairs(given: ClassScores) -> ClassPairs:
    """Compare the rows of every two classes by the scores for the first."""
    count = len(given.names)
    sizes = np.array([np.count_nonzero(members) for members in given.members], np.float64)
    if given.weights is None and 2 * float(sizes.max()) ** 2 <= LARGEST_EXACT_INTEGER:
        classes = np.stack(given.members).argmax(axis=0)
        rows = [_row_by_ranks(given, of, classes, sizes) for of in in_time(range(count))]
    else:
        rows = [_row_by_tables(given, of) for of in range(count)]
    of, against = (~np.eye(count, dtype=np.bool_)).nonzero()
    return ClassPairs(of.tolist(), against.tolist(), np.stack(rows)[of, against])


def _hand_till(pairs: ClassPairs, areas: AreaColumns) -> float:
    there = areas.positives != 0
    roc = pairs.roc[there[list(pairs.number)] & there[list(pairs.against)]]
    return fsum(roc) / roc.size if roc.size else np.nan


def _row_by_ranks(given: ClassScores, of: int, classes: IntArray, sizes: FloatArray) -> FloatArray:
    """Compare one class with each, (k,), without weights: Σ (2 above + ties) / 2 P N, a quotient of integers."""
    scores = -given.scores[of] if given.lower_is_positive else given.scores[of]
    order = np.argsort(scores)
    ascending, own = scores[order], np.sort(scores[given.members[of]])
    twice = 2 * own.size - own.searchsorted(ascending) - own.searchsorted(ascending, side="right")
    with np.errstate(invalid="ignore"):
        out: FloatArray = np.bincount(classes[order], weights=twice, minlength=sizes.size) / (2 * sizes[of] * sizes)
    return out


def _row_by_tables(given: ClassScores, of: int) -> FloatArray:
    """Compare one class with each, (k,), by a table of the rows of both; any weights and numbers of rows."""
    out = np.full(len(given.names), np.nan)
    for against, others in enumerate(in_time(given.members)):
        rows = (given.members[of] | others).nonzero()[0]
        weights = None if given.weights is None else given.weights[rows]
        part = sample_or_reason(
            given.scores[of][rows], given.members[of][rows], weights, lower_is_positive=given.lower_is_positive
        )
        if isinstance(part, Sample):
            out[against] = roc_area(ConfusionTable.from_sample(part))
    return out


def _warnings(
    given: ClassScores, areas: AreaColumns, averages: ClassAverages, hand_till: float | None
) -> Iterator[CurvesWarning]:
    detail = without_areas(areas.reason, "classes")
    if not detail:
        return
    absent = [name for name, positives in zip(given.names, areas.positives, strict=True) if positives == 0]
    if absent:
        weighing = "" if given.weights is None else " with a weight"
        detail += f" No row{weighing} belongs to {enumerated([*map(repr, absent)])}."
    values = dict(zip(AVERAGES, averages.roc.tolist(), strict=True))
    values |= {} if hand_till is None else {"hand_till": hand_till}
    null = [name for name, value in values.items() if np.isnan(value)]
    defined = [name for name in ("weighted", "hand_till") if name in values and name not in null]
    detail += f" Therefore {joined(null)} {'are' if null[1:] else 'is'} null" if null else ""
    detail += f"; {joined(defined)} {'leave' if defined[1:] else 'leaves'} such classes out" if defined else ""
    yield CurvesWarning("undefined_classes", f"{detail}.")
