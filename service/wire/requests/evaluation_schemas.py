"""The schemas of the input of every operation: a sample, counts, or groups.

A loaded schema is the domain object. Each field alone is optional. Knows the domain's constructors, not bytes.
"""

from dataclasses import replace
from typing import Any

from marshmallow import ValidationError, post_load, pre_load

from service.curves.confusion import Evaluation
from service.curves.counts import Counts, total
from service.curves.errors import DomainError, LengthsDiffer
from service.curves.histogram import Histogram
from service.curves.sample import Sample
from service.wire.requests.column_fields import ClusterColumn, IdColumn, LabelColumn, NumberColumn
from service.wire.requests.dataset_schemas import DatasetSchema
from service.wire.requests.faults import DOMAIN_ERROR_CODES
from service.wire.requests.fields import Flag, Number, Scalar, invalid
from service.wire.requests.groups_schemas import GroupsField, merged
from service.wire.requests.id_pairing import Identified
from service.wire.requests.object_schemas import ObjectField, ObjectSchema, is_absent
from service.wire.wrong import Wrong

_MEANING: dict[str, tuple[type, ...]] = {"positive_label": (str, int, float), "lower_is_positive": (bool,)}
"""Fields for the meaning of labels and scores, and the types of their values; a bool is an int."""

_COUNTED = (("tp", "fn", "positives"), ("fp", "tn", "negatives"))
"""For each class: the number called positive, the number not, and the total."""


