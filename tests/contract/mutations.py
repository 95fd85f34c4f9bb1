"""Changes of openapi.yaml: those that break clients, each with the line about it, and those that `/v1` allows."""

from collections.abc import Callable
from typing import Any

from tests.contract.document import PROBLEM_JSON, Tree

GONE = object()
"""Stands for a value whose key is removed."""

_SHORT_FOR = {"curves": ["paths", "/v1/curves", "post"]} | {
    kind: ["components", kind] for kind in ("schemas", "parameters", "headers", "responses")
}

Change = Callable[[Any], Any]


def changed(document: Tree, place: str, becomes: Any) -> Tree:
    """The document with another value at a place, given or derived from the old value. All else is shared.

    A place is the keys that lead to it; the first may be short for several.
    """
    first, *rest = place.split(" ")
    tree: Tree = _changed(document, [*_SHORT_FOR.get(first, [first]), *rest], becomes)
    return tree


def _changed(tree: Any, keys: list[str], becomes: Any) -> Any:
    key: str | int = int(keys[0]) if isinstance(tree, list) else keys[0]
    copy = tree.copy()
    if len(keys) > 1:
        copy[key] = _changed(tree[key], keys[1:], becomes)
    elif becomes is GONE:
        del copy[key]
    else:
        copy[key] = becomes(tree[key]) if callable(becomes) else becomes
    return copy


def without(word: str) -> Change:
    return lambda words: [other for other in words if other != word]


def plus(*more: Any) -> Change:
    return lambda values: [*values, *more]


def replaced(old: str, new: str) -> Change:
    return lambda text: new.join(text.split(old))


NEEDED = {"name": "must", "in": "query", "required": True, "schema": {}}
OPTIONAL = {"name": "may", "in": "query", "schema": {"type": "string"}}
EXPIRED = f"responses Failure content {PROBLEM_JSON} examples deadline_exceeded"

BREAKS: list[tuple[str, Any, str]] = [
    # Operations, parameters and bodies.
    ("paths /v1/gates post", GONE, "operation POST /v1/gates: gone"),
    ("curves operationId", "draw", "POST /v1/curves: operationId evaluateCurves became draw"),
    ("curves callbacks", {}, "POST /v1/curves: callbacks changed, which this check cannot judge"),
    ("curves parameters 0", GONE, "POST /v1/curves, query parameter table: gone"),
    ("curves parameters 28 name", "only", "POST /v1/curves, query parameter keep: gone"),
    ("curves parameters 28 required", True, "POST /v1/curves, query parameter keep: required now"),
    ("curves parameters", plus(NEEDED), "POST /v1/curves, query parameter must: required now"),
    ("paths /v1/curves parameters", [NEEDED], "POST /v1/curves, query parameter must: required now"),
    ("curves parameters 27 explode", True, "POST /v1/curves, query parameter include: explode changed"),
    (
        "curves parameters 0 schema enum",
        without("auc"),
        'POST /v1/curves, query parameter table: the value "auc" is gone',
    ),
    ("curves requestBody", GONE, "POST /v1/curves, request body: gone"),
    ("curves requestBody content text/csv", GONE, "POST /v1/curves, request body, text/csv: gone"),
    ("curves responses 200 content text/csv", GONE, "POST /v1/curves, status 200, text/csv: gone"),
    ("curves responses 4XX", GONE, "POST /v1/curves, status 4XX: gone"),
    ("responses Failure headers Retry-After", GONE, "POST /v1/gates, status 5XX, header Retry-After: gone"),
    ("headers Retry-After schema type", "integer", 'header Retry-After: type "string" became type "integer"'),
    # Content of requests.
    ("schemas CurvesRequest properties keep", GONE, "requests, CurvesRequest/keep: gone"),
    ("schemas CurvesRequest required", ["scores"], 'requests, CurvesRequest: nothing became required ["scores"]'),
    ("schemas GatesRequest properties paired type", "boolean", 'type ["boolean", "null"] became type "boolean"'),
    ("schemas ComparisonsRequest properties evaluations maxItems", 10, "maxItems 50 became maxItems 10"),
    ("schemas ComparisonsRequest properties evaluations minItems", 3, "minItems 2 became minItems 3"),
    ("schemas LambdaDensity properties a minimum", 0.5, "requests, LambdaDensity/a: minimum 0.01 became minimum 0.5"),
    ("schemas LambdaDensity properties a maximum", 10, "requests, LambdaDensity/a: maximum 1000 became maximum 10"),
    (
        "schemas Rule properties at exclusiveMinimum",
        0,
        "requests, Rule/at: minimum 0 became minimum 0, exclusiveMinimum 0",
    ),
    (
        "schemas Rule properties at exclusiveMaximum",
        1,
        "requests, Rule/at: maximum 1 became maximum 1, exclusiveMaximum 1",
    ),
    ("schemas Rule properties at_threshold minimum", 0, "requests, Rule/at_threshold: nothing became minimum 0"),
    ("schemas NamedEvaluation properties name pattern", "^a$", 'NamedEvaluation/name: nothing became pattern "^a$"'),
    ("schemas NamedEvaluation properties name enum", ["a"], 'NamedEvaluation/name: nothing became enum ["a"]'),
    ("schemas Keep enum", without("hull"), 'requests, Keep: the value "hull" is gone'),
    ("schemas Counts properties tp items minimum", 1, "requests, Counts/tp/items: minimum 0 became minimum 1"),
    (
        "schemas CurvesRequest properties labels items",
        {"minimum": 0},
        "CurvesRequest/labels/items: nothing became minimum 0",
    ),
    ("schemas GatesRequest properties paired default", True, "paired: default changed, which this check cannot judge"),
    ("schemas GatesRequest properties paired oneOf", [{}], "paired: oneOf changed, which this check cannot judge"),
    # Content of answers.
    ("schemas Areas properties pr", GONE, "answers, Areas/pr: gone"),
    ("schemas FieldError required", without("code"), 'became required ["pointer", "detail"]'),
    (
        "schemas GatesAnswer properties passed type",
        ["boolean", "null"],
        'type "boolean" became type ["boolean", "null"]',
    ),
    (
        "schemas Problem properties status type",
        "number",
        'answers, Problem/status: type "integer" became type "number"',
    ),
    ("schemas Problem properties status format", "int32", 'Problem/status: format "int64" became format "int32"'),
    ("schemas Problem properties status maximum", 999, "answers, Problem/status: maximum 599 became maximum 999"),
    ("schemas Problem properties status minimum", GONE, "answers, Problem/status: minimum 400 became nothing"),
    ("schemas Problem properties errors maxItems", 40, "answers, Problem/errors: maxItems 20 became maxItems 40"),
    ("schemas Readiness properties big enum", GONE, 'answers, Readiness/big: enum ["ok", "full"] became nothing'),
    ("schemas Readiness properties big enum", without("full"), 'answers, Readiness/big: the value "full" is gone'),
    (
        "schemas Points properties tp items type",
        "string",
        'answers, Points/tp/items: type "number" became type "string"',
    ),
    # Names that appear only in examples and descriptions.
    (EXPIRED, GONE, "problem type /problems/deadline_exceeded: gone"),
    ("schemas FieldError description", replaced("`not_whole`", "`fractional`"), "code not_whole of FieldError: gone"),
    ("schemas CurvesWarning description", replaced("`loose_rule`", "`lax`"), "code loose_rule of CurvesWarning: gone"),
    # Authentication, and servers.
    ("security", [{"bearerAuth": []}], "POST /v1/gates: the security {} does not let in any more"),
    ("components securitySchemes bearerAuth scheme", "basic", "security scheme bearerAuth: scheme changed"),
    ("components securitySchemes bearerAuth", GONE, "security scheme bearerAuth: gone"),
    ("servers 0 url", "/api", "server /: gone"),
]

