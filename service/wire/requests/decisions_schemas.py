"""The schema of decisions: which rows of the table to report. Knows the grammar of decisions; nothing of bytes."""

from typing import Any, ClassVar

from marshmallow import post_load

from service.curves.decisions import BEST_BY, LIMITS_OF_BEST, WAYS_TO_CHOOSE, Decision
from service.wire.requests.column_fields import NumberColumn
from service.wire.requests.fields import Choice, Number, invalid
from service.wire.requests.object_schemas import ObjectList, ObjectSchema

MOST_DECISIONS = 1_000
"""The most decisions in one request."""

WAYS_IN_WORDS = f"{', '.join(WAYS_TO_CHOOSE[:-1])} and {WAYS_TO_CHOOSE[-1]}"
"""The fields of which a decision has exactly one."""

_OF_CURVES = (
    "Which rows to report, each with its metrics. In a query also thresholds, such as `0.5,0.9`. Without `include`, "
    "the answer has nothing else but the totals and what other options ask for."
)

_FIRST_OF_NUMBERS = frozenset("+-.0123456789")
"""How a list of numbers without brackets begins."""


def _share(about: str) -> Number:
    return Number(about, minimum=0, maximum=1)


class DecisionFields(ObjectSchema):
    """The ways to choose a row, and limits of the best."""

    at_threshold = Number(
        "The row that calls positive what scores at or above this (at or below, with `lower_is_positive`). It need not "
        "be a score; but counts have only the rows that they list.",
        infinite=True,
    )
    at_share = _share("The last row that calls at most this share of all rows positive: a budget, filled.")
    at_fpr = _share("The last row whose false positive rate is at most this.")
    at_recall = _share("The first row whose recall is at least this.")
    best = Choice(
        BEST_BY,
        "The row with the best value of this metric, among those within the limits; of equally good ones, the one with "
        "the most true positives. It is chosen on these data, so it looks better than it is, unless there is a "
        "`tuning` sample.",
    )
    min_precision = _share("With `best`, the lowest precision.")
    min_recall = _share("With `best`, the lowest recall.")
    min_specificity = _share("With `best`, the lowest specificity.")
    max_fpr = _share("With `best`, the highest false positive rate.")
    max_share = _share("With `best`, the highest share of rows that are called positive.")


class DecisionSchema(DecisionFields):
    """One way to choose a row, and limits of the best."""

    component = "Decision"
    about = (
        "Which row of the table to report: exactly one of `at_threshold`, `at_share`, `at_fpr`, `at_recall` and "
        "`best`, which may have limits. A row is never split: equal scores are called alike."
    )
    example: ClassVar = {"at_threshold": 0.5}

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Decision:
        """Build the decision."""
        return decision_of(data)


def decision_of(data: dict[str, Any]) -> Decision:
    """Build a decision, if it says one thing."""
    ways = [name for name in WAYS_TO_CHOOSE if name in data]
    if len(ways) != 1:
        raise invalid("exclusive" if ways else "missing", f"Give exactly one of {WAYS_IN_WORDS}.")
    for name in LIMITS_OF_BEST:
        if name in data and "best" not in data:
            raise invalid("exclusive", "Only best takes limits.", name)
    return Decision(**data)


class DecisionList(ObjectList):
    """Decisions; a query may also list thresholds."""

    def __init__(self, about: str = _OF_CURVES, maximum: int = MOST_DECISIONS) -> None:
        super().__init__(DecisionSchema(), about, minimum=0, maximum=maximum)

    def from_text(self, text: str, *, decimal_comma: bool = False) -> object:
        """Read a JSON list of decisions, or numbers separated by commas, each of which is a threshold."""
        if text.lstrip()[:1] not in _FIRST_OF_NUMBERS:
            return super().from_text(text, decimal_comma=decimal_comma)
        numbers = NumberColumn("", example=(0.5, 0.9)).from_text(text, decimal_comma=decimal_comma)
        return [{"at_threshold": number} for number in numbers] if isinstance(numbers, list) else numbers
