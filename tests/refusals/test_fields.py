"""Every field of every request, with every wrong value of its kind: refused in a body, in a query, by openapi.yaml."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from service.operations import OPERATIONS
from service.wire.requests import fields as own
from service.wire.requests.column_fields import IdColumn, NumberColumn
from service.wire.requests.decisions_schemas import DecisionList
from service.wire.requests.object_schemas import ObjectField
from service.wire.requests.picture_schemas import PICTURE_SCHEMAS
from tests.contract.document import EVALUATION_PREFIX, evaluations
from tests.contract.violations import violations
from tests.refusals.places import (
    COUNTED,
    EVALUATING,
    GROUPED,
    QUERIES,
    SAMPLES,
    TABLE,
    Place,
    in_query,
    places,
    put,
    query,
)
from tests.refusals.wrong_values import Wrong, wrong_values
from tests.support import asking

PLACES = places()
IN_QUERIES = [place for place in PLACES if in_query(place) and not isinstance(place.field, own.Scalar)]
NUMBERS = [place for place in PLACES if isinstance(place.field, own.Number | own.Whole | NumberColumn)]
SCHEMAS = {
    found.path.removeprefix(EVALUATION_PREFIX): found.request_content["application/json"]["schema"]
    for found in evaluations()
}
_MEANT = re.compile(r"^Did you mean \w+\? ")
NOT_SAID = {"not_exact", "not_text", "not_a_label", "not_a_cluster", "missing"}
"""Codes of what JSON Schema cannot express."""

NAMES = {name for operation in EVALUATING for name in OPERATIONS[operation].schema.fields}  # type: ignore[attr-defined]  # every schema here has fields


def of(found: list[Place]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("place", found, ids=map(str, found))


def check(errors: list[dict[str, str]], place: Place, wrong: Wrong) -> None:
    (error,) = errors
    assert (error["pointer"], error["code"]) == (place.pointer + wrong.row, wrong.code), wrong
    of_body = wrong.code == "not_an_object" and not place.keys
    assert _MEANT.sub("", error["detail"]).startswith("The body is " if of_body else wrong.sentence), wrong


@pytest.mark.parametrize("operation", EVALUATING)
def test_the_requests_are_right_but_for_the_wrong_value(operation: str) -> None:
    asking.answered(operation, SAMPLES[operation])
    asking.answered(operation, COUNTED[operation])
    asking.answered(operation, GROUPED[operation])
    asking.answered(operation, TABLE, content_type="text/csv", **QUERIES[operation])


@of(PLACES)
def test_a_wrong_value_is_refused(place: Place) -> None:
    for wrong in wrong_values(place.field):
        check(asking.errors(place.operation, json.dumps(place.body(wrong.value))), place, wrong)


def _has_shorthand(place: Place) -> bool:
    """Whether a query may have a number or a word in place of the object."""
    return len(place.keys) == 1 and isinstance(place.field, ObjectField) and bool(place.field.shorthand)


@of(IN_QUERIES)
def test_it_is_refused_in_a_query_too(place: Place) -> None:
    in_list = isinstance(place.field, NumberColumn) and len(place.keys) == 1
    is_text = isinstance(place.field, own.Choice) and len(place.keys) == 1  # in a query, brackets are part of the text
    for wrong in wrong_values(place.field):
        told = wrong.sentence.replace("This is a list; it must", "Must") if is_text else wrong.sentence
        needs_brackets = wrong.value == 1 and (isinstance(place.field, DecisionList) or _has_shorthand(place))
        if not (needs_brackets or (in_list and wrong.code == "not_a_column")):  # in a query, numbers need no brackets
            found = asking.errors(place.operation, TABLE, content_type="text/csv", **query(place, wrong.value))
            check(found, place, wrong._replace(sentence=told))


@pytest.mark.parametrize(("operation", "media_type"), [each for each in PICTURE_SCHEMAS if each[0] in SAMPLES])
def test_the_errors_of_a_picture(operation: str, media_type: str) -> None:
    for name, field in PICTURE_SCHEMAS[operation, media_type].fields.items():
        is_text = isinstance(field, own.Text | own.Choice)
        for wrong in wrong_values(field):
            if isinstance(wrong.value, str) if is_text else wrong.code != "not_a_column":
                options = {name: wrong.value if is_text else json.dumps(wrong.value)}
                found = asking.errors(operation, SAMPLES[operation], accept=media_type, **options)
                check(found, Place(operation, (name,), field), wrong)


@of(PLACES)
def test_the_contract_refuses_it_too(place: Place) -> None:
    if place.field.shape() == {}:  # type: ignore[attr-defined]  # ours
        return  # the contract takes anything there
    for wrong in wrong_values(place.field):
        too_few = isinstance(place.field, NumberColumn) and wrong.code == "wrong_length"  # [] counts as absent
        any_cell = isinstance(place.field, IdColumn) and wrong.code != "not_a_column"  # as in labels
        if wrong.code not in NOT_SAID and not (too_few or any_cell):
            assert violations(SCHEMAS[place.operation], place.body(wrong.value)), wrong


@of([place for place in PLACES if place.keys and isinstance(place.keys[-1], str)])
def test_the_contract_lets_every_field_be_absent(place: Place) -> None:
    assert violations(SCHEMAS[place.operation], place.body(None)) == []


@of(NUMBERS)
def test_json_is_strict_at_every_depth(place: Place) -> None:
    """NaN is not JSON; the pointer shows a number that no double can hold."""
    column = isinstance(place.field, NumberColumn)
    for text, row in (("NaN", None), ("-Infinity", None), ("1e400", "/1" if column else "")):
        body = json.dumps(place.body([0.5, "here"] if column else "here")).replace('"here"', text)
        result = asking.ask(place.operation, body)
        problem = json.loads(result.body)
        assert (result.status, problem["type"]) == (400, "/problems/malformed_body")
        found = [error["pointer"] for error in problem.get("errors", [])]
        assert found == ([] if row is None else [place.pointer + row])


@of(IN_QUERIES)
def test_json_in_a_query_is_strict_too(place: Place) -> None:
    if isinstance(place.field, own.Choice | own.ChoiceSet):
        return
    name = str(place.keys[0])
    texts = ("{", '{"a": 1, "a": 2}') if _has_shorthand(place) else ("NaN", "{", '{"a": 1, "a": 2}')
    options = {text: query(place, "here") for text in texts}
    for text, wrong in options.items():
        wrong[name] = wrong[name].replace('"here"', text)
        found = asking.refusals(place.operation, TABLE, content_type="text/csv", **wrong)
        assert found == [(f"/{name}", "not_json")], text
    if place in NUMBERS:
        column = isinstance(place.field, NumberColumn)
        wrong = query(place, [0.5, "here"] if column else "here")
        wrong[name] = wrong[name].replace('"here"', "-1e400")
        found = asking.refusals(place.operation, TABLE, content_type="text/csv", **wrong)
        assert found == [(place.pointer + "/1" * column, "not_finite")]


@pytest.mark.parametrize("operation", EVALUATING)
def test_fields_of_other_operations_are_unknown(operation: str) -> None:
    known = OPERATIONS[operation].schema.fields  # type: ignore[attr-defined]  # every schema here has fields
    for name in (NAMES | {"name", "lambda", "table"}) - set(known):
        assert asking.refusals(operation, SAMPLES[operation] | {name: 1}) == [(f"/{name}", "unknown_field")]


def test_a_duplicate_key_is_refused() -> None:
    for operation, body in SAMPLES.items():
        text = json.dumps(body)
        for twice in ('"scores": [1], "scores"', '"scores": [1, 2], "scores"'):
            result = asking.ask(operation, text.replace('"scores"', twice))
            assert (result.status, result.problem) == (400, "malformed_body")


def told(operation: str, body: Any) -> dict[str, str]:
    return {error["pointer"][:10]: error["detail"] for error in asking.errors(operation, body)}


def test_a_nearly_right_field_gets_suggestions() -> None:
    found = told("tradeoffs", SAMPLES["tradeoffs"] | {"score": [1], "min_recal": 1, "q" * 3_000_000: 1})
    assert found["/score"].startswith("Unknown field; the known names are ")  # scores is given
    assert found["/min_recal"] == "Unknown field; did you mean min_recall?"
    assert found["/" + "q" * 9].startswith("Unknown field; the known names are scores, labels, ")
    found = told("tradeoffs", put(COUNTED["tradeoffs"], ("counts", "thresholds"), 1))
    assert found["/counts/th"] == "Unknown field; did you mean threshold?"


def test_a_list_of_fields_begins_with_what_a_request_is_made_of() -> None:
    """Not with the options of its pictures."""
    for operation, first in (("comparisons", "evaluations"), ("slices", "scores"), ("classes", "scores")):
        detail = told(operation, SAMPLES.get(operation, {}) | {"zzz": 1})["/zzz"]
        assert detail.startswith(f"Unknown field; the known names are {first}, "), detail
        assert detail.endswith((" theme, charts.", " theme, charts, mark."))


WRONG_TOGETHER: dict[str, dict[str, Any]] = {
    "curves": {"keep": 1, "lower_is_positive": "x", "weights": "y", "beta": 1},
    "tradeoffs": {"min_recall": 2, "indices": ["x"], "lambda_range": [1], "lambda_density": {"a": 0}, "beta": 1},
    "comparisons": {"evaluations": [{"foo": 1}, {"name": 1, "scores": "x"}, {"counts": {"tp": "x", "bar": 1}}]},
    "gates": {"rules": [{"metric": "auc"}, {"metric": "roc", "min": 2}], "baseline": {"scores": "x"}, "bar": 2},
    "plans": {"rules": [{"metric": "roc", "min": 2}], "power": 0, "fail_status": 409},
}
TOLD_TOGETHER = {
    "curves": ["beta unknown_field", "keep not_one_of", "lower_is_positive not_a_boolean", "weights not_a_column"],
    "tradeoffs": [
        "beta unknown_field",
        "indices/0 not_one_of",
        "lambda_density/a out_of_range",
        "lambda_range wrong_length",
        "min_recall out_of_range",
    ],
    "comparisons": [
        "evaluations/0/foo unknown_field",
        "evaluations/1/name not_a_string",
        "evaluations/1/scores not_a_column",
        "evaluations/2/counts/bar unknown_field",
        "evaluations/2/counts/tp not_a_column",
    ],
    "gates": [
        "bar unknown_field",
        "baseline/scores not_a_column",
        "rules/0/metric not_one_of",
        "rules/1/min out_of_range",
    ],
    "plans": ["fail_status unknown_field", "power out_of_range", "rules/0/min out_of_range"],
}


@pytest.mark.parametrize("operation", EVALUATING)
def test_several_wrong_values_are_reported_at_once(operation: str) -> None:
    found = asking.refusals(operation, SAMPLES[operation] | WRONG_TOGETHER[operation])
    assert [f"{pointer[1:]} {code}" for pointer, code in found] == TOLD_TOGETHER[operation]
