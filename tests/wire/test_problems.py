"""How a problem is written for clients."""

import re
from pathlib import Path

import pytest

from service.wire.problems import (
    MAX_ERRORS,
    MAX_INSTANCE,
    PROBLEM_TYPES,
    FieldError,
    instance_of,
    invalid_request,
    invalid_value,
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v1/curves", "/v1/curves"),
        ("", "/"),
        ('/<a b="ü">\r\n', "/%3Ca%20b%3D%22%C3%BC%22%3E%0D%0A"),
        ("/" + "a" * 5000, "/" + "a" * (MAX_INSTANCE - 1)),
    ],
)
def test_an_instance_is_a_short_uri(path: str, expected: str) -> None:
    assert instance_of(path) == expected


def test_the_guide_lists_every_type_of_problem(root: Path) -> None:
    rows = [f"| {each.status} | `{each.uri}` | {each.title} |" for each in PROBLEM_TYPES.values()]
    guide = (root / "service/guide/errors.md").read_text("utf-8")
    assert "\n".join(rows) in guide


@pytest.mark.parametrize("code", PROBLEM_TYPES)
def test_a_description_is_whole_sentences(code: str) -> None:
    description = PROBLEM_TYPES[code].description
    assert re.fullmatch(r"[A-Z/]\S*(?: \S+)+\.", description)


def test_what_passes_is_worth_another_try() -> None:
    assert {problem.status for problem in PROBLEM_TYPES.values() if problem.is_temporary} == {429, 503}


@pytest.mark.parametrize(
    ("pointers", "text"),
    [
        (["/labels/0"], "labels[0]: is wrong."),
        (["/labels/0", "/scores/7"], "labels[0]: is wrong. 1 more in errors."),
        (["/evaluations/1/labels/20"], "evaluations[1].labels[20]: is wrong."),
        (["/a~1b~0c"], "a/b~c: is wrong."),
        ([""], "is wrong."),
        (["/x"] * (MAX_ERRORS + 5), f"x: is wrong. {MAX_ERRORS - 1} more in errors."),
    ],
)
def test_the_detail_says_the_first_error_and_how_many_follow(pointers: list[str], text: str) -> None:
    assert invalid_request([FieldError(pointer, "wrong", "is wrong.") for pointer in pointers]).detail == text


def test_a_sentence_that_begins_with_the_place_does_not_name_it_twice() -> None:
    assert invalid_value("/labels", "lengths_differ", "labels has 2 rows.").detail == "labels has 2 rows."
