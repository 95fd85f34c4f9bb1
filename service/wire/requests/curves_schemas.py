"""The schema of a request for curves: an evaluation and options.

Knows the options of curves; nothing of bytes.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import ValidationError, post_load

from service.charts.picture import Pictures
from service.curves.confusion import Evaluation
from service.curves.costs import LARGEST_COST, CostOptions
from service.curves.evaluation import INCLUDES, CurvesOptions
from service.curves.points import KEEPS
from service.curves.pr import AtRecall, Every
from service.curves.row_metrics import ROW_METRICS
from service.curves.sample import Sample
from service.inference.bands import BandOptions
from service.inference.intervals import IntervalOptions, resamples_show
from service.wire.requests.column_fields import NumberColumn
from service.wire.requests.curve_table_schemas import BandSchema, GainsSchema, NetBenefitSchema, ReliabilitySchema
from service.wire.requests.decisions_schemas import DecisionList
from service.wire.requests.evaluation_schemas import ClusteredFields, EvaluationSchema, SampleSchema
from service.wire.requests.fields import Choice, ChoiceSet, Number, invalid, missing_field
from service.wire.requests.interval_schemas import (
    MOST_OPERATING_POINTS,
    IntervalsSchema,
    OperatingPointSchema,
    level_too_high,
    refuse_bca,
)
from service.wire.requests.object_schemas import ObjectField, ObjectList, ObjectSchema
from service.wire.requests.partial_schemas import PartialSchema
from service.wire.requests.picture_schemas import MarkedSchema, charts_field, charts_of
from service.wire.requests.prevalence_schemas import at_prevalence, refuse_beside_prevalence, target_field
from service.wire.wrong import Wrong


class InterpolationSchema(ObjectSchema):
    """Where to interpolate: exactly one of a step in true positives and a list of recalls."""

    component = "Interpolation"
    about = (
        "Where the precision-recall curves are read between rows: exactly one of `every` and `at_recall`. By default "
        "`every` is 1 if positives plus rows are at most 2000, otherwise the smallest whole number that gives at most "
        "1000 steps (positives / 1000 if counts are not whole, or above 2^53); it is 2 if 1 would list more rows than "
        "the server's limit."
    )
    example: ClassVar = {"every": 10}

    every = Number(
        "The step in true positives. 1 gives every row and every whole number of true positives between (Davis and "
        "Goadrich, section 4); any other n gives 0, n, 2n, ... and `positives`, and nothing else. Where the curve "
        "drops vertically, it has the fewest false positives.",
        exclusive_minimum=0,
    )
    at_recall = NumberColumn("The recalls to read the curve at; one row each, in this order.", minimum=0, maximum=1)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Every | AtRecall:
        """Build the one that is given."""
        if len(data) != 1:
            raise invalid("exclusive", "Give exactly one of every and at_recall.")
        return Every(data["every"]) if "every" in data else AtRecall(data["at_recall"])


MOST_PARTIAL = 100
"""The most partial areas in one request."""


MOST_PREVALENCES = 1000
"""The most prevalences in one request."""


class CostsSchema(ObjectSchema):
    """What errors cost, and at which prevalences."""

    component = "CostOptions"
    about = "The costs of errors and the prevalences; `{}` takes every default."
    example: ClassVar = {"prevalence": [0.01, 0.1], "fn_cost": 5}

    prevalence = NumberColumn(
        "Proportions of positives where the classifier will be used, at most 1,000; by default that of the data.",
        minimum=0,
        maximum=1,
    )
    fn_cost = Number(
        "The cost of a false negative, in any unit; 1 by default.", exclusive_minimum=0, maximum=LARGEST_COST
    )
    fp_cost = Number(
        "The cost of a false positive, in the same unit; 1 by default.", exclusive_minimum=0, maximum=LARGEST_COST
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> CostOptions:
        """Build the options; {} means errors of equal cost, at the prevalence of the data."""
        prevalences = data.get("prevalence", ())
        if len(prevalences) > MOST_PREVALENCES:
            message = f"There are {len(prevalences)} prevalences; the limit is {MOST_PREVALENCES}."
            raise invalid("wrong_length", message, "prevalence")
        return CostOptions(**data)


_SMALL = ("decisions", "band", "reliability", "gains", "net_benefit")
"""Options after which an answer has nothing else, unless `include` names it."""


@dataclass(frozen=True, slots=True, eq=False)
class CurvesRequest:
    """A checked request for curves, and for intervals of their areas and bands if it has options for those."""

    evaluation: Evaluation
    options: CurvesOptions
    intervals: IntervalOptions | None = None
    band: BandOptions | None = None
    charts: Pictures = ()

    @property
    def rows(self) -> int:
        """The rows of the longest table."""
        samples = (self.evaluation, self.options.tuning)
        return max(0 if table is None else table.rows for table in samples)


class CurvesRequestSchema(MarkedSchema, ClusteredFields, EvaluationSchema):
    """A request for curves: an evaluation and its options side by side."""

    component = "CurvesRequest"
    about = (
        "One evaluation and its options in one object. The evaluation is `scores` with `labels` or `soft_labels` (and "
        "perhaps `weights`), or `counts`, or `groups`, or a `dataset`."
    )

    charts = charts_field("curves")
    soft_labels = NumberColumn(
        "Instead of `labels`: for each score, the probability that the example is positive, or the share of raters "
        "who say so. An example with label y counts as a positive of weight y and a negative of weight 1 - y, times "
        "its own weight. Not allowed with `intervals` and `band`.",
        minimum=0,
        maximum=1,
    )
    include = ChoiceSet(
        INCLUDES,
        "Which parts the answer has; by default all but `calibration` and `statistics`, or none if the request has "
        "`decisions`, `band`, `reliability`, `gains` or `net_benefit`.",
        component="Output",
    )
    keep = Choice(
        KEEPS,
        "Which rows `points` keeps: `all`; `corners`, without those on the straight line between their neighbours, so "
        "that neither curve changes; `drawn`, those that a plot of either curve needs, and all vertices of the hull; "
        "or `hull`, only those on the ROC convex hull. It thins `points` and never changes an area. `all` by default. "
        "Drawn from the rows of `drawn`, linear in counts between them, neither curve is more than a quarter of a "
        "pixel from that of all rows, on a plane of 1,000 by 1,000 pixels. A million scores leave a few thousand.",
        component="Keep",
    )
    interpolation = ObjectField(InterpolationSchema())
    thresholds = NumberColumn(
        "The table is rebuilt from these thresholds only, with (0, 0) and (positives, negatives). All outputs "
        "describe the rebuilt table, and the answer has the warning `reduced_table`. To read a threshold without "
        "cutting the curve, use `decisions`. Not allowed for `counts` or with "
        "`tuning`; with open groups, each threshold must lie between groups.",
        infinite=True,
    )
    tuning = ObjectField(SampleSchema())
    intervals = ObjectField(IntervalsSchema())
    band = ObjectField(BandSchema())
    operating_points = ObjectList(
        OperatingPointSchema(),
        "Metrics to read at given points; at most 1,000.",
        minimum=0,
        maximum=MOST_OPERATING_POINTS,
    )
    partial = ObjectList(PartialSchema(), "Partial areas, at most 100 of them.", minimum=0, maximum=MOST_PARTIAL)  # type: ignore[assignment]  # marshmallow removes fields from the class
    costs = ObjectField(CostsSchema())
    reliability = ObjectField(ReliabilitySchema())
    gains = ObjectField(GainsSchema())
    net_benefit = ObjectField(NetBenefitSchema())
    decisions = DecisionList()
    metrics = ChoiceSet(
        tuple(ROW_METRICS),
        "The metrics of `decisions`, and more columns of `points`. By default, decisions have `accuracy`, `precision`, "
        "`recall`, `specificity`, `npv`, `f1`, `mcc` and `share`.",
    )
    prevalence = target_field()
    missing = missing_field()
    sample_only = (*EvaluationSchema.sample_only, "soft_labels", "thresholds", "tuning")
    not_of_groups = (*EvaluationSchema.not_of_groups, "soft_labels")
    heir = "tuning"
    json_only = EvaluationSchema.json_only | {"tuning"}

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> CurvesRequest:
        """Build the request, if its fields are compatible."""
        soft = "soft_labels" in data
        evaluation = self.soft_sample(data) if soft else self.evaluation(data)
        for name in ("intervals", "band"):
            if soft and name in data:
                message = f"Soft labels are probabilities, not observed classes: they have no {name}."
                raise invalid("exclusive", message, name)
        if "clusters" in data and "band" in data:
            raise invalid("exclusive", "No band is known that keeps its level with clusters.", "band")
        _check_band(data.get("band"), data.get("intervals", IntervalOptions()))
        tuning: Sample | None = data.get("tuning")
        if tuning is not None and "thresholds" in data:
            raise invalid("exclusive", "Give thresholds or a tuning sample, not both.", "thresholds")
        if tuning is not None and tuning.lower_is_positive != evaluation.lower_is_positive:
            message = "The tuning sample's thresholds cannot be applied to scores that rank the other way."
            raise invalid("exclusive", message, "tuning")
        if "include" not in data and any(name in data for name in _SMALL):
            data["include"] = frozenset()
        if "metrics" in data and not ("decisions" in data or "points" in data.get("include", {"points"})):
            raise invalid("exclusive", "These are for decisions and for points; ask for one of them.", "metrics")
        refuse_bca(data.get("intervals"), [evaluation])
        charts = charts_of("curves", data)
        refuse_beside_prevalence(data, data.get("include", ()), charts)
        evaluation = at_prevalence(evaluation, data)
        if tuning is not None:
            data["tuning"] = at_prevalence(tuning, data)
        options = CurvesOptions(**{name: data[name] for name in CurvesOptions.__slots__ if name in data})
        intervals, band = data.get("intervals"), data.get("band")
        return CurvesRequest(evaluation, options, intervals, band, charts)


def _check_band(band: BandOptions | None, intervals: IntervalOptions) -> None:
    """Refuse a level of a whole curve that is higher than the resamples show."""
    if band is not None and band.kind == "simultaneous" and not resamples_show(intervals.level, intervals.resamples):
        fault = Wrong("out_of_range", level_too_high(intervals.resamples))
        raise ValidationError({"intervals": {"level": [fault]}})
