"""Writes the example answers into openapi.yaml: the service's answers to the example requests.

    python -m tests.contract.write 2>/dev/null

An answer is that of the request whose example has its name; a CSV request is asked for the table of its name, or where
there are no tables for a report. Problems come from problem_requests.py. All else is written by hand: paths, schemas,
prose, requests, and the names and summaries of the answers. A number keeps its last digits if it differs from the old
one by no more than areas with logarithms do between machines. The service logs to standard error.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from functools import cache
from textwrap import indent
from typing import Any

import yaml
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.app import create_app
from service.settings import read_settings
from service.wire.media_types import CSV, JSON, MARKDOWN, XML
from tests.contract.document import (
    PATH,
    PROBLEM_JSON,
    Operation,
    document,
    evaluations,
    examples,
    operations,
    queries,
    resolved,
)
from tests.contract.problem_requests import problems

REPORTS = (MARKDOWN, XML)

_RELATIVE = 1e-12
"""The tolerance for areas with logarithms, whose last bits depend on the C library."""
_LONGEST_FLOW = 100
"""A longer object has a line for each property."""

Keys = tuple[str, ...]


def written(text: str) -> str:
    """The document, given as text, with every example answer as the service gives it now."""
    root = yaml.compose(text, yaml.CSafeLoader)
    changes = []
    for keys, value in _answers():
        start, end, column = _place(root, keys)
        while text[end - 1] in " \n":
            end -= 1
        changes.append((start, end, re.sub(r"\n(?=[^\n])", "\n" + " " * column, _as_yaml(value))))
    for start, end, value in sorted(changes, reverse=True):
        text = text[:start] + value + text[end:]
    return text


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


@cache
def _answers() -> tuple[tuple[Keys, Any], ...]:
    """Each example answer: the keys that lead to it, and its value."""
    return (*_answers_to_gets(), *_answers_to_posts(), *_problems())


def _answers_to_posts() -> Iterator[tuple[Keys, Any]]:
    client = create_app(read_settings({})).test_client()
    for found in evaluations():
        for name in examples(found.request_content[JSON]):
            yield _answer(found, JSON, name, post_example(client, found, JSON, name, JSON))
        for name in examples(found.request_content.get(CSV, {})):
            if tables(found):
                yield _answer(found, CSV, name, post_example(client, found, CSV, name, CSV, table=name))
            else:
                for accept in reports(found):
                    yield _answer(found, accept, name, post_example(client, found, CSV, name, accept))


def _answers_to_gets() -> Iterator[tuple[Keys, Any]]:
    """The usual answers, each as the first example; not contracts, shown in part, nor /version, which often changes."""
    client = create_app(read_settings({})).test_client()
    for found in operations():
        content = found.response(200)["content"].get(JSON)
        if (
            found.method == "get"
            and content
            and not content["schema"]["$ref"].endswith(("/ContractDocument", "/ServerVersion"))
        ):
            values = {parameter["name"]: next(iter(examples(parameter).values())) for parameter in found.parameters}
            yield _answer(found, JSON, next(iter(content["examples"])), client.get(found.path.format(**values)))


def _problems() -> Iterator[tuple[Keys, Any]]:
    places = {
        name: ("components", "responses", response, "content", PROBLEM_JSON, "examples", name, "value")
        for response, tree in document()["components"]["responses"].items()
        for name in tree["content"].get(PROBLEM_JSON, {}).get("examples", {})
    }
    return ((places[name], problem) for name, problem in problems().items())


def _answer(found: Operation, kind: str, name: str, answer: TestResponse) -> tuple[Keys, Any]:
    """The place of an answer in the document, and its value; the document's own value, if both are the same."""
    status = str(answer.status_code)
    content = found.response(answer.status_code)["content"]
    if answer.mimetype != kind or name not in content.get(kind, {}).get("examples", {}):
        raise LookupError(f"{found.name}: openapi.yaml has no example {name} of {status} {kind}.\n{answer.text}")
    old = content[kind]["examples"][name].get("value")
    value = answer.get_json() if kind == JSON else answer.text
    is_same = _same_cells(value, old) if kind == CSV and old else same(value, old)
    at: Keys = ("paths", found.path, found.method, "responses", status)
    response = found.tree["responses"][status]
    if "$ref" in response:
        at = tuple(response["$ref"].removeprefix("#/").split("/"))
    return (*at, "content", kind, "examples", name, "value"), old if is_same else value


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


def _same_cells(found: str, expected: str) -> bool:
    return same(_cells(found), _cells(expected))


def _cells(text: str) -> list[list[object]]:
    def cell(word: str) -> object:
        try:
            return float(word) if "." in word else word
        except ValueError:
            return word

    return [[cell(word) for word in row] for row in csv.reader(io.StringIO(text, newline=""))]


def _place(node: yaml.Node, keys: Keys) -> tuple[int, int, int]:
    """From where to where the last key and its value are in the text, and in which column."""
    for key in keys:
        name, node = next(pair for pair in node.value if pair[0].value == key)
    return name.start_mark.index, node.end_mark.index, name.start_mark.column


class _Dumper(yaml.SafeDumper):
    """Writes lists of numbers and short objects on one line, and text of several lines unchanged."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  # of whatever
        return True

    def increase_indent(self, flow: bool = False, **_: bool) -> None:  # noqa: FBT001, FBT002  # PyYAML's signature
        super().increase_indent(flow, indentless=False)

    def represent_data(self, data: Any) -> yaml.Node:
        node = super().represent_data(data)
        if isinstance(data, list):
            node.flow_style = not any(isinstance(each, dict) for each in data)
        elif isinstance(data, dict):
            nested = any(isinstance(each, (dict, list)) for each in data.values())
            node.flow_style = not nested and len(json.dumps(data)) <= _LONGEST_FLOW
        elif isinstance(data, str) and "\n" in data:
            node.style = "|"
        elif isinstance(data, str) and re.search(r"^$|'|: ", data):
            node.style = '"'
        return node


def _as_yaml(value: Any) -> str:
    options = {"sort_keys": False, "allow_unicode": True, "width": math.inf}
    body = yaml.dump(value, Dumper=_Dumper, **options)
    if isinstance(value, dict) and not body.startswith("{"):
        return "value:\n" + indent(body.rstrip("\n"), "  ")
    return "value: " + body.rstrip("\n")


if __name__ == "__main__":
    PATH.write_text(written(PATH.read_text("utf-8")), "utf-8")
