"""Every place of a request that a schema reads, with a valid request that has it; found by walking the schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from marshmallow import fields

from service.operations import OPERATIONS
from service.wire.requests.object_schemas import ObjectField, ObjectList

LABELS = [1, 0, 1, 1, 0, 0]
SAMPLE = {"scores": [0.9, 0.7, 0.7, 0.5, 0.3, 0.2], "labels": LABELS}
OTHER = {"scores": [0.8, 0.9, 0.7, 0.6, 0.3, 0.1], "labels": LABELS}
COUNTS = {"tp": [1, 2], "fp": [0, 1], "positives": 3, "negatives": 3}
WARDS = {"ward": ["a", "a", "b", "b", "a", "b"]}
ROC = {"metric": "roc", "min": 0.5}
DROP = {"metric": "roc", "max_drop": 0.1}

SAMPLES: dict[str, dict[str, Any]] = {
    "curves": SAMPLE
    | {
        "interpolation": {"every": 1},
        "tuning": OTHER,
        "intervals": {"level": 0.9},
        "operating_points": [{"metric": "jaccard", "at": 0.5}],
        "costs": {"prevalence": [0.5], "fn_cost": 2, "fp_cost": 1},
        "include": ["auc", "points", "interpolated_pr"],
        "decisions": [{"best": "f1"}],
        "band": {"kind": "pointwise", "at": [0.5]},
        "reliability": {"bins": 5, "by": "width"},
        "gains": {"shares": [0.5, 1]},
        "net_benefit": {"thresholds": [0.5], "prevalence": 0.1},
        "partial": [{"over": "fpr", "from": 0.1, "to": 0.5, "min_tpr": 0.1}],
    },
    "tradeoffs": SAMPLE | {"lambda_density": {"a": 2, "b": 3}},
    "comparisons": {
        "evaluations": [{"name": "old", **SAMPLE}, {"name": "new", **OTHER}],
        "intervals": {"level": 0.9},
        "decisions": [{"best": "f1"}],
    },
    "gates": SAMPLE
    | {"slices": WARDS, "baseline": OTHER | {"slices": WARDS}}
    | {"intervals": {"level": 0.9}, "rules": [ROC | {"slices": ["ward"], "min_examples": 1}, DROP]},
    "plans": SAMPLE
    | {"slices": WARDS, "baseline": OTHER | {"slices": WARDS}}
    | {"intervals": {"level": 0.9}, "rules": [ROC | {"slices": ["ward"], "min_examples": 1}, DROP]},
}
"""{operation: a valid request for it, as a sample, with every object that it may have}"""

COUNTED: dict[str, dict[str, Any]] = {
    "curves": {"counts": COUNTS},
    "tradeoffs": {"counts": COUNTS},
    "comparisons": {"evaluations": [{"name": "old", **SAMPLE}, {"name": "counted", "counts": COUNTS}]},
    "gates": {"counts": COUNTS, "baseline": {"counts": COUNTS}, "rules": [ROC]},
    "plans": {"counts": COUNTS, "baseline": {"counts": COUNTS}, "rules": [ROC]},
}
"""The same, with counts."""

GROUPS = {"score": [0.9, 0.5, 0.2], "positives": [1, 2, 0], "negatives": [0, 1, 2]}
GROUPED: dict[str, dict[str, Any]] = {
    "curves": {"groups": GROUPS},
    "tradeoffs": {"groups": GROUPS},
    "comparisons": {"evaluations": [{"name": "old", **SAMPLE}, {"name": "grouped", "groups": GROUPS}]},
    "gates": {"groups": GROUPS, "baseline": {"groups": GROUPS}, "rules": [ROC]},
    "plans": {"groups": GROUPS, "baseline": {"groups": GROUPS}, "rules": [ROC]},
}
"""The same, with groups."""

TABLE = "scores,other,labels,ward\n" + "".join(
    f"{score},{other},{label},{ward}\n"
    for score, other, label, ward in zip(SAMPLE["scores"], OTHER["scores"], LABELS, WARDS["ward"], strict=True)
)
QUERIES: dict[str, dict[str, str]] = {
    "curves": {},
    "tradeoffs": {},
    "comparisons": {"scores": "scores,other"},
    "gates": {"baseline_scores": "other", "rules": json.dumps([DROP])},
    "plans": {"baseline_scores": "other", "rules": json.dumps([DROP])},
}
"""{operation: a query for TABLE}"""

COLUMNS = ("scores", "labels", "soft_labels", "weights", "ids", "clusters")

EVALUATING = [operation for operation in OPERATIONS if operation not in {"columns", "slices", "classes"}]
"""The operations whose body is one evaluation or several. In slices, classes and columns, columns may have any name:
what is refused there is in test_columns_answer.py, test_slices_answer.py and test_classes_answer.py."""

ASSUMED = {"plans": {"assumptions": {"roc": 0.85, "baseline_roc": 0.8, "correlation": 0.5}, "rules": [ROC]}}
"""The same, with assumptions in place of an evaluation."""

Keys = tuple[str | int, ...]


@dataclass(frozen=True)
class Place:
    """A field of a request, by the keys that lead to it; if it is in a list, in the last item."""

    operation: str
    keys: Keys
    field: fields.Field[Any]

    @property
    def pointer(self) -> str:
        """Its JSON pointer."""
        return "".join(f"/{key}" for key in self.keys)

    def __str__(self) -> str:
        return f"{self.operation}{self.pointer}"

    def body(self, value: Any) -> Any:
        """A request that is valid except for this value."""
        of_others = {"counts": COUNTED, "groups": GROUPED, "assumptions": ASSUMED}
        right = next((bodies for key, bodies in of_others.items() if key in self.keys), SAMPLES)
        return put(right[self.operation], self.keys, value)


def put(body: Any, keys: Keys, value: Any) -> Any:
    """A copy of a body with another value at some keys."""
    if not keys:
        return value
    copy = body.copy()
    if keys[0] in range(len(copy)) if isinstance(copy, list) else keys[0] in copy:
        value = put(copy[keys[0]], keys[1:], value)
    copy[keys[0]] = value
    return copy


def places() -> list[Place]:
    """All places, of every operation that evaluates."""
    return [place for operation in EVALUATING for place in _of_object(operation, OPERATIONS[operation].schema, ())]


def _of_object(operation: str, schema: Any, keys: Keys) -> Iterator[Place]:
    """The place of an object, and the places in it."""
    yield Place(operation, keys, ObjectField(schema))
    yield from _of_schema(operation, schema, keys)


def _of_schema(operation: str, schema: Any, keys: Keys) -> Iterator[Place]:
    for name, field in schema.fields.items():
        if isinstance(field, ObjectField) and not isinstance(field, ObjectList):
            yield from _of_object(operation, field.schema, (*keys, name))
        else:
            yield Place(operation, (*keys, name), field)
        if isinstance(field, ObjectList):
            yield from _of_object(operation, field.schema, (*keys, name, max(field.minimum, 1) - 1))


def in_query(place: Place) -> bool:
    """Whether a table's query has the option, or the object that contains it."""
    return bool(place.keys) and place.keys[0] in OPERATIONS[place.operation].parameters and place.keys[0] not in COLUMNS


def query(place: Place, value: Any) -> dict[str, str]:
    """A query for TABLE that is valid except for this value; the object that contains the value is JSON."""
    name = str(place.keys[0])
    return QUERIES[place.operation] | {name: json.dumps(place.body(value)[name])}
