"""`POST /v1/plans`: how many rows the rules of a gate need."""

from service.inference.plans import Plans, evaluate_plans
from service.operations.operation import Operation, Selection
from service.operations.shared_cells import PREVALENCE_VALUE
from service.wire.answers.parts import AnswerTable, AnswerValue, Cells
from service.wire.formats.inputs import COUNTS, GROUPS, PAIRED
from service.wire.formats.tables import BY_RULES, TableForm, with_baseline
from service.wire.limits import Limits
from service.wire.requests.plans_schemas import PlansRequest, PlansRequestSchema
from service.wire.requests.query_fields import query_fields


def _columns(found: Plans) -> dict[str, object]:
    return {
        "rule": [each.rule.phrase for each in found.plans],
        **{
            each.name: [getattr(plan, each.name) for plan in found.plans]
            for each in _PLANS.columns
            if each.name not in {"rule", "reason"}
        },
        "reason": [each.reason or None for each in found.plans],
    }


_PLANS = AnswerTable(
    "plans",
    "A row for each rule, in their order.",
    _columns,
    columns=(
        Cells.text("rule", "The rule in words."),
        Cells.number("value", "The present value, or the present difference if the bound is of that.", null=True),
        Cells.number("expected", "The value or the difference that is taken to be true.", null=True),
        Cells.number(
            "factor", "How many times the present data the rule needs; less than 1 if it needs fewer.", null=True
        ),
        Cells.whole("rows", "That many rows, of the evaluation and of the baseline alike.", null=True),
        Cells.whole("positives", "The positives among them.", null=True),
        Cells.whole("negatives", "The negatives among them.", null=True),
        Cells.text("slice", "Of a rule over slices, the one that needs most; otherwise `null`.", null=True),
        Cells.text("reason", "Why there is no plan; `null` if there is one.", null=True),
    ),
)


def _evaluate(checked: PlansRequest, _selection: Selection, _limits: Limits) -> Plans:
    options = checked.options
    asked = options.rules, options.how, checked.power
    found = evaluate_plans(
        checked.evaluation, checked.baseline, *asked, paired=options.paired, slicings=options.slicings
    )
    return found.times(checked.design_effect)


OPERATION = Operation(
    name="plans",
    schema=PlansRequestSchema(),
    form=TableForm(query_fields("plans", PlansRequestSchema()), (PAIRED, COUNTS, GROUPS), BY_RULES, then=with_baseline),
    evaluate=_evaluate,
    answer=(
        AnswerValue("power", "The probability with which each rule passes.", lambda found: found.power, kind="number"),
        AnswerValue(
            "paired", "Whether pilot and baseline were treated as paired.", lambda found: found.paired, kind="flag"
        ),
        PREVALENCE_VALUE,
        _PLANS,
    ),
    tables=(_PLANS,),
)
