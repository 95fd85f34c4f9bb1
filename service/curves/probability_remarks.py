"""What to say about scores as probabilities: why a number is null, which scores count as others, which decide a number.

Knows probabilities and what is computed from them.
"""

from collections.abc import Iterator

from service.curves.confusion import ConfusionTable
from service.curves.errors import counted_rows, joined, plain
from service.curves.probability_statistics import ProbabilityStatistics
from service.curves.score_probabilities import are_probabilities, score_range

_STATISTICS = (
    *("brier", "miscalibration", "discrimination", "uncertainty", "log_loss", "ece", "ece_if_calibrated"),
    *("calibration_slope", "calibration_intercept"),
)
"""The statistics of probabilities."""

BEYOND_PROBABILITIES = "probabilities are needed, from 0 to 1"
"""Why numbers are null if scores are not all between 0 and 1."""

Remark = tuple[str, str]
"""The code and the detail of a warning."""


def remarks(
    table: ConfusionTable, found: ProbabilityStatistics | None, *, statistics: bool, binned: bool
) -> Iterator[Remark]:
    """Remark on the statistics and on the bins, where these are asked for; `found` is None without probabilities."""
    if statistics or binned:
        names = [*(_STATISTICS if statistics else ()), *(["reliability"] if binned else [])]
        yield from _of_scores(table, names)
    if found is None:
        return
    if statistics:
        yield from _of_statistics(found, table)
    if binned and found.options.by == "width" and found.reliability.is_crowded:
        yield "crowded_bin", 'One bin has at least 90 % of the examples; "by": "mass" divides them evenly.'


def _of_scores(table: ConfusionTable, names: list[str]) -> Iterator[Remark]:
    """Say why numbers are null, or what counts as 0 or 1 in them."""
    scores = score_range(table)
    are = f"{joined(names)} {'are' if len(names) > 1 else 'is'} null: "
    if scores is None:
        yield "brier_omitted", f"{are}every score is needed, and counts and chosen thresholds do not give it."
    elif not are_probabilities(*scores):
        low, high = map(plain, scores)
        yield "brier_omitted", f"{are}{BEYOND_PROBABILITIES}, and scores go from {low} to {high}."
    elif not 0 <= scores[0] <= scores[1] <= 1:
        beyond = [f"{plain(score)} counts as {int(score > 1)}" for score in scores if not 0 <= score <= 1]
        yield "rounded_scores", f"As a probability, {joined(beyond)}."


def _of_statistics(found: ProbabilityStatistics, table: ConfusionTable) -> Iterator[Remark]:
    if found.clipped:
        rows = _rows(found.clipped, table)
        yield "clipped_scores", f"The score was certain and wrong in {rows}; log_loss counts 36.04 for each."
    if table.target is not None:
        names = "ece, ece_if_calibrated, calibration_slope and calibration_intercept"
        why = "they judge scores by these data, where positives are not as common as where the model is used."
        yield "not_at_prevalence", f"{names} are null with prevalence: {why}"
        return
    if found.certain:
        why = f"the score is exactly 0 or 1, and its log odds infinite, in {_rows(found.certain, table)}."
        yield "certain_scores", f"calibration_slope and calibration_intercept are null: {why}"
        return
    if found.separated:
        why = "no negative scores above a positive, or none below one, so it would be infinite."
        yield "separated_classes", f"calibration_slope is null: {why}"
    fits = {"calibration_slope": found.separated or found.slope, "calibration_intercept": found.intercept}
    missing = [name for name, fit in fits.items() if not fit]
    if missing:
        are = "are" if len(missing) > 1 else "is"
        why = "scores are too close to each other, or weights too far apart, for a fit in doubles."
        yield "separated_classes", f"{joined(missing)} {are} null: {why}"


def _rows(weight: float, table: ConfusionTable) -> str:
    """Name rows by their number or, with weights, by what they weigh."""
    return counted_rows(int(weight)) if table.counted else f"rows that weigh {plain(weight)}"
