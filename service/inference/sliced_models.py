"""Models in slices: the table of each slice, with the decisions that were made on all rows.

Knows samples, slices and models; nothing of rules or verdicts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from service.curves.area_columns import Undefined
from service.curves.bounds import Arranged
from service.curves.clock import in_time
from service.curves.confusion import Evaluation
from service.curves.decisions import Decision, chosen_rows_of
from service.curves.evaluation import CurvesWarning
from service.curves.sample import Sample
from service.curves.slicing import rows_by_slice, slice_sample
from service.curves.target_prevalence import TargetPrevalence
from service.inference.estimates import Estimates
from service.inference.intervals import IntervalOptions
from service.inference.models import EvaluatedModel, Models
from service.inference.sliced import RowsInSlices, Slicing

_LONGEST_IN_A_SENTENCE = 40
"""The most characters of a slice's value in a sentence."""

MOST_LISTED = 20
"""The most slices that a report lists."""

UNREMARKABLE = frozenset({"met", "between"})
"""The outcomes of slices that reports do not list."""

NOT_IN_BASELINE = "not_in_baseline"
"""Why a slice of the evaluation is not compared."""


@dataclass(frozen=True, eq=False)
class SliceModels:
    """One slice of the evaluation and, for rules of changes, of its baseline.

    where    it, in a sentence: " of country DE".
    models   those that have areas there, the evaluation's first; None if one lacks them, for the `reason`.
    certain  whether it has intervals; it has none if rows were split.
    """

    where: str
    rows: int
    totals: tuple[float, float]
    models: Models | None
    estimates: Estimates | None
    reason: str | None = None
    certain: bool = True

    @property
    def smaller(self) -> float:
        """The effective size of the smaller class, of both models; 0 without models."""
        return 0.0 if self.models is None else min(min(each.strata.effective) for each in self.models.models)


def sliced_models(
    models: Models, rows: RowsInSlices, decisions: Sequence[Decision], how: IntervalOptions, *, against: bool
) -> list[SliceModels]:
    """Split a model by slices or, to judge changes `against` it, the baseline, too; both have samples."""
    made = [_thresholds(each, decisions) for each in models.models]
    given = [(each.evaluation, each.table.target) for each in models.models]
    ours, keys = _parts(given[0][0], rows.evaluation, given[0][1]), _keys(rows.evaluation)
    theirs: Mapping[tuple[Any, ...], tuple[int, Sample | Undefined]] | None = None
    if against:
        slicing = rows.baseline or rows.evaluation
        theirs = dict(zip(_keys(slicing), _parts(given[1][0], slicing, given[1][1]), strict=True))
    slices = []
    for key, (count, part) in in_time(zip(keys, ours, strict=True)):
        parts = [part] if theirs is None else [part, theirs[key][1] if key in theirs else None]
        found, reason = [], None
        for number, each in enumerate(parts):
            if isinstance(each, Sample):
                found.append(replace(EvaluatedModel.of(each, paired=models.paired), made=made[number]))
            elif reason is None:
                reason = NOT_IN_BASELINE if each is None else each.reason
        both = Models(tuple(found), models.paired and len(found) > 1) if reason is None else None
        totals = part.totals if isinstance(part, Undefined) else (found[0].table.positives, found[0].table.negatives)
        estimates = None if both is None else Estimates(both, how)
        where = _where(rows.evaluation.keys, key)
        slices.append(SliceModels(where, count, (totals[0], totals[1]), both, estimates, reason))
    return slices


def _parts(
    sample: Evaluation | Arranged, slicing: Slicing, target: TargetPrevalence | None
) -> Iterator[tuple[int, Sample | Undefined]]:
    """How many rows each slice has, and these as a sample."""
    assert isinstance(sample, Sample)  # noqa: S101  # nothing else has slices here
    sample = replace(sample, target=target)
    order, bounds = rows_by_slice(slicing.numbers, slicing.count)
    for number in range(slicing.count):
        yield int(bounds[number + 1] - bounds[number]), slice_sample(sample, order, bounds, number)


def _keys(slicing: Slicing) -> list[tuple[Any, ...]]:
    """The values of each slice, with their types: 1 is not true."""
    return [tuple((type(value), value) for value in values) for values in zip(*slicing.keys.values(), strict=True)]


def _where(names: Mapping[str, Any], key: Sequence[tuple[type, Any]]) -> str:
    """Name a slice in a sentence."""
    told = []
    for name, (_, value) in zip(names, key, strict=True):
        told.append(f"no {name}" if value is None else f"{name} {shortened_text(slice_text(value))}")
    return f" of {' and '.join(told)}"


def slice_text(value: object) -> str:
    """The value that defines a slice, on one line."""
    if value is None:
        return "-"
    return " ".join((str(value).lower() if isinstance(value, bool) else str(value)).split())


def shortened_text(text: str) -> str:
    """As much of a text as a sentence has room for."""
    return text if len(text) <= _LONGEST_IN_A_SENTENCE else f"{text[: _LONGEST_IN_A_SENTENCE - 1]}…"


def places_listed(slices: Mapping[str, Sequence[Any]]) -> list[int]:
    """Which of a check's slices reports and pictures list: the first that are not met, or the ends of a gap."""
    return [place for place, status in enumerate(slices["status"]) if status not in UNREMARKABLE][:MOST_LISTED]


def _thresholds(model: EvaluatedModel, decisions: Sequence[Decision]) -> dict[Decision, float | None]:
    """The threshold of each decision on all rows of a model, as `EvaluatedModel.made` has them."""
    rows = chosen_rows_of(model.table, decisions)
    return {
        each: each.at_threshold if row is None else float(model.table.thresholds[row])
        for each, row in zip(decisions, rows, strict=True)
    }


def warnings_of_each(slices: Sequence[SliceModels]) -> Iterator[CurvesWarning]:
    """The warnings of the slices, one of each code, with the number of slices that have such."""
    by_code: dict[str, tuple[SliceModels, CurvesWarning]] = {}
    counts: dict[str, int] = {}
    for each in slices:
        for told in {told.code: told for told in (each.estimates.warnings if each.estimates else ())}.values():
            by_code.setdefault(told.code, (each, told))
            counts[told.code] = counts.get(told.code, 0) + 1
    for code, (each, told) in by_code.items():
        others = counts[code] - 1
        more = f" This is so in {others} more slice{'s' * (others > 1)}." if others else ""
        yield CurvesWarning(code, f"{each.where.removeprefix(' of ')}: {told.detail}{more}")
