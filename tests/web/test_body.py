"""The length of a body is what the head says, up to the limit; tests/web/server shows how bodies are read."""

import pytest

from service.web.body import body_length
from service.wire.problems import Problem


@pytest.mark.parametrize(
    ("variables", "length"),
    [
        ({}, 0),
        ({"CONTENT_LENGTH": ""}, 0),
        ({"CONTENT_LENGTH": "4"}, 4),
        ({"CONTENT_LENGTH": "004"}, 4),
        ({"HTTP_TRANSFER_ENCODING": "chunked"}, None),
    ],
)
def test_the_length_is_what_the_head_says(variables: dict[str, str], length: int | None) -> None:
    assert body_length(variables, 4) == length


def test_a_body_that_is_announced_as_too_long_is_refused() -> None:
    with pytest.raises(Problem) as caught:
        body_length({"CONTENT_LENGTH": "5"}, 4)
    assert caught.value.type.code == "body_too_large"
