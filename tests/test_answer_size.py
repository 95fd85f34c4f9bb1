"""How long an answer may be: whatever it repeats, a limit holds, and the server's own process holds little of it."""

from dataclasses import replace
from typing import Any

import pytest

from service.wire.answers.repeated_names import MOST_NAME_BYTES
from service.wire.media_types import ARROW_STREAM, CSV, JSON
from tests.support.asking import LIMITS, ask, errors
from tests.support.costs.families import asking
from tests.support.costs.measure import SMALL, small_answer
from tests.support.costs.other_families import compared
from tests.support.costs.written import slices


@pytest.mark.parametrize("accept", [JSON, CSV, ARROW_STREAM])
def test_an_answer_above_the_limit_is_refused(accept: str) -> None:
    body = {
        "counts": {"tp": [1000], "fp": [1000], "positives": 1000, "negatives": 1000},
        "include": ["interpolated_pr"],
        "interpolation": {"every": 1},
    }
    whole = ask("curves", body, accept=accept)
    assert whole.status == 200
    short = replace(LIMITS, max_answer_bytes=len(whole.body) - 1)
    refused = ask("curves", body, accept=accept, limits=short)
    assert (refused.status, refused.problem) == (413, "answer_too_large")
    assert ask("curves", body, accept=accept, limits=replace(short, max_answer_bytes=len(whole.body))).status == 200


@pytest.fixture(params=[pytest.param(3500, marks=pytest.mark.all), 35])
def values(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """3,500 values of 1,000 characters, at 20 points each, are 70 MB; at 2 points they are 7 MB. The limit is 50 MB.

    Or a hundredth of both.
    """
    monkeypatch.setattr("service.wire.answers.repeated_names.MOST_NAME_BYTES", MOST_NAME_BYTES * request.param // 3500)
    return request.param


@pytest.mark.parametrize("accept", [JSON, CSV, ARROW_STREAM])
def test_names_of_slices_are_repeated_up_to_a_limit(accept: str, values: int) -> None:
    table = {} if accept == JSON else {"table": "operating_points"}
    refused = ask("slices", slices(values, 20), accept=accept, **table)
    assert (refused.status, refused.problem) == (413, "answer_too_large")
    assert b"fewer operating points" in refused.body
    assert ask("slices", slices(values, 2), accept=accept, **table).status == 200


def test_the_table_that_repeats_no_name_is_answered(values: int) -> None:
    for table in ("slices", "overall"):
        assert ask("slices", slices(values, 20), accept=CSV, table=table).status == 200


def test_a_value_of_a_slice_has_at_most_1000_characters() -> None:
    body = {"scores": [0.9, 0.1, 0.5], "labels": [1, 0, 1], "slices": {"a": ["x" * 1000, "y" * 1001, "y" * 1001]}}
    (error,) = errors("slices", body)
    assert (error["pointer"], error["code"]) == ("/slices/a/1", "wrong_length")
    body["slices"] = {"a": ["x" * 1000, "\U0001f600" * 1000, "y"]}
    assert ask("slices", body).status == 200


def test_names_of_evaluations_are_repeated_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    crossings = compared("one that crosses equal ones", 20, 100, "of four bytes")
    assert ask("comparisons", crossings).status == 200
    monkeypatch.setattr("service.wire.answers.repeated_names.MOST_NAME_BYTES", 100_000)
    refused = ask("comparisons", crossings)
    assert (refused.status, refused.problem) == (413, "answer_too_large")


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("slices", slices(60, 20)),
        ("slices", slices(6, 20, columns=10)),
        ("slices", slices(2, 20, columns=10, character="\x01")),
        ("comparisons", compared("one that crosses equal ones", 50, 30, "quoted")),
    ],
)
def test_a_short_request_with_a_long_answer_is_answered_elsewhere(operation: str, body: Any) -> None:
    assert small_answer(asking(operation, body), replace(SMALL, seconds=60)) is None
