"""Whether a schema may replace an earlier one without breaking a client, within what `/v1` promises.

A request that was valid stays valid. An answer keeps what it had, and holds nothing in an old place that it could not
hold before, except for new enum values. New properties are ignored by clients. Nothing is renamed or removed.

Knows the JSON Schema of OpenAPI 3.1; nothing of paths, operations or the service. What a description says is beyond it.
"""

import json
from collections.abc import Callable, Iterator
from enum import Enum
from math import inf
from typing import Any

from tests.contract.document import Tree, types

ANNOTATIONS = frozenset({"title", "description", "example", "examples", "deprecated", "externalDocs", "$comment"})
"""Keywords that do not affect validity."""

_ALL_TYPES = frozenset({"null", "boolean", "object", "array", "string", "number", "integer"})


class Direction(Enum):
    """Who sends what a schema describes."""

    REQUEST = "requests"
    ANSWER = "answers"


def _types(schema: Tree) -> frozenset[str]:
    named = types(schema)
    return frozenset(named | ({"integer"} if "number" in named else set())) or _ALL_TYPES


def _lower(schema: Tree) -> tuple[float, int]:
    """The greatest lower bound, after which an exclusive one sorts after an inclusive one of the same value."""
    return max((schema.get("minimum", -inf), 0), (schema.get("exclusiveMinimum", -inf), 1))


def _upper(schema: Tree) -> tuple[float, int]:
    return min((schema.get("maximum", inf), 0), (schema.get("exclusiveMaximum", inf), -1))


def _at_least(keyword: str) -> Callable[[Tree, Tree], bool]:
    return lambda wide, narrow: wide.get(keyword, 0) <= narrow.get(keyword, 0)


def _at_most(keyword: str) -> Callable[[Tree, Tree], bool]:
    return lambda wide, narrow: wide.get(keyword, inf) >= narrow.get(keyword, inf)


def _the_same(keyword: str) -> Callable[[Tree, Tree], bool]:
    return lambda wide, narrow: keyword not in wide or wide[keyword] == narrow.get(keyword)


_EXACT = ("const", "format", "pattern", "multipleOf", "uniqueItems", "contentMediaType", "contentEncoding")
_ADMITS: tuple[tuple[tuple[str, ...], Callable[[Tree, Tree], bool]], ...] = (
    (("type",), lambda wide, narrow: _types(wide) >= _types(narrow)),
    (("minimum", "exclusiveMinimum"), lambda wide, narrow: _lower(wide) <= _lower(narrow)),
    (("maximum", "exclusiveMaximum"), lambda wide, narrow: _upper(wide) >= _upper(narrow)),
    (("required",), lambda wide, narrow: set(wide.get("required", [])) <= set(narrow.get("required", []))),
    (("enum",), lambda wide, narrow: "enum" not in wide or "enum" in narrow),
    *(((keyword,), _at_least(keyword)) for keyword in ("minLength", "minItems", "minProperties")),
    *(((keyword,), _at_most(keyword)) for keyword in ("maxLength", "maxItems", "maxProperties")),
    *(((keyword,), _the_same(keyword)) for keyword in _EXACT),
)
"""For some keywords: whether one schema admits everything that another does, as far as they are concerned."""

_BELOW = ("items", "contentSchema")
"""Keywords whose value is a schema; a missing one admits everything."""

_KNOWN = {keyword for keywords, _ in _ADMITS for keyword in keywords} | {"properties", "additionalProperties", *_BELOW}


def follow(document: Tree, node: Tree) -> Tree:
    """The node, or what its `$ref` points to with what stands next to the reference."""
    while "$ref" in node:
        target: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step.replace("~1", "/").replace("~0", "~")]
        node = target | {key: value for key, value in node.items() if key != "$ref"}
    return node


def other_changes(old: Tree, new: Tree, known: set[str] | frozenset[str]) -> Iterator[str]:
    """The keys whose values differ, except for `known` ones and annotations."""
    for key in sorted((set(old) | set(new)) - known - ANNOTATIONS):
        if not key.startswith("x-") and old.get(key) != new.get(key):
            yield key


def _shown(schema: Tree, keywords: tuple[str, ...]) -> str:
    return (
        ", ".join(f"{keyword} {json.dumps(schema[keyword])}" for keyword in keywords if keyword in schema) or "nothing"
    )


def _words(schema: Tree) -> set[str]:
    """The values of an enumeration as JSON, in which 1, 1.0 and true differ."""
    return {json.dumps(value, sort_keys=True) for value in schema.get("enum", [])}


def _as_schema(node: Any) -> Tree:
    """A schema that is true or false, as an object."""
    if isinstance(node, dict):
        return node
    return {} if node else {"not": {}}


class SchemaComparison:
    """Compares the schemas of two documents. A named one is compared once in each direction, wherever it is used."""

    def __init__(self, old: Tree, new: Tree) -> None:
        self._old = old
        self._new = new
        self._seen: set[tuple[str, str, Direction]] = set()

    def breaks(self, old: Any, new: Any, direction: Direction, place: str) -> Iterator[str]:
        """A line for each difference that breaks clients of the old schema, beginning with its place."""
        old, new = _as_schema(old), _as_schema(new)
        if "$ref" in old:
            name = old["$ref"].rpartition("/")[2]
            place = f"{direction.value}, {name}"
            if {"$ref"} == set(old) - ANNOTATIONS == set(new) - ANNOTATIONS:
                used = (old["$ref"], new["$ref"], direction)
                if used in self._seen:
                    return
                self._seen.add(used)
        old, new = follow(self._old, old), follow(self._new, new)
        yield from self._breaks_here(old, new, direction, place)
        yield from self._breaks_of_properties(old, new, direction, place)
        for keyword in _BELOW:
            if keyword in old or keyword in new:
                yield from self.breaks(old.get(keyword, {}), new.get(keyword, {}), direction, f"{place}/{keyword}")

    @staticmethod
    def _breaks_here(old: Tree, new: Tree, direction: Direction, place: str) -> Iterator[str]:
        wide, narrow = (new, old) if direction is Direction.REQUEST else (old, new)
        for keywords, admits in _ADMITS:
            if not admits(wide, narrow):
                yield f"{place}: {_shown(old, keywords)} became {_shown(new, keywords)}"
        if "enum" in new:
            yield from (f"{place}: the value {word} is gone" for word in sorted(_words(old) - _words(new)))
        for key in other_changes(old, new, _KNOWN):
            yield f"{place}: {key} changed, which this check cannot judge"

    def _breaks_of_properties(self, old: Tree, new: Tree, direction: Direction, place: str) -> Iterator[str]:
        before, after = old.get("properties", {}), new.get("properties", {})
        for name, schema in before.items():
            if name in after:
                yield from self.breaks(schema, after[name], direction, f"{place}/{name}")
            else:
                yield f"{place}/{name}: gone"
        others, others_now = old.get("additionalProperties", {}), new.get("additionalProperties", {})
        if others is False:
            return  # requests have more freedom now; answers have new properties
        if direction is Direction.REQUEST:
            for name in after.keys() - before.keys():
                yield from self.breaks(others, after[name], direction, f"{place}/{name}, which could be anything")
            if others_now is False:
                yield f"{place}: unknown properties are not allowed any more"
                return
        if others_now is not False and (others or others_now):
            yield from self.breaks(others, others_now, direction, f"{place}/*")
