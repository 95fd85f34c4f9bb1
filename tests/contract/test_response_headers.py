"""The headers of every answer are documented for every response, and agree with the document."""

import pytest
from flask.testing import FlaskClient

from tests.contract.document import Operation, examples, operations
from tests.contract.violations import violations


@pytest.mark.parametrize("found", operations(), ids=lambda found: found.name)
def test_every_response_has_an_id_and_its_times(found: Operation) -> None:
    for status, response in found.responses.items():
        named = response["headers"].keys()
        assert "X-Request-ID" in named, status
        assert "Server-Timing" in named, status


@pytest.mark.parametrize(
    "found", [found for found in operations() if found.method == "get"], ids=lambda found: found.name
)
def test_headers_are_as_documented(client: FlaskClient, found: Operation) -> None:
    values = {parameter["name"]: next(iter(examples(parameter).values())) for parameter in found.parameters}
    for given in ({}, {"X-Request-ID": "a.b_c-1"}, {"X-Request-ID": "no id"}):
        answer = client.get(found.path.format(**values), headers=given)
        for name, header in found.response(answer.status_code)["headers"].items():
            assert violations(header.get("schema", header), answer.headers[name]) == [], name
