"""Rules about several classes: their fields, and what goes with what.

Knows rules and classes; nothing of verdicts.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from marshmallow import ValidationError

from service.curves.class_scores import ClassScores
from service.curves.classes import AVERAGED_AREAS, AVERAGES, MOST_CLASSES
from service.curves.decisions import Decision
from service.curves.errors import enumerated
from service.curves.row_metrics import ROW_METRICS
from service.inference.average_estimates import HAND_TILL, OVERALL, OVERALL_METRICS, RULE_AVERAGES
from service.inference.class_gaps import GAPS_WITH_INTERVALS
from service.inference.rules import ALL, Rule
from service.wire import columns
from service.wire.requests.fields import Choice, Field, JsonSchema, Text, invalid
from service.wire.requests.object_schemas import ObjectSchema
from service.wire.wrong import Wrong

_CLASS = Text("The name of a class.", minimum=1, maximum=100)
_FEWEST_APART = 2
_DECIDED = "decide or at_threshold"


class NamesOfClasses(Field):
    """The word that means all classes, or a list of names."""

    def read(self, value: object) -> Any:  # noqa: ANN401  # text, or a tuple of names
        """Read either."""
        if value == ALL:
            return ALL
        names = columns.items(value)
        if names is None or isinstance(value, str):
            raise Wrong("not_one_of", 'Must be "all", or a list of names of classes.')
        if not 1 <= len(names) <= MOST_CLASSES:
            raise Wrong("wrong_length", f"Must have 1 to {MOST_CLASSES} names, not {len(names)}.")
        found = [_CLASS.deserialize(name) for name in names]
        if len(set(found)) < len(found):
            raise Wrong("duplicate", "A class is named twice.")
        return tuple(found)

    def shape(self) -> JsonSchema:
        """Anything; the contract has no alternatives."""
        return {}


class ClassesOfRule(ObjectSchema):
    """The fields of a rule about classes."""

    classes = NamesOfClasses(
        "For `scores` of several classes: the rule must hold for each of these against the rest. `all`, or a list of "
        "names. With `confidence` it passes by mistake as rarely as a rule on one of them.",
        example="all",
    )
    average = Choice(
        RULE_AVERAGES,
        "For `scores` of several classes, in place of `classes`: the rule is on this average of the metric over all "
        "classes, as `/v1/classes` has it; on `hand_till`, for `roc`; or on a number of the whole confusion matrix, "
        "`overall`: `accuracy`, `balanced_accuracy`, `kappa`, `mcc` or `log_loss`. Only averages of `roc`, `pr` and "
        "`average_precision` take `confidence`.",
    )
    decide = Choice(
        ("highest",),
        "With `classes` or `average`, how a metric of the confusion matrix calls each row: the class with the highest "
        "score, as in `/v1/classes`.",
    )


_Fault = tuple[str, str, str]
"""The field that is wrong, the code, and why."""


def refuse_wrong_classes(data: Mapping[str, Any], decision: Decision | None) -> None:
    """Refuse a rule whose fields about classes do not go with the others."""
    if "classes" not in data and "average" not in data:
        if "decide" in data:
            raise invalid("exclusive", "decide needs classes or average.", "decide")
        return
    of = "classes" if "classes" in data else "average"
    own = _faults_of_gap(data) if of == "classes" else _faults_of_average(data)
    for name, code, told in chain(_faults_of_both(data, of, decision), own):
        raise invalid(code, told, name)


def _faults_of_both(data: Mapping[str, Any], of: str, decision: Decision | None) -> Iterator[_Fault]:
    for name in ("average", "slices"):
        if name in data and name != of:
            yield name, "exclusive", f"A rule has {of} or {name}, not both."
    if decision is not None and "decide" in data:
        yield "decide", "exclusive", f"Give {_DECIDED}, not both."
    for way in ("at_share", "at_fpr", "at_recall", "best"):
        if getattr(decision, way, None) is not None:
            yield way, "exclusive", f"With {of}, rows are called by {_DECIDED}, not by {way}."


def _faults_of_gap(data: Mapping[str, Any]) -> Iterator[_Fault]:
    if "max_gap" in data and "confidence" in data and data["metric"] not in GAPS_WITH_INTERVALS:
        known = enumerated(GAPS_WITH_INTERVALS)
        told = f"Only gaps of {known} between classes have an interval: leave out confidence."
        yield "confidence", "exclusive", told
    if "max_gap" in data and isinstance(data["classes"], tuple) and len(data["classes"]) < _FEWEST_APART:
        yield "classes", "exclusive", "A gap needs two classes."


def _faults_of_average(data: Mapping[str, Any]) -> Iterator[_Fault]:
    average, name = data["average"], data["metric"]
    for field in ("expected", "min_examples", "max_gap"):
        if field in data:
            yield field, "exclusive", f"A rule on an average does not take {field}."
    if average == OVERALL and (name not in OVERALL_METRICS or "at" in data):
        yield "average", "exclusive", f"overall has {enumerated(OVERALL_METRICS)}."
    if average == OVERALL and name != "log_loss" and "decide" not in data:
        yield "decide", "missing", f"overall {name} needs decide."
    if average == HAND_TILL and name != "roc":
        yield "average", "exclusive", "hand_till is an average of roc."
    if average in AVERAGES and name not in AVERAGED_AREAS and (name not in ROW_METRICS or "at" in data):
        told = f"{average} averages are of {', '.join(AVERAGED_AREAS)} and of metrics of the confusion matrix."
        yield "average", "exclusive", told
    if "confidence" in data and (name not in AVERAGED_AREAS or average not in AVERAGES):
        yield "confidence", "exclusive", f"{average} {name} has no interval, so it takes no confidence."


def check_classes(rules: Sequence[Rule], given: ClassScores, baseline: ClassScores | None, *, paired: bool) -> None:
    """Refuse rules that do not go with these classes."""
    both = [each for each in (given, baseline) if each is not None and each.clusters is not None]
    for row, rule in enumerate(rules):
        for place, name in enumerate(rule.classes if isinstance(rule.classes, tuple) else ()):
            if name not in given.names:
                known = enumerated([*map(columns.shown, given.names)])
                told = f"There are no scores for the class {columns.shown(name)}; there are for {known}."
                raise ValidationError({"rules": {row: {"classes": {place: [Wrong("unknown_class", told)]}}}})
        spanned = len(both) > 1 and not paired
        for field, code, told in _faults_with(rule, exclusive=given.exclusive, spanned=spanned):
            raise ValidationError({"rules": {row: {field: [Wrong(code, told)]}}})


def _faults_with(rule: Rule, *, exclusive: bool, spanned: bool) -> Iterator[_Fault]:
    """What is wrong with a rule for labels of several classes a row, or for clusters that may span evaluations."""
    several = "labels that name one class for each row"
    if rule.classes is None and rule.average is None:
        yield "classes", "missing", "With scores of several classes, a rule needs classes or average."
    if not exclusive and rule.decide is not None:
        yield "decide", "exclusive", f"decide needs {several}."
    if not exclusive and rule.average in (HAND_TILL, OVERALL):
        yield "average", "exclusive", f"{rule.average} needs {several}."
    if rule.max_gap is not None and rule.confidence is not None and not exclusive:
        yield "confidence", "exclusive", f"The interval of a gap needs {several}."
    if rule.average is not None and rule.confidence is not None:
        if not exclusive:
            yield "confidence", "exclusive", f"The interval of an average needs {several}."
        if spanned and rule.is_change:
            told = "Clusters may span both evaluations: unless paired, a difference of averages takes no confidence."
            yield "confidence", "exclusive", told


def refuse_rules_of_classes(rules: Sequence[Rule]) -> None:
    """Refuse rules about classes where there are none."""
    for row, rule in enumerate(rules):
        for name in ("classes", "average"):
            if getattr(rule, name) is not None:
                told = f"{name} is for scores of several classes, an object with a column for each."
                raise ValidationError({"rules": {row: {name: [Wrong("exclusive", told)]}}})