class CountsSchema(ObjectSchema):
    """Columns of confusion-matrix counts, with fn and tn or the totals."""

    component = "Counts"
    about = (
        "The counts of confusion matrices, as columns of equal length, one row per threshold or per classifier, in "
        "any order. `tp` and `fp` are needed, and for each total either the column (`fn`, `tn`) or the number "
        "(`positives`, `negatives`). Counts may be fractional. Totals must not contradict each other. The rows (0, 0) "
        "and (positives, negatives) are added, with a `null` threshold, if they are missing."
    )

    tp = NumberColumn("True positives: positives that are called positive.", minimum=0)
    fp = NumberColumn("False positives: negatives that are called positive.", minimum=0)
    fn = NumberColumn(
        "False negatives: positives that are called negative; `tp + fn` is the same in every row.", minimum=0
    )
    tn = NumberColumn(
        "True negatives: negatives that are called negative; `fp + tn` is the same in every row.", minimum=0
    )
    positives = Number("All positives, `tp + fn`.", minimum=0, example=100)
    negatives = Number("All negatives, `fp + tn`.", minimum=0, example=100)
    threshold = NumberColumn(
        "The threshold of each row. It is passed through and does not order the rows, but it must not rise while the "
        "counts rise (with `lower_is_positive`: must not fall). An infinite one, which only tables have, is that of "
        "the row that calls nothing positive, or everything.",
        nullable=True,
        infinite=True,
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Counts:
        """Build the Counts with their totals; the request knows the direction of the thresholds."""
        for name in ("tp", "fp"):
            if name not in data:
                raise invalid("missing", "Counts need tp and fp.", name)
        try:
            positives, negatives = (_total(data, names) for names in _COUNTED)
            return Counts(data["tp"], data["fp"], positives, negatives, data.get("threshold"))
        except DomainError as error:
            raise _fault_of(error, data) from None


class SampleFields(ObjectSchema):
    """The fields of a sample."""

    scores = NumberColumn(
        "The score that the classifier gave to each row. The higher, the more likely positive, unless "
        "`lower_is_positive`.",
        infinite=True,
    )
    labels = LabelColumn(
        "The true class of each row, one for each score: 0 and 1, false and true, -1 and 1; or any values (numbers, "
        "booleans, strings) with `positive_label`. Both classes must occur."
    )
    weights = NumberColumn(
        "The importance of each row, one for each score; 1 by default. A row of weight 0 counts as absent. The total "
        "weight of each class must be from 1e-150 to 1e150.",
        minimum=0,
    )
    ids = IdColumn(
        "What names each row, one for each score: texts or integers, each once. If two evaluations have ids, their "
        "rows are paired by them, whatever the order; both must have the same ids, with the same labels and weights."
    )
    positive_label = Scalar(
        "The label that means positive; all others are negative. It is compared as its column is: if all labels are "
        'true, false, 1 or 0, in any spelling, such as `"True"` or 1.0, as those; if all are numbers, as numbers; '
        "else as text, exactly."
    )
    lower_is_positive = Flag(
        "If true, everything that scores at or *below* a row's threshold is called positive, and thresholds ascend. "
        "False by default."
    )


class ClusteredFields(ObjectSchema):
    """What samples of operations with intervals may have."""

    clusters = ClusterColumn(
        "Which rows belong together, such as those of one patient: text, integers or booleans, one for each score. "
        "Rows of one cluster are not independent, so intervals and p-values count clusters; values stay as they are.",
        example=["a", "a", "b"],
    )


class SampleSchema(SampleFields):
    """A sample that is never counts: the tuning sample."""

    component = "TuningSample"
    about = (
        "A second sample. The thresholds on its ROC hull are applied to the evaluation's own sample, because "
        "thresholds should not be chosen on the data that they are judged by. The table is rebuilt from these "
        "thresholds as with `thresholds`; the answer lists them as `selected_thresholds`. For samples only, in JSON "
        "only."
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Sample:
        """Build the Sample."""
        return _sample(data)


class EvaluationSchema(DatasetSchema, SampleFields):
    """The input of every operation: a sample's fields, counts, or groups.

    heir   the field of an evaluation within the request that inherits the meaning of labels and scores.
    """

    counts = ObjectField(CountsSchema())
    groups = GroupsField()
    sample_only: tuple[str, ...] = ("scores", "labels", "weights", "ids", "clusters", "positive_label")
    not_of_groups: tuple[str, ...] = sample_only
    heir: str | None = None
    json_only = frozenset({"counts", "groups", "dataset", "where", "tolerance"})

    @pre_load
    def drop_absent(self, data: Any, **kwargs: object) -> Any:  # noqa: ANN401  # anything that JSON can hold
        """Refuse a sample's fields next to counts or groups, whatever their values."""
        data = super().drop_absent(data, **kwargs)
        if isinstance(data, dict):
            for kind, others in (("counts", (*self.sample_only, "groups")), ("groups", self.not_of_groups)):
                for name in others if kind in data else ():
                    if name in data:
                        what = "is for a sample" if name != "groups" else "is another evaluation"
                        raise invalid("exclusive", f"This {what}, but {kind} are given too.", name)
            return data if self.heir is None else _inheriting(data, self.heir)
        return data

    def identified(self, data: dict[str, Any]) -> Identified:
        """Build the evaluation, with the ids of its rows."""
        return Identified(self.evaluation(data), data.get("ids"))

    def evaluation(self, data: dict[str, Any]) -> Evaluation:
        """Build the sample, the counts or the groups, whichever is given."""
        self.refuse_without_dataset(data)
        lower = data.get("lower_is_positive", False)
        if "counts" in data:
            counts: Counts = data["counts"]
            return replace(counts, lower_is_positive=lower)
        if "groups" in data:
            groups: Histogram = data["groups"]
            return merged(replace(groups, lower_is_positive=lower))
        if not any(name in data for name in self.sample_only):
            raise invalid("missing", "Give scores and labels, or counts, or groups; null and [] count as absent.")
        return _sample(data)

    @staticmethod
    def soft_sample(data: dict[str, Any]) -> Sample:
        """Build a sample of soft labels."""
        for name in ("labels", "positive_label", "ids", "clusters"):
            if name in data:
                raise invalid("exclusive", "This is for labels, but soft_labels are given too.", name)
        if "scores" not in data:
            raise invalid("missing", "A sample needs scores and soft_labels; null and [] count as absent.", "scores")
        lower = data.get("lower_is_positive", False)
        try:
            return Sample.soft(data["scores"], data["soft_labels"], data.get("weights"), lower_is_positive=lower)
        except DomainError as error:
            raise _fault_of(error, data) from None


def _inheriting(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Let an evaluation within a request inherit the meaning of labels and scores, unless it has its own."""
    inner = data.get(name)
    if not isinstance(inner, dict):
        return data
    # Each mistake is reported once, in its place.
    meaning = {key: data[key] for key, kinds in _MEANING.items() if isinstance(data.get(key), kinds)}
    given = {key: value for key, value in inner.items() if not (key in meaning and is_absent(value))}
    if not is_absent(given.get("counts")) or not is_absent(given.get("groups")):
        meaning.pop("positive_label", None)
    return data | {name: meaning | given}


def _total(data: dict[str, Any], names: tuple[str, str, str]) -> float:
    hits, misses, stated = names
    if misses in data:
        return total(data[hits], data[misses], data.get(stated), names)
    if stated not in data:
        raise invalid("missing", f"Give {misses} or {stated}: without them the total is unknown.", stated)
    return float(data[stated])


def _sample(data: dict[str, Any]) -> Sample:
    for name in ("scores", "labels"):
        if name not in data:
            raise invalid("missing", "A sample needs scores and labels; null and [] count as absent.", name)
    try:
        positive, rest = data["labels"]
        lower = data.get("lower_is_positive", False)
        sample = Sample(data["scores"], positive, data.get("weights"), lower, rest, clusters=data.get("clusters"))
        if "ids" in data and len(data["ids"]) != sample.rows:
            raise LengthsDiffer.of("ids", len(data["ids"]), "scores", sample.rows)
    except DomainError as error:
        raise _fault_of(error, data) from None
    return sample


def _fault_of(error: DomainError, data: dict[str, Any]) -> ValidationError:
    """Turn an error of the mathematics into a fault of its field; a total may not have been given."""
    field = error.column if error.column in data else "_schema"
    return ValidationError({field: [Wrong(DOMAIN_ERROR_CODES[type(error)], error.detail, error.row)]})
