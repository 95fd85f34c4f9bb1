"""The schema of a request for a comparison: several evaluations, each with its name.

Knows the options of comparisons; nothing of bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from marshmallow import ValidationError, post_load

from service.charts.picture import Pictures
from service.curves.comparison import MOST_EVALUATIONS
from service.curves.confusion import Evaluation
from service.curves.decisions import Decision
from service.curves.indices import INDICES
from service.curves.row_metrics import ROW_METRICS
from service.inference.differences import ADJUSTMENTS, AGAINST, DifferenceOptions
from service.inference.intervals import resamples_show
from service.inference.methods import RESAMPLED_METHODS
from service.wire.requests.decisions_schemas import DecisionList
from service.wire.requests.evaluation_schemas import ClusteredFields, EvaluationSchema
from service.wire.requests.fields import Choice, ChoiceSet, Flag, Text, invalid, missing_field
from service.wire.requests.id_pairing import Identified, Unpaired, in_order_of
from service.wire.requests.interval_schemas import IntervalsSchema, level_too_high, refuse_bca
from service.wire.requests.object_schemas import ObjectField, ObjectList
from service.wire.requests.picture_schemas import DrawnSchema, charts_field, charts_of
from service.wire.requests.prevalence_schemas import at_prevalence, target_field
from service.wire.wrong import Wrong

MOST_COMPARED_DECISIONS = 100
"""The most decisions of each evaluation."""

LONGEST_CURVE_NAME = 100
"""The most characters in the name of an evaluation."""


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonsRequest:
    """A checked request for a comparison: the evaluations by name, in order."""

    evaluations: dict[str, Evaluation]
    indices: frozenset[str]
    charts: Pictures
    differences: DifferenceOptions | None = None
    decisions: tuple[Decision, ...] = ()
    metrics: frozenset[str] | None = None

    @property
    def rows(self) -> int:
        """The rows of the longest table."""
        return max(evaluation.rows for evaluation in self.evaluations.values())


class NamedEvaluationSchema(ClusteredFields, EvaluationSchema):
    """One of several evaluations."""

    component = "NamedEvaluation"
    about = (
        "One classifier: its name and its evaluation, which is `scores` with `labels` (and perhaps `weights`), or "
        "`counts`, or `groups` of one score each. The positives of all evaluations must be equal, and so must the "
        "negatives."
    )

    name = Text(
        "Its name in the answer, without control characters. It is required, and no two evaluations may have the same.",
        minimum=1,
        maximum=LONGEST_CURVE_NAME,
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> tuple[str, Identified]:
        """Build the evaluation, with its name."""
        if "name" not in data:
            raise invalid("missing", "When there are several evaluations, each needs a name.", "name")
        return data["name"], self.identified(data)


class ComparisonsRequestSchema(DrawnSchema):
    """A request for a comparison: two evaluations or more, and options."""

    component = "ComparisonsRequest"
    about = "The classifiers to compare, and the options."

    charts = charts_field("comparisons")
    evaluations = ObjectList(
        NamedEvaluationSchema(),
        "The classifiers, 2 to 50 of them, each evaluated on the same data.",
        minimum=2,
        maximum=MOST_EVALUATIONS,
    )
    indices = ChoiceSet(
        tuple(INDICES), "The indices that `best_tradeoff` has; all by default.", component="TradeoffIndex"
    )
    intervals = ObjectField(
        IntervalsSchema(),
        "Asks for intervals of the areas of each classifier, of their differences and of `decisions`, and says how to "
        "compute them; `{}` takes all defaults.",
    )
    paired = Flag(
        "Whether all evaluations have the same examples in the same order, so that differences are more certain; "
        "labels and weights must then agree row by row, and so must clusters where given. By default `true` for "
        "columns of one table and with `ids`, `false` otherwise. Needs `intervals`."
    )
    against = Choice(
        AGAINST,
        "What each classifier is compared with: the `first`, or `all` others, each pair once. `first` by default. "
        "Needs `intervals`.",
    )
    adjust = Choice(
        ADJUSTMENTS,
        "How the p-values of the pairs of one area are adjusted for their number: `holm` by Holm's method (1979), "
        "with intervals at the level 1 - (1 - level) / pairs. `none` by default. Needs `intervals`.",
    )
    decisions = DecisionList(
        "Which rows of each evaluation to report, each with its metrics; at most 100. Each evaluation has its own "
        "thresholds. In a query also thresholds, such as `0.5,0.9`.",
        MOST_COMPARED_DECISIONS,
    )
    metrics = ChoiceSet(
        tuple(ROW_METRICS),
        "The metrics of `decisions`; by default `accuracy`, `precision`, `recall`, `specificity`, `npv`, `f1`, `mcc` "
        "and `share`.",
    )
    prevalence = target_field()
    missing = missing_field()
    json_only = frozenset({"evaluations"})

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> ComparisonsRequest:
        """Build the request, if the names are distinct."""
        if "evaluations" not in data:
            raise invalid("missing", "Give a list of evaluations; null and [] count as absent.", "evaluations")
        evaluations = {name: at_prevalence(each, data) for name, each in _named(data["evaluations"]).items()}
        if data["evaluations"][0][1].ids is not None:
            if data.get("paired") is False:
                raise invalid("exclusive", "ids pair the rows; leave out paired.", "paired")
            data |= {"paired": True} if "intervals" in data else {}
        indices = data.get("indices", frozenset(INDICES))
        given = {name: data[name] for name in ("paired", "against", "adjust") if name in data}
        if given and "intervals" not in data:
            raise invalid("missing", f"{next(iter(given))} needs intervals; {{}} takes all defaults.", "intervals")
        differences = DifferenceOptions(data["intervals"], **given) if "intervals" in data else None
        if differences is not None:
            _check_level(differences, len(evaluations))
            refuse_bca(differences.intervals, evaluations.values())
        if "metrics" in data and "decisions" not in data:
            raise invalid("missing", "metrics need decisions.", "decisions")
        decided = tuple(data.get("decisions", ())), data.get("metrics")
        return ComparisonsRequest(evaluations, indices, charts_of("comparisons", data), differences, *decided)


def _named(given: Sequence[tuple[str, Identified]]) -> dict[str, Evaluation]:
    """The evaluations by name; the rows of those with ids are in the order of the first's."""
    evaluations: dict[str, Evaluation] = {}
    for position, (name, evaluation) in enumerate(given):
        if name in evaluations:
            earlier = list(evaluations).index(name)
            fault = Wrong("duplicate", f"evaluations[{earlier}] already has this name.")
            raise ValidationError({"evaluations": {position: {"name": [fault]}}})
        try:
            evaluations[name] = in_order_of(given[0][1], evaluation, "the first evaluation")
        except Unpaired as error:
            raise ValidationError({"evaluations": {position: {error.field: [error.wrong]}}}) from None
    return evaluations


def _check_level(options: DifferenceOptions, models: int) -> None:
    """Refuse an adjusted level that is higher than the resamples support."""
    level, how = options.level_of_differences(models), options.intervals
    if how.method in RESAMPLED_METHODS and not resamples_show(level, how.resamples):
        fault = Wrong(
            "out_of_range", f"With holm, differences have the level {level:.6g}. {level_too_high(how.resamples)}"
        )
        raise ValidationError({"intervals": {"level": [fault]}})