ADDITIONS: list[tuple[str, Any]] = [
    ("paths /v1/pairs", {"post": {"operationId": "slice", "parameters": [NEEDED], "responses": {}}}),
    ("curves parameters", plus(OPTIONAL)),
    ("curves parameters", lambda found: found[::-1]),
    ("curves requestBody required", False),
    ("curves requestBody content application/x-feather", {"schema": {"type": "string"}}),
    ("curves responses 200 content image/svg+xml", {"schema": {"type": "string"}}),
    ("curves responses 409", {"description": "It is new.", "content": {}}),
    ("curves description", "In other words."),
    ("curves tags", ["drawings"]),
    ("curves deprecated", True),
    ("responses Failure headers Deprecation", {"schema": {"type": "string"}}),
    ("curves parameters 0 schema enum", plus("hull")),
    ("curves parameters 0 schema description", "In other words."),
    ("schemas Slice", {"type": "object"}),
    ("schemas CurvesRequest properties strata", {"type": ["object", "null"], "maxProperties": 3}),
    ("schemas ComparisonsRequest properties evaluations minItems", 1),
    ("schemas ComparisonsRequest properties evaluations maxItems", GONE),
    ("schemas LambdaDensity properties a minimum", GONE),
    ("schemas LambdaDensity properties a maximum", 2000),
    ("schemas Interpolation additionalProperties", True),
    ("schemas Keep enum", plus("corner")),
    ("schemas Keep x-order", ["all"]),
    ("schemas GatesAnswer properties elapsed", {"type": "number"}),
    ("schemas GatesAnswer required", plus("elapsed")),
    ("schemas Check properties value type", "number"),
    ("schemas Problem properties status maximum", 503),
    ("schemas Problem properties errors", lambda errors: errors | {"items": errors["items"] | {"description": "One."}}),
    ("schemas Readiness properties big enum", plus("slow")),
    ("schemas CurvesWarning description", replaced("`loose_rule`", "`strict_rule`, `loose_rule`")),
    (EXPIRED + "_soon", {"value": {"type": "/problems/deadline_near"}}),
    ("security", plus({"oauth": []})),
    ("components securitySchemes oauth", {"type": "oauth2"}),
    ("servers", plus({"url": "https://example.org"})),
    ("info title", "Another name"),
]
