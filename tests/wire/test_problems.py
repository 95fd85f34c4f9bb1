"""How a problem is written for clients."""

import pytest

from service.wire.problems import MAX_INSTANCE, PROBLEM_TYPES, instance_of


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


def test_what_passes_is_worth_another_try() -> None:
    assert {problem.status for problem in PROBLEM_TYPES.values() if problem.passes} == {429, 503}
