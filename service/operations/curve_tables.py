"""Tables of curves that answer a question of their own: bands, bins of probabilities, gains, net benefit, decisions."""

from typing import Any

import numpy as np

from service.inference.curves_with_intervals import EvaluatedCurves
from service.operations.probability_cells import GAINS, NET_BENEFIT, RELIABILITY
from service.operations.row_cells import DECISIONS, METRIC_CELLS_WITH_ENDS, decision_columns
from service.wire.answers.parts import ABSENT, AnswerTable, Cells

_BIN_COLUMNS = ("score_from", "score_to", "positives", "negatives", "mean_score", "observed")


def _reliability(found: EvaluatedCurves) -> Any:  # noqa: ANN401  # columns by name, None, or ABSENT
    bins = found.curves.reliability
    if bins is None:
        return None if "reliability" in found.curves.asked else ABSENT
    lower, upper = found.bin_ends or (np.full(bins.observed.size, np.nan),) * 2
    return {each: getattr(bins, each) for each in _BIN_COLUMNS} | {"lower": lower, "upper": upper}


def _gains(found: EvaluatedCurves) -> Any:  # noqa: ANN401  # columns, None, or ABSENT
    return found.curves.gains or (None if "gains" in found.curves.asked else ABSENT)


def _net_benefit(found: EvaluatedCurves) -> Any:  # noqa: ANN401  # columns by name, or ABSENT
    benefit = found.curves.net_benefit
    if benefit is None:
        return ABSENT
    table = {name: getattr(benefit, name) for name in benefit.__slots__}
    return (
        table
        if found.net_benefit_ends is None
        else table | dict(zip(("lower", "upper"), found.net_benefit_ends, strict=True))
    )


def _decisions(found: EvaluatedCurves) -> Any:  # noqa: ANN401  # columns by name, or ABSENT
    return ABSENT if found.curves.decisions is None else decision_columns(found.curves.decisions)


def _band(plane: str, at: str, height: str) -> Any:  # noqa: ANN401  # a function of a result
    def of(found: EvaluatedCurves) -> Any:  # noqa: ANN401  # columns by name, None, or ABSENT
        if found.bands is None:
            return ABSENT
        band = found.bands.curves.get(plane)
        if band is None:
            return None
        method = [found.bands.method or None] * band.at.size
        return {at: band.at, height: band.value, "lower": band.lower, "upper": band.upper, "method": method}

    return of


_BAND_ENDS = (
    Cells.number("lower", "The lower end of the band; `null` with too few examples.", null=True),
    Cells.number("upper", "The upper end.", null=True),
    Cells.text(
        "method",
        "How it was computed: `score` if it is pointwise; if it is simultaneous, `fixed_width` from resamples, or "
        "`joint` where none can be drawn. `null` with too few examples.",
        null=True,
    ),
)

ROC_BAND_TABLE = AnswerTable(
    "roc_band",
    "The confidence band of the ROC curve, in the order of `at`. `null` if the counts are not a sweep.",
    _band("roc", "fpr", "tpr"),
    sometimes=True,
    null=True,
    columns=(
        Cells.exact("fpr", "The false positive rate."),
        Cells.number("tpr", "The true positive rate of the curve there; on a vertical step that of its top."),
        *_BAND_ENDS,
    ),
    needs="the option band",
)

PR_BAND_TABLE = AnswerTable(
    "pr_band",
    "The confidence band of the precision-recall curve, in the order of `at`. `null` if the counts are not a sweep.",
    _band("pr", "recall", "precision"),
    sometimes=True,
    null=True,
    columns=(
        Cells.exact("recall", "The recall."),
        Cells.number("precision", "The precision of the curve there, linear in counts between rows."),
        *_BAND_ENDS,
    ),
    needs="the option band",
)

RELIABILITY_TABLE = AnswerTable(
    "reliability",
    "Binned calibration: the share of positives among the examples of each bin of probabilities. From the lowest "
    "probability of a positive to the highest; empty bins are left out. `null` where `brier` is.",
    _reliability,
    sometimes=True,
    null=True,
    columns=RELIABILITY,
    needs="the option reliability",
)

GAINS_TABLE = AnswerTable(
    "gains",
    "What is found when the highest scores are worked through: parts of all examples, one row each. A part that "
    "ends inside a tie takes of it in proportion. `null` if the counts are not a sweep.",
    _gains,
    sometimes=True,
    null=True,
    columns=GAINS,
    needs="the option gains",
)

NET_BENEFIT_TABLE = AnswerTable(
    "net_benefit",
    "What it is worth to act from each probability on, in true positives per example (Vickers and Elkin 2006). "
    "Where counts have no row of that threshold, all but `treat_all` is `null`; on overflow, `standardized` and "
    "`avoided` are.",
    _net_benefit,
    sometimes=True,
    columns=NET_BENEFIT,
    needs="the option net_benefit",
)

DECISIONS_TABLE = AnswerTable(
    "decisions",
    "The row of each decision, in the order requested, and its metrics: those that `metrics` names, or `accuracy`, "
    "`precision`, `recall`, `specificity`, `npv`, `f1`, `mcc` and `share`. All are `null` if no row meets the "
    "decision; a metric is `null` where it is undefined, never 0 instead. With `intervals`, each metric has the "
    "ends of its score interval; they are `null` at a `best` row, which was chosen on the same data, unless there "
    "is a `tuning` sample.",
    _decisions,
    columns=(*DECISIONS, *METRIC_CELLS_WITH_ENDS),
    needs="the option decisions",
    sometimes=True,
)
