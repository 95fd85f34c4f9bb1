"""`POST /v1/gates`: a verdict by rules."""

from dataclasses import replace
from typing import Any

from service.curves.class_scores import ClassScores
from service.inference.class_gate import evaluate_class_gate
from service.inference.gate import Gate, evaluate_gate
from service.operations.operation import Operation, Selection
from service.operations.shared_cells import CLUSTERS_OBJECT, PREVALENCE_VALUE
from service.wire.answers.gate_answers import check_object
from service.wire.answers.gate_reports import junit_report, markdown_report
from service.wire.answers.infinite import FiniteScores
from service.wire.answers.parts import ABSENT, AnswerValue
from service.wire.formats.inputs import COUNTS, GROUPS, PAIRED
from service.wire.formats.tables import BY_RULES_OF_CLASSES, TableForm, with_baseline
from service.wire.limits import Limits
from service.wire.media_types import MARKDOWN, XML
from service.wire.requests.gates_schemas import GatesRequest, GatesRequestSchema
from service.wire.requests.query_fields import query_fields


class _Checks(AnswerValue):
    """The checks, in the order of the rules."""

    def json(self, found: Gate, scores: FiniteScores) -> list[dict[str, Any]]:
        """An object for each."""
        return [check_object(each, scores, clustered=found.clusters is not None) for each in found.checks]


def _evaluate(checked: GatesRequest, _selection: Selection, _limits: Limits) -> Gate:
    ours, theirs, options = checked.evaluation, checked.baseline, checked.options
    if isinstance(ours, ClassScores) or isinstance(theirs, ClassScores):
        assert isinstance(ours, ClassScores)  # noqa: S101  # the schema takes both, or neither
        assert theirs is None or isinstance(theirs, ClassScores)  # noqa: S101  # as above
        found = evaluate_class_gate(ours, theirs, options)
        return replace(found, warnings=checked.warnings + found.warnings)
    return evaluate_gate(ours, theirs, options)


OPERATION = Operation(
    name="gates",
    schema=GatesRequestSchema(),
    form=TableForm(
        query_fields("gates", GatesRequestSchema()),
        (PAIRED, COUNTS, GROUPS),
        BY_RULES_OF_CLASSES,
        then=with_baseline,
        answers_tables=False,
    ),
    evaluate=_evaluate,
    answer=(
        AnswerValue("passed", "Whether every check is passed.", lambda gate: gate.passed, kind="flag"),
        AnswerValue(
            "status",
            "The verdict in a word: `failed` if a check failed, otherwise `undecided` if one is undecided, otherwise "
            "`passed`.",
            lambda gate: gate.status,
            kind="text",
        ),
        AnswerValue(
            "warned",
            "How many checks of `severity` `warn` are not passed, if any are of it; they do not count in `status`.",
            lambda gate: ABSENT if gate.warned is None else gate.warned,
            sometimes=True,
            kind="whole",
        ),
        AnswerValue(
            "paired", "Whether evaluation and baseline were treated as paired.", lambda gate: gate.paired, kind="flag"
        ),
        PREVALENCE_VALUE,
        CLUSTERS_OBJECT,
        _Checks(
            "checks",
            "One check for each rule, in their order.",
            lambda gate: gate,
            component="Check",
            many=True,
        ),
    ),
    reports={
        MARKDOWN: lambda document: markdown_report(document).encode(),
        XML: junit_report,
    },
    status=lambda checked, gate: 200 if gate.passed else checked.fail_status,
)
