"""The schema of a gate's request about several classes: their scores, perhaps a baseline's, and rules.

Knows which rules such evaluations take; nothing of bytes, nor of verdicts.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from marshmallow import ValidationError, post_load, pre_load

from service.curves.class_scores import ClassScores
from service.curves.clusters import numbered_together
from service.curves.errors import counted_rows, enumerated
from service.curves.evaluation import CurvesWarning
from service.inference.verdicts import GateOptions
from service.wire import columns
from service.wire.requests.classes_schemas import ClassesRequestSchema, ClassIntervalsSchema, class_scores_of
from service.wire.requests.column_fields import LabelColumn, NumberColumn
from service.wire.requests.fields import Flag, JsonSchema, invalid
from service.wire.requests.gate_classes import check_classes
from service.wire.requests.gate_slices import SlicedEvaluationSchema
from service.wire.requests.object_schemas import ObjectField, ObjectSchema, is_absent
from service.wire.wrong import Wrong

_CLASS_FIELDS: dict[str, Any] = ClassesRequestSchema().fields


class ScoresOrClasses(NumberColumn):
    """The scores of a sample; a request with an object of columns, one for each class, has a schema of its own."""

    def shape(self) -> JsonSchema:
        """Anything; the contract has no alternatives."""
        return {}


class LabelsOrClasses(LabelColumn):
    """The labels of a sample, likewise."""

    def shape(self) -> JsonSchema:
        """Anything, likewise."""
        return {}


class ClassEvaluationSchema(ObjectSchema):
    """Scores and labels of several classes."""

    component = "ClassEvaluation"
    about = "Scores for each class and the labels, as in `/v1/classes`."

    scores = _CLASS_FIELDS["scores"]
    labels = _CLASS_FIELDS["labels"]
    weights = _CLASS_FIELDS["weights"]
    clusters = _CLASS_FIELDS["clusters"]
    lower_is_positive = _CLASS_FIELDS["lower_is_positive"]

    @pre_load
    def drop_absent(self, data: Any, **kwargs: object) -> Any:  # noqa: ANN401  # anything that JSON can hold
        """Refuse the fields that only one class has, unless they count as absent."""
        data = super().drop_absent(data, **kwargs)
        if not isinstance(data, dict):
            return data
        own = SlicedEvaluationSchema().fields.keys() - self.fields.keys()
        for name in own & data.keys():
            if not is_absent(data[name]) and data[name] != {}:
                told = f"Scores of several classes, an object, take no {name}."
                raise invalid("exclusive", told, name)
        return {name: value for name, value in data.items() if name not in own}


class ClassBaselineSchema(ClassEvaluationSchema):
    """The classes of the baseline."""

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> ClassScores:
        """Build the scores of all classes."""
        return class_scores_of(data)[0]


class ClassRulesSchema(ClassEvaluationSchema):
    """The evaluations of a gate's request; its other fields are as in the request about one class."""

    baseline = ObjectField(ClassBaselineSchema())
    paired = Flag("Whether both have the same rows in the same order.")
    intervals = ObjectField(ClassIntervalsSchema())

    def checked(
        self, data: dict[str, Any]
    ) -> tuple[ClassScores, ClassScores | None, GateOptions, tuple[CurvesWarning, ...]]:
        """The evaluation, the baseline, the rules, and warnings, if all fields are compatible."""
        given, told = class_scores_of(data)
        baseline, paired = data.get("baseline"), data.get("paired", False)
        if paired and baseline is None:
            raise invalid("missing", "paired needs a baseline.", "paired")
        if baseline is not None:
            baseline = _in_order_of(given, baseline)
            if paired:
                given, baseline = _paired(given, baseline)
        check_classes(data["rules"], given, baseline, paired=paired)
        return given, baseline, GateOptions(tuple(data["rules"]), paired, data.get("intervals")), told


def _in_order_of(given: ClassScores, baseline: ClassScores) -> ClassScores:
    """The baseline, with its classes in the order of the evaluation's, which must be the same."""
    differ = set(given.names) ^ set(baseline.names)
    if differ or given.exclusive != baseline.exclusive:
        told = f"The baseline must have the same classes: {enumerated([*map(columns.shown, given.names)])}."
        if not differ:
            told = "The labels must be as the evaluation's: of one class for each row, or of any number."
        field = "scores" if differ else "labels"
        raise _of_baseline(field, Wrong("unknown_class" if differ else "not_paired", told))
    order = [baseline.names.index(name) for name in given.names]
    return replace(
        baseline,
        names=given.names,
        scores=[baseline.scores[place] for place in order],
        members=[baseline.members[place] for place in order],
    )


def _paired(given: ClassScores, baseline: ClassScores) -> tuple[ClassScores, ClassScores]:
    """Both, if their rows agree in all but the scores; clusters that only one has are shared."""
    if given.rows != baseline.rows:
        told = (
            f"The evaluation has {counted_rows(given.rows)} and the baseline {baseline.rows}, so they cannot be paired."
        )
        raise invalid("not_paired", told, "paired")
    weights = [np.ones(1) if each.weights is None else each.weights for each in (given, baseline)]
    differences = {
        "labels": np.any(np.not_equal(np.stack(given.members), np.stack(baseline.members)), axis=0),
        "weights": np.broadcast_to(np.not_equal(*weights), (given.rows,)),
    }
    clusters = [each.clusters for each in (given, baseline) if each.clusters is not None]
    if len(clusters) > 1:
        clusters = numbered_together(clusters)
        differences["clusters"] = clusters[0].numbers != clusters[1].numbers
    for field, differs in differences.items():
        if differs.any():
            row = int(differs.argmax())
            told = (
                f"Row {row}, counting from 0, has different {field} in the two evaluations, so they cannot be paired."
            )
            raise _of_baseline(field, Wrong("not_paired", told, row if field != "labels" or given.exclusive else None))
    shared = clusters[0] if clusters else None
    return replace(given, clusters=shared), replace(baseline, clusters=shared)


def _of_baseline(field: str, wrong: Wrong) -> ValidationError:
    return ValidationError({"baseline": {field: [wrong]}})
