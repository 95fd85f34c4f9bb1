"""Sends the example requests, and compares answers with those that the document shows."""

import json
import math
from collections.abc import Iterator
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.app import create_app
from service.settings import read_settings
from service.wire.media_types import JSON, MARKDOWN, XML
from tests.contract.document import Operation, examples, operations, queries, resolved

REPORTS = (MARKDOWN, XML)

_RELATIVE = 1e-12
"""The tolerance for areas with logarithms, whose last bits depend on the C library."""


def tables(found: Operation) -> list[str]:
    """The tables of an operation."""
    parameters = {parameter["name"]: parameter for parameter in found.parameters}
    names: list[str] = resolved(parameters["table"]["schema"])["enum"] if "table" in parameters else []
    return names


def reports(found: Operation) -> list[str]:
    """The media types of whole answers of an operation without tables: reports, or JSON if it has none."""
    return [kind for kind in REPORTS if kind in found.responses["200"]["content"]] or [JSON]


def post_example(
    client: FlaskClient, found: Operation, kind: str, name: str, accept: str, **query: str
) -> TestResponse:
    """Send an example of a request, with the query that its description shows."""
    content = found.request_content[kind]
    value, query = examples(content)[name], query | queries(content)[name]
    body = json.dumps(value) if kind == JSON else value
    return client.post(found.path, data=body, content_type=kind, query_string=query, headers={"Accept": accept})


def answers_to_gets() -> Iterator[tuple[str, Any, Any]]:
    """Each path, its first example and its answer now; not contracts, nor /version, which often changes."""
    client = create_app(read_settings({})).test_client()
    for found in operations():
        content = found.response(200)["content"].get(JSON)
        if (
            found.method == "get"
            and content
            and not content["schema"]["$ref"].endswith(("/ContractDocument", "/ServerVersion"))
        ):
            values = {parameter["name"]: next(iter(examples(parameter).values())) for parameter in found.parameters}
            yield found.path, next(iter(examples(content).values())), client.get(found.path.format(**values)).get_json()


def same(found: Any, expected: Any) -> bool:
    """Whether two answers are the same except for the last digits of their numbers."""
    if isinstance(expected, dict):
        return (
            isinstance(found, dict)
            and list(found) == list(expected)
            and all(map(same, found.values(), expected.values()))
        )
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, float) and isinstance(found, float):
        return math.isclose(found, expected, rel_tol=_RELATIVE, abs_tol=0)
    return type(found) is type(expected) and found == expected
