"""Some request gets every documented problem; test_examples.py checks that the answer is the example."""

import pytest

from service.wire.problems import PROBLEM_TYPES
from tests.contract.document import Operation, evaluations, problem_examples
from tests.contract.problem_requests import BEFORE_THE_APPLICATION, REQUESTS

BY_THE_PROXY = {"unavailable"}
"""Problems that nginx sends; tests/deploy reaches them."""

EXAMPLES = problem_examples()


def test_every_example_has_its_request() -> None:
    assert set(EXAMPLES) == set(REQUESTS) | set(BEFORE_THE_APPLICATION) | BY_THE_PROXY


def test_every_type_of_problem_is_reached() -> None:
    reached = {value["type"] for _, value in EXAMPLES.values()}
    assert reached == {problem.uri for problem in PROBLEM_TYPES.values()}


@pytest.mark.parametrize("found", evaluations(), ids=lambda found: found.name)
def test_every_evaluation_has_a_request_that_gets_422(found: Operation) -> None:
    statuses = {EXAMPLES[name][1]["status"] for name, request in REQUESTS.items() if request["path"] == found.path}
    assert 422 in statuses
