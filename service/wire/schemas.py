"""The schemas of the requests: what fields there are, what they hold, and which go together.

A loaded schema is the domain object. Every field is optional in itself, and null or [] reads as absent, so that a
generated client may send either. Knows the domain's constructors; nothing of bytes.
"""

from dataclasses import dataclass, replace
from typing import Any

from marshmallow import RAISE, Schema, ValidationError, fields, post_load, pre_load

from service.curves.counts import Counts, total
from service.curves.errors import (
    ContradictingTotals,
    CurvesError,
    LengthsDiffer,
    OneClassLabels,
    RisingThresholds,
    TooManyPoints,
    TotalOutOfRange,
)
from service.curves.evaluation import INCLUDES, KEEPS, CurvesOptions
from service.curves.pr import AtRecall, Every
from service.curves.sample import Sample
from service.wire.fields import Choice, ChoiceSet, Fault, Flag, LabelColumn, Number, NumberColumn, Scalar, invalid
from service.wire.problems import MAX_ERRORS

FACT_CODES: dict[type[CurvesError], str] = {
    LengthsDiffer: "lengths_differ",
    OneClassLabels: "one_class",
    TotalOutOfRange: "total_out_of_range",
    ContradictingTotals: "contradicting_totals",
    RisingThresholds: "rising_thresholds",
    TooManyPoints: "too_many_points",
}
"""The one place where a fact of the mathematics gets the code that clients see."""

_SAMPLE_ONLY = ("scores", "labels", "weights", "positive_label", "thresholds", "tuning")


@dataclass(frozen=True, slots=True, eq=False)
class CurvesRequest:
    """A checked request for curves."""

    evaluation: Sample | Counts
    options: CurvesOptions


class ObjectSchema(Schema):
    """An object that takes its own fields only, and reads null and [] as absent."""

    error_messages = {  # noqa: RUF012  # marshmallow's own way; typed as text there
        "unknown": Fault("unknown_field", "This field is not known here."),  # type: ignore[dict-item]
        "type": Fault("not_an_object", "An object belongs here."),  # type: ignore[dict-item]
    }

    class Meta:
        """Refuse unknown fields."""

        unknown = RAISE

    @pre_load
    def drop_absent(self, data: Any, **_: object) -> Any:  # noqa: ANN401  # anything that JSON can hold
        """Leave out what reads as absent, and unknown fields beyond those that a problem lists."""
        if not isinstance(data, dict):
            return data
        surplus = set([key for key in data if key not in self.fields][MAX_ERRORS:])
        return {
            key: value
            for key, value in data.items()
            if value is not None and not _is_empty_list(value) and key not in surplus
        }


class InterpolationSchema(ObjectSchema):
    """Where to interpolate: exactly one of a step in true positives and a list of recalls."""

    every = Number(exclusive_minimum=0)
    at_recall = NumberColumn(minimum=0, maximum=1)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Every | AtRecall:
        """Build the one that is given."""
        if len(data) != 1:
            raise invalid("exclusive", "Give exactly one of every and at_recall.")
        return Every(data["every"]) if "every" in data else AtRecall(data["at_recall"])


class SampleSchema(ObjectSchema):
    """Scores and labels, with optional weights: the tuning sample, and part of every evaluation."""

    scores = NumberColumn()
    labels = LabelColumn()
    weights = NumberColumn(minimum=0)
    positive_label = Scalar()
    lower_is_positive = Flag()


class CountsSchema(ObjectSchema):
    """Columns of confusion-matrix counts, with fn and tn or the totals."""

    tp = NumberColumn(minimum=0)
    fp = NumberColumn(minimum=0)
    fn = NumberColumn(minimum=0)
    tn = NumberColumn(minimum=0)
    positives = Number(minimum=0)
    negatives = Number(minimum=0)
    threshold = NumberColumn(nullable=True)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Counts:
        """Build the Counts with their totals; the request knows the direction of the thresholds."""
        for name in ("tp", "fp"):
            if name not in data:
                raise invalid("missing", "Counts need tp and fp.", name)
        for misses, name in (("fn", "positives"), ("tn", "negatives")):
            if misses not in data and name not in data:
                raise invalid("missing", f"Give {misses} or {name}: without them the total is unknown.", name)
        try:
            positives = total(data["tp"], data.get("fn"), data.get("positives"), ("tp", "fn", "positives"))
            negatives = total(data["fp"], data.get("tn"), data.get("negatives"), ("fp", "tn", "negatives"))
            return Counts(data["tp"], data["fp"], positives, negatives, data.get("threshold"))
        except CurvesError as fact:
            raise ValidationError(fact_messages(fact)) from None


class CurvesRequestSchema(SampleSchema):
    """A request for curves: an evaluation and its options side by side."""

    counts = fields.Nested(CountsSchema)
    include = ChoiceSet(INCLUDES)
    keep = Choice(KEEPS)
    interpolation = fields.Nested(InterpolationSchema)
    thresholds = NumberColumn()
    tuning = fields.Nested(SampleSchema)

    @pre_load
    def drop_absent(self, data: Any, **kwargs: object) -> Any:  # noqa: ANN401  # anything that JSON can hold
        """Refuse a sample beside counts; let a tuning sample inherit what labels and scores mean."""
        data = super().drop_absent(data, **kwargs)
        if isinstance(data, dict) and "counts" in data:
            for name in _SAMPLE_ONLY:
                if name in data:
                    raise invalid("exclusive", "This goes with a sample; counts are given too.", name)
        if isinstance(data, dict) and isinstance(data.get("tuning"), dict):
            meaning = {key: data[key] for key in ("positive_label", "lower_is_positive") if key in data}
            data["tuning"] = {**meaning, **super().drop_absent(data["tuning"])}
        return data

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> CurvesRequest:
        """Build the request, when its fields go together."""
        if "counts" in data:
            evaluation = replace(data["counts"], lower_is_positive=data.get("lower_is_positive", False))
        elif not any(name in data for name in _SAMPLE_ONLY):
            raise invalid("missing", "Give scores and labels, or counts; null and [] read as absent.")
        else:
            evaluation = _sample(data)
        if "thresholds" in data and "tuning" in data:
            raise invalid("exclusive", "Give thresholds or a tuning sample, not both.", "thresholds")
        options = {name: data[name] for name in ("include", "keep", "interpolation", "thresholds") if name in data}
        return CurvesRequest(evaluation, CurvesOptions(**options, tuning=_tuning(data)))


def fact_messages(fact: CurvesError) -> dict[str, list[Fault]]:
    """Write a fact of the mathematics as marshmallow's messages, under the column that it blames."""
    return {fact.column or "_schema": [Fault(FACT_CODES[type(fact)], fact.detail, fact.row)]}


def _sample(data: dict[str, Any]) -> Sample:
    for name in ("scores", "labels"):
        if name not in data:
            raise invalid("missing", "A sample needs scores and labels; null and [] read as absent.", name)
    try:
        return Sample(data["scores"], data["labels"], data.get("weights"), data.get("lower_is_positive", False))
    except CurvesError as fact:
        raise ValidationError(fact_messages(fact)) from None


def _tuning(data: dict[str, Any]) -> Sample | None:
    if "tuning" not in data:
        return None
    if data["tuning"].get("lower_is_positive", False) != data.get("lower_is_positive", False):
        message = "The tuning sample's thresholds cannot be applied to scores that run the other way."
        raise invalid("exclusive", message, "tuning")
    try:
        return _sample(data["tuning"])
    except ValidationError as error:
        raise ValidationError({"tuning": error.messages_dict}) from None


def _is_empty_list(value: object) -> bool:
    return isinstance(value, list) and not value
