"""The schema of a request for slices: a sample, the columns that define its slices, and the options for each slice.

Knows samples and slices; nothing of bytes.
"""

from dataclasses import dataclass, replace
from typing import Any

from marshmallow import ValidationError, post_load

from service.charts.picture import Pictures
from service.curves.area_columns import SHARED_AREAS
from service.curves.errors import counted_rows
from service.curves.histogram import Histogram
from service.curves.row_metrics import ROW_METRICS
from service.curves.sample import Sample
from service.inference.metric import AREAS_WITH_INTERVALS
from service.inference.sliced import SliceOptions, Slicing
from service.wire.requests.dataset_schemas import DatasetSchema
from service.wire.requests.decisions_schemas import DecisionList
from service.wire.requests.evaluation_schemas import ClusteredFields, EvaluationSchema, SampleSchema
from service.wire.requests.fields import ChoiceSet, invalid, missing_field
from service.wire.requests.groups_schemas import GroupsField, merged
from service.wire.requests.interval_schemas import ClosedIntervalsSchema, OperatingPointSchema
from service.wire.requests.object_schemas import ObjectField, ObjectList
from service.wire.requests.picture_schemas import DrawnSchema, charts_field, charts_of
from service.wire.requests.prevalence_schemas import at_prevalence, target_field
from service.wire.requests.slice_columns import ALREADY_THERE, SliceColumns
from service.wire.wrong import Wrong

MOST_SLICE_POINTS = MOST_SLICE_DECISIONS = 20
"""The most operating points, and the most decisions, of every slice."""

OWN_COLUMNS = (
    "rows",
    "positives",
    "negatives",
    *SHARED_AREAS,
    *(f"{area}_{end}" for area in AREAS_WITH_INTERVALS for end in ("lower", "upper")),
    "reason",
    "metric",
    "at",
    "value",
    "threshold",
    "tp",
    "fp",
)
"""Columns of the answer besides those that define slices."""

COLUMNS_OF_DECISIONS = frozenset(
    ("decision", "fn", "tn", *(f"{name}{end}" for name in ROW_METRICS for end in ("", "_lower", "_upper")))
)
"""More of them, if there are decisions."""


class SliceIntervalsSchema(ClosedIntervalsSchema):
    """The level and the method of slices' intervals."""

    component = "SliceIntervalOptions"
    about = (
        "Requests intervals of `roc`, `pr` and `average_precision` for each slice, by the methods of `/v1/curves` "
        "that do not resample. `{}` takes all defaults."
    )


@dataclass(frozen=True, slots=True, eq=False)
class SlicesRequest:
    """A checked request for slices."""

    sample: Sample | Histogram
    slicing: Slicing
    options: SliceOptions
    charts: Pictures = ()

    @property
    def rows(self) -> int:
        """The rows of the sample, or the groups."""
        return self.sample.rows


class SlicesRequestSchema(DatasetSchema, ClusteredFields, SampleSchema, DrawnSchema):
    """A request for slices: a sample or groups, and its options."""

    component = "SlicesRequest"
    about = (
        "A sample, or `groups` of one score each; the columns that define the slices; and the options, side by side."
    )

    charts = charts_field("slices")
    groups = GroupsField()
    slices = SliceColumns(
        OWN_COLUMNS,
        "The columns that define slices, 1 to 10, by name, each with as many values as scores: text, integers or "
        "booleans, all of one kind, or `null`. Arrow and Parquet may have dates and timestamps, too, which become "
        "text such as 2024-01-31. At most 100,000 slices, and 1,000 characters in a text. No column may have the name "
        "of one in the answer, such as `rows` or `roc`. For a dataset, columns that it lists as slices, each with an "
        "empty list.",
        component="SliceColumns",
    )
    operating_points = ObjectList(
        OperatingPointSchema(),
        "Metrics to read at given points for every slice; at most 20.",
        minimum=0,
        maximum=MOST_SLICE_POINTS,
    )
    decisions = DecisionList(
        "Which rows to report, each with its metrics, of all rows together and in every slice; at most 20. The "
        "threshold is chosen on all rows. In a query also thresholds, such as `0.5,0.9`.",
        MOST_SLICE_DECISIONS,
    )
    metrics = ChoiceSet(
        tuple(ROW_METRICS),
        "The metrics of `decisions`; by default `accuracy`, `precision`, `recall`, `specificity`, `npv`, `f1`, `mcc` "
        "and `share`.",
    )
    intervals = ObjectField(SliceIntervalsSchema())
    prevalence = target_field()
    missing = missing_field()
    json_only = EvaluationSchema.json_only

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> SlicesRequest:
        """Build the request, if the slices cover every row."""
        self.refuse_without_dataset(data)
        if "slices" not in data:
            message = 'Give the columns that define the slices, such as {"country": ["DE", "FR"]}.'
            raise invalid("missing", message, "slices")
        sample = self._groups(data) if "groups" in data else super().build(data)
        sample = at_prevalence(sample, data)
        slicing: Slicing = data["slices"]
        if slicing.numbers.size != sample.rows:
            others = "there are {} groups" if "groups" in data else "scores has {}"
            message = (
                f"The columns of slices have {counted_rows(slicing.numbers.size)} but {others.format(sample.rows)}."
            )
            raise invalid("lengths_differ", message, "slices")
        return SlicesRequest(sample, slicing, _options(data, slicing), charts_of("slices", data))

    @staticmethod
    def _groups(data: dict[str, Any]) -> Histogram:
        """Check groups, which are merged within each slice."""
        for name in EvaluationSchema.not_of_groups:
            if name in data:
                raise invalid("exclusive", "This is for a sample, but groups are given too.", name)
        given: Histogram = data["groups"]
        columns = replace(given, lower_is_positive=data.get("lower_is_positive", False))
        merged(columns)
        if not columns.is_exact:
            raise invalid("needs_exact_groups", "Slices need groups of one score each.", "groups")
        return columns


def _options(data: dict[str, Any], slicing: Slicing) -> SliceOptions:
    """Build what to read off each slice, if the options go together and their columns have names of their own."""
    if "metrics" in data and "decisions" not in data:
        raise invalid("missing", "metrics need decisions.", "decisions")
    taken = COLUMNS_OF_DECISIONS & slicing.keys.keys() if "decisions" in data else frozenset()
    if taken:
        faults = {name: [Wrong("duplicate", ALREADY_THERE)] for name in slicing.keys if name in taken}
        raise ValidationError({"slices": faults})
    return SliceOptions(
        tuple(data.get("operating_points", ())),
        data.get("intervals"),
        tuple(data.get("decisions", ())),
        data.get("metrics"),
    )
