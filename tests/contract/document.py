"""The contract for tests: openapi.yaml as a tree, and walks over its operations, schemas and examples.

Knows OpenAPI and JSON Schema; nothing of the service.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import yaml

PATH = Path(__file__).resolve().parents[2] / "openapi.yaml"
PROBLEM_JSON = "application/problem+json"
METHODS = frozenset({"get", "put", "post", "delete", "patch", "head", "options", "trace"})
EVALUATION_PREFIX = "/v1/"
BINARY = frozenset(
    {
        "application/vnd.apache.arrow.stream",
        "application/vnd.apache.arrow.file",
        "application/vnd.apache.parquet",
        "image/png",
    }
)
"""Media types that examples in a text document cannot show."""

_QUERY = re.compile(r"`\?([^`]+)`")

_SINGLE = ("items", "additionalProperties", "contentSchema", "not", "if", "then", "else", "propertyNames", "contains")
_MANY = ("oneOf", "anyOf", "allOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "dependentSchemas")

Tree = dict[str, Any]


@cache
def document() -> Tree:
    """The whole document; do not modify it."""
    tree: Tree = yaml.load(PATH.read_bytes(), Loader=yaml.CSafeLoader)  # a safe loader, and ten times as fast
    return tree


def resolved(node: Tree) -> Tree:
    """The node itself, or what its `$ref` points to."""
    while "$ref" in node:
        target: Any = document()
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def schema(name: str) -> Tree:
    """A schema of the document by its name."""
    found: Tree = document()["components"]["schemas"][name]
    return found


@dataclass(frozen=True)
class Operation:
    """One operation of the document."""

    path: str
    method: str
    tree: Tree

    @property
    def name(self) -> str:
        return str(self.tree["operationId"])

    @property
    def parameters(self) -> list[Tree]:
        return [resolved(parameter) for parameter in self.tree.get("parameters", [])]

    @property
    def request_content(self) -> Tree:
        content: Tree = resolved(self.tree.get("requestBody", {})).get("content", {})
        return content

    @property
    def responses(self) -> dict[str, Tree]:
        return {status: resolved(response) for status, response in self.tree["responses"].items()}

    def response(self, status: int) -> Tree:
        """The response of a status: its own, or that of its range, such as 4XX."""
        found = self.responses
        return found[str(status) if str(status) in found else f"{str(status)[0]}XX"]


def operations() -> list[Operation]:
    """Every operation, in the order of the document."""
    return [
        Operation(path, method, tree)
        for path, item in document()["paths"].items()
        for method, tree in item.items()
        if method in METHODS
    ]


def operation(name: str) -> Operation:
    """An operation by its operationId."""
    return next(found for found in operations() if found.name == name)


def evaluations() -> list[Operation]:
    """The operations that evaluate their bodies."""
    return [found for found in operations() if found.path.startswith(EVALUATION_PREFIX) and found.method == "post"]


def examples(media_type: Tree) -> dict[str, Any]:
    """The named examples of a media type, a parameter or a header."""
    return {name: resolved(example)["value"] for name, example in media_type.get("examples", {}).items()}


def queries(media_type: Tree) -> dict[str, dict[str, str]]:
    """The query that each example of a body goes with: what its description shows as code after a question mark."""
    found = {name: _QUERY.search(example.get("description", "")) for name, example in media_type["examples"].items()}
    return {name: dict(parse_qsl(query[1], strict_parsing=True)) if query else {} for name, query in found.items()}


def problem_examples() -> dict[str, tuple[str, Tree]]:
    """Every documented problem: {name of the example: (its status or range of them, the problem document)}."""
    return {
        name: (status, value)
        for found in operations()
        for status, response in found.responses.items()
        for name, value in examples(response.get("content", {}).get(PROBLEM_JSON, {})).items()
    }


def schemas() -> Iterator[tuple[str, Tree]]:
    """Every schema of the document with its place, including nested ones."""
    yield from _schemas_below(document(), "")


def _schemas_below(node: Any, place: str) -> Iterator[tuple[str, Tree]]:
    if isinstance(node, list):
        for index, child in enumerate(node):
            yield from _schemas_below(child, f"{place}/{index}")
    elif isinstance(node, dict):
        for key, child in node.items():
            if key == "schema":
                yield from schema_and_below(child, f"{place}/schema")
            elif place == "/components" and key == "schemas":
                for name, named in child.items():
                    yield from schema_and_below(named, f"{place}/schemas/{name}")
            elif key not in {"examples", "example"}:
                yield from _schemas_below(child, f"{place}/{key}")


def schema_and_below(node: Any, place: str) -> Iterator[tuple[str, Tree]]:
    if not isinstance(node, dict):
        return
    yield place, node
    for key in _SINGLE:
        yield from schema_and_below(node.get(key), f"{place}/{key}")
    for key in _MANY:
        for index, child in enumerate(node.get(key, [])):
            yield from schema_and_below(child, f"{place}/{key}/{index}")
    for key in _NAMED:
        for name, child in node.get(key, {}).items():
            yield from schema_and_below(child, f"{place}/{key}/{name}")


def types(node: Mapping[str, Any]) -> set[str]:
    """The types that a schema names."""
    named = node.get("type", [])
    return {named} if isinstance(named, str) else set(named)
