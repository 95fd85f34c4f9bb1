"""The schemas of the input of every operation: a sample, counts, or groups.

A loaded schema is the domain object. Every field is optional on its own, and null or [] count as absent, so that
generated clients may send them. Knows the domain's constructors; nothing of bytes.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from marshmallow import RAISE, Schema, ValidationError, fields, post_load, pre_load

from service.curves.confusion import Evaluation
from service.curves.counts import Counts, total
from service.curves.errors import CurvesError
from service.curves.grouped import CLOSED_SIDES, GroupColumns, Grouped
from service.curves.sample import Sample
from service.wire.columns import is_unicode, items
from service.wire.problems import MAX_ERRORS, meant
from service.wire.requests.faults import FACT_CODES
from service.wire.requests.fields import (
    Choice,
    Fault,
    Flag,
    LabelColumn,
    Number,
    NumberColumn,
    Scalar,
    Text,
    invalid,
    such_as,
)

_MEANING: dict[str, tuple[type, ...]] = {"positive_label": (str, int, float), "lower_is_positive": (bool,)}
"""Fields for the meaning of labels and scores, and the types of their values; a bool is an int."""

_COUNTED = (("tp", "fn", "positives"), ("fp", "tn", "negatives"))
"""For each class: the number called positive, the number not, and the total."""


_UNKNOWN_FIELD = Fault("unknown_field", "Unknown field.")


class ObjectSchema(Schema):
    """An object that takes only its own fields, and treats null and [] as absent.

    `example` is shown where there is something else in its place.
    """

    example: ClassVar[str] = ""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401  # marshmallow's, passed on
        super().__init__(partial=True, **options)  # no field is required: absent ones need no visit
        self.error_messages |= {  # typed as text, but passed on unchanged
            "unknown": _UNKNOWN_FIELD,  # type: ignore[dict-item]
            "type": Fault("not_an_object", f"Must be an object{such_as(self.example)}."),  # type: ignore[dict-item]
        }

    class Meta:
        """Refuse unknown fields."""

        unknown = RAISE

    def handle_error(self, error: ValidationError, *_: object, **__: object) -> None:
        """Suggest names for unknown fields."""
        for name, faults in error.messages.items() if isinstance(error.messages, dict) else ():
            if faults == [_UNKNOWN_FIELD]:
                advice = meant(str(name), [*self.fields])
                faults[:] = [Fault("unknown_field", f"Unknown field; {advice}")]

    @pre_load
    def drop_absent(self, data: Any, **_: object) -> Any:  # noqa: ANN401  # anything that JSON can hold
        """Drop known fields that count as absent, and unknown ones beyond those that a problem lists."""
        if not isinstance(data, dict):
            return data
        surplus = set([key for key in data if key not in self.fields][MAX_ERRORS:])
        return {
            key: value
            for key, value in data.items()
            if key not in surplus and not (key in self.fields and _is_absent(value))
        }


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
        try:
            positives, negatives = (_total(data, names) for names in _COUNTED)
            return Counts(data["tp"], data["fp"], positives, negatives, data.get("threshold"))
        except CurvesError as fact:
            raise _fault_of(fact, data) from None


MOST_WANTED = 1_000
"""The most values of one filter."""

_LARGEST_VALUE = 2**63

_SQUARES = ("positives_squared", "negatives_squared")


class FoundGroups(dict[str, Any]):
    """Columns of groups that an engine found; `rest` is a sentence if the negatives have several labels.

    No client may send such a sentence, so it is no field of the schema.
    """

    def __init__(self, columns: Mapping[str, Any], rest: str | None) -> None:
        super().__init__(columns)
        self.rest = rest


class GroupsSchema(ObjectSchema):
    """Columns of groups: the score, or the ends, of each, with its positives and negatives."""

    score = NumberColumn()
    score_from = NumberColumn()
    score_to = NumberColumn()
    positives = NumberColumn(minimum=0)
    negatives = NumberColumn(minimum=0)
    positives_squared = NumberColumn(minimum=0)
    negatives_squared = NumberColumn(minimum=0)
    closed = Choice(CLOSED_SIDES)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> GroupColumns:
        """Build the columns; the request merges them, as it knows the direction of the scores."""
        for name in ("positives", "negatives"):
            if name not in data:
                raise invalid("missing", "Groups need positives and negatives; null and [] count as absent.", name)
        ends = {name: data[name] for name in ("score_from", "score_to") if name in data}
        if "score" in data and ends:
            raise invalid("exclusive", "Give score, or score_from and score_to, not both.", "score")
        if "score" in data:
            ends = dict.fromkeys(("score_from", "score_to"), data.pop("score"))
        for name in ("score_from", "score_to"):
            if name not in ends:
                raise invalid("missing", "Groups need score, or score_from and score_to.", name if ends else "score")
        squares = [name for name in _SQUARES if name not in data]
        if len(squares) == 1:
            raise invalid("missing", "Give the sums of squared weights of both classes or of neither.", squares[0])
        return GroupColumns(**(data | ends))


class GroupsField(fields.Nested):
    """Groups of a request, or those that an engine found in their place."""

    def __init__(self) -> None:
        super().__init__(GroupsSchema)

    def _deserialize(self, value: object, *arguments: Any, **options: Any) -> GroupColumns:  # noqa: ANN401  # passed on
        columns: GroupColumns = super()._deserialize(value, *arguments, **options)
        return replace(columns, rest=value.rest) if isinstance(value, FoundGroups) else columns


def merged(columns: GroupColumns) -> Grouped:
    """Merge the groups of a request; what is wrong with them is wrong with its field `groups`."""
    try:
        return Grouped.of(columns)
    except CurvesError as fact:
        fault = Fault(FACT_CODES[type(fact)], fact.detail, fact.row)
        raise ValidationError({"groups": {fact.column or "_schema": [fault]}}) from None


class SampleFields(ObjectSchema):
    """The fields of a sample."""

    scores = NumberColumn()
    labels = LabelColumn()
    weights = NumberColumn(minimum=0)
    positive_label = Scalar()
    lower_is_positive = Flag()


class SampleSchema(SampleFields):
    """A sample that is never counts: the tuning sample."""

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Sample:
        """Build the Sample."""
        return _sample(data)


class Where(fields.Field[dict[str, list[Any]]]):
    """Filters by name, each a value or a list of values: all texts, all numbers or all booleans."""

    def _deserialize(self, value: object, *_: object, **__: object) -> dict[str, list[Any]]:
        if not isinstance(value, dict):
            message = 'Must be an object of filters, such as {"country": ["DE", "FR"]}.'
            raise ValidationError([Fault("not_an_object", message)])
        read = {name: [given] if (listed := items(given)) is None else list(listed) for name, given in value.items()}
        errors = {name: [fault] for name, values in read.items() if (fault := _wrong_values(values)) is not None}
        if errors:
            raise ValidationError(errors)
        return read


def _wrong_values(values: list[Any]) -> Fault | None:
    if not 1 <= len(values) <= MOST_WANTED:
        return Fault("wrong_length", f"Must have 1 to {MOST_WANTED} values, not {len(values)}.")
    kinds = {float if type(value) is int else type(value) for value in values}
    if len(kinds) > 1 or not kinds <= {bool, float, str}:
        return Fault("not_a_label", "Must be all strings, all numbers or all booleans.")
    if float in kinds and not all(abs(value) < _LARGEST_VALUE for value in values):
        return Fault("out_of_range", "Numbers must be below 2^63 in absolute value.")
    if str in kinds and not is_unicode("".join(values)):
        return Fault("not_text", "This contains half of a surrogate pair.")
    return None


class DatasetSchema(ObjectSchema):
    """What names a dataset in place of an evaluation; it becomes groups before the request is checked."""

    dataset = Text(minimum=1, maximum=100)
    where = Where()
    tolerance = Number(exclusive_minimum=0, maximum=1)

    @staticmethod
    def refuse_without_dataset(data: dict[str, Any]) -> None:
        """Refuse what is for a dataset where none was named."""
        for name in ("where", "tolerance"):
            if name in data:
                raise invalid("exclusive", "This is for a dataset, but none is named.", name)


class EvaluationSchema(DatasetSchema, SampleFields):
    """The input of every operation: a sample's fields, counts, or groups.

    heir   the field of an evaluation within the request that inherits the meaning of labels and scores.
    """

    counts = fields.Nested(CountsSchema)
    groups = GroupsField()
    sample_only: tuple[str, ...] = ("scores", "labels", "weights", "positive_label")
    not_of_groups: tuple[str, ...] = sample_only
    heir: str | None = None

    @pre_load
    def drop_absent(self, data: Any, **kwargs: object) -> Any:  # noqa: ANN401  # anything that JSON can hold
        """Refuse a sample's fields next to counts or groups, whatever their values."""
        data = super().drop_absent(data, **kwargs)
        if isinstance(data, dict):
            for kind, others in (("counts", (*self.sample_only, "groups")), ("groups", self.not_of_groups)):
                for name in others:
                    if kind in data and name in data:
                        what = "is for a sample" if name != "groups" else "is another evaluation"
                        raise invalid("exclusive", f"This {what}, but {kind} are given too.", name)
            return data if self.heir is None else _inheriting(data, self.heir)
        return data

    def evaluation(self, data: dict[str, Any]) -> Evaluation:
        """Build the sample, the counts or the groups, whichever is given."""
        self.refuse_without_dataset(data)
        lower = data.get("lower_is_positive", False)
        if "counts" in data:
            counts: Counts = data["counts"]
            return replace(counts, lower_is_positive=lower)
        if "groups" in data:
            groups: GroupColumns = data["groups"]
            return merged(replace(groups, lower_is_positive=lower))
        if not any(name in data for name in self.sample_only):
            raise invalid("missing", "Give scores and labels, or counts, or groups; null and [] count as absent.")
        return _sample(data)

    @staticmethod
    def soft_sample(data: dict[str, Any]) -> Sample:
        """Build a sample of soft labels."""
        for name in ("labels", "positive_label"):
            if name in data:
                raise invalid("exclusive", "This is for labels, but soft_labels are given too.", name)
        if "scores" not in data:
            raise invalid("missing", "A sample needs scores and soft_labels; null and [] count as absent.", "scores")
        lower = data.get("lower_is_positive", False)
        try:
            return Sample.soft(data["scores"], data["soft_labels"], data.get("weights"), lower_is_positive=lower)
        except CurvesError as fact:
            raise _fault_of(fact, data) from None


def _inheriting(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Let an evaluation within a request inherit the meaning of labels and scores, unless it has its own."""
    inner = data.get(name)
    if not isinstance(inner, dict):
        return data
    # Each mistake is reported once, in its place.
    meaning = {key: data[key] for key, kinds in _MEANING.items() if isinstance(data.get(key), kinds)}
    given = {key: value for key, value in inner.items() if not (key in meaning and _is_absent(value))}
    if not _is_absent(given.get("counts")) or not _is_absent(given.get("groups")):
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
        return Sample(data["scores"], positive, data.get("weights"), data.get("lower_is_positive", False), rest)
    except CurvesError as fact:
        raise _fault_of(fact, data) from None


def _fault_of(fact: CurvesError, data: dict[str, Any]) -> ValidationError:
    """Turn a fact of the mathematics into a fault of its field; a total may not have been given."""
    field = fact.column if fact.column in data else "_schema"
    return ValidationError({field: [Fault(FACT_CODES[type(fact)], fact.detail, fact.row)]})


def _is_absent(value: object) -> bool:
    return value is None or (isinstance(value, list) and not value)
