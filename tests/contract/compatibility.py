"""Whether a contract keeps the promises of an earlier one: the differences that break clients, a line each.

    python -m tests.contract.compatibility OLD.yaml NEW.yaml

exits with 0 if there are none, 1 if there are some, 2 if a file cannot be read. What may be added: paths, parameters,
media types, statuses, headers, fields, enum values, warnings and types of problems. Nothing is renamed or removed, and
a request that was valid stays valid (compatible_schemas.py). It does not see what only a description changes.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.contract.compatible_schemas import ANNOTATIONS, Direction, SchemaComparison, follow, other_changes
from tests.contract.document import METHODS, Tree

_OF_OPERATION = frozenset({"operationId", "tags", "summary", "parameters", "requestBody", "responses", "security"})
_OF_PARAMETER = frozenset({"name", "in", "required", "schema"})


def breaks(old: Tree, new: Tree) -> list[str]:
    """The lines about what breaks clients of the old contract; empty if the new one is compatible."""
    return list(dict.fromkeys(each_break(old, new)))


def each_break(old: Tree, new: Tree) -> Iterator[str]:
    """The same, one by one; some lines may come twice."""
    comparison = _Comparison(old, new)
    yield from comparison.of_names()
    yield from comparison.of_operations()
    yield from comparison.of_texts()  # last: it searches all examples


def _gone(before: Any, after: Any, what: str) -> Iterator[str]:
    """A line for each old name that is missing among the new ones."""
    for name in before:
        if name not in after:
            yield f"{what} {name}: gone"


def _both(before: Tree, after: Tree) -> Iterator[tuple[str, Any, Any]]:
    """The names that both have, with their values."""
    return ((name, before[name], after[name]) for name in before if name in after)


def _operations(document: Tree) -> dict[str, Tree]:
    """Every operation by its method and path, with the parameters of its path."""
    return {
        f"{method.upper()} {path}": tree | {"parameters": [*item.get("parameters", []), *tree.get("parameters", [])]}
        for path, item in document.get("paths", {}).items()
        for method, tree in item.items()
        if method in METHODS
    }


def _problem_types(node: Any) -> set[str]:
    """The types of problems that examples show; a test of the contract ensures that each type has one."""
    found, waiting = set(), [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            shown = here.get("type")
            if isinstance(shown, str) and shown.startswith("/problems/"):
                found.add(shown)
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here
    return found


def _codes(document: Tree) -> set[str]:
    """The codes of warnings and wrong values: descriptions of schemas with a `code` list them outside parentheses."""
    return {
        f"{code} of {name}"
        for name, schema in document.get("components", {}).get("schemas", {}).items()
        if "code" in schema.get("properties", {})
        for code in re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", schema.get("description", "")))
    }


class _Comparison:
    """Two documents, and the lines about what the second one lacks."""

    def __init__(self, old: Tree, new: Tree) -> None:
        self._old = old
        self._new = new
        self._schemas = SchemaComparison(old, new)

    def of_names(self) -> Iterator[str]:
        """Whatever clients know only by name; generated ones name their classes after the schemas."""
        components, components_now = self._old.get("components", {}), self._new.get("components", {})
        yield from _gone(components.get("schemas", {}), components_now.get("schemas", {}), "schema")
        servers = [server["url"] for server in self._new.get("servers", [])]
        yield from _gone([server["url"] for server in self._old.get("servers", [])], servers, "server")
        schemes, schemes_now = components.get("securitySchemes", {}), components_now.get("securitySchemes", {})
        yield from _gone(schemes, schemes_now, "security scheme")
        for name, old, new in _both(schemes, schemes_now):
            for key in other_changes(old, new, ANNOTATIONS):
                yield f"security scheme {name}: {key} changed"

    def of_texts(self) -> Iterator[str]:
        """Names that appear only in examples and descriptions."""
        yield from _gone(sorted(_problem_types(self._old)), _problem_types(self._new), "problem type")
        yield from _gone(sorted(_codes(self._old)), _codes(self._new), "code")

    def of_operations(self) -> Iterator[str]:
        """Operations and their content."""
        before, after = _operations(self._old), _operations(self._new)
        yield from _gone(before, after, "operation")
        for place, old, new in _both(before, after):
            yield from self._of_operation(old, new, place)

    def _of_operation(self, old: Tree, new: Tree, place: str) -> Iterator[str]:
        if old.get("operationId") != new.get("operationId"):
            yield f"{place}: operationId {old.get('operationId')} became {new.get('operationId')}"
        yield from self._of_parameters(old["parameters"], new["parameters"], place)
        yield from self._of_request_body(old.get("requestBody"), new.get("requestBody"), place)
        yield from self._of_responses(old.get("responses", {}), new.get("responses", {}), place)
        yield from self._of_security(old, new, place)
        for key in other_changes(old, new, _OF_OPERATION):
            yield f"{place}: {key} changed, which this check cannot judge"

    def _of_parameters(self, old: list[Tree], new: list[Tree], place: str) -> Iterator[str]:
        before, after = (
            {
                f"{found['in']} parameter {found['name']}": found
                for found in (follow(document, each) for each in parameters)
            }
            for document, parameters in ((self._old, old), (self._new, new))
        )
        yield from _gone(before, after, f"{place},")
        for name, parameter in after.items():
            here = f"{place}, {name}"
            known = before.get(name, {})
            if parameter.get("required") and not known.get("required"):
                yield f"{here}: required now"
            if known:
                schemas = known.get("schema", {}), parameter.get("schema", {})
                yield from self._schemas.breaks(*schemas, Direction.REQUEST, here)
                for key in other_changes(known, parameter, _OF_PARAMETER):
                    yield f"{here}: {key} changed"

    def _of_request_body(self, old: Tree | None, new: Tree | None, place: str) -> Iterator[str]:
        before, after = follow(self._old, old or {}), follow(self._new, new or {})
        if old and not new:
            yield f"{place}, request body: gone"
        elif after.get("required") and not before.get("required"):
            yield f"{place}, request body: required now"
        if old and new:
            yield from self._of_content(before, after, Direction.REQUEST, f"{place}, request body")

    def _of_content(self, old: Tree, new: Tree, direction: Direction, place: str) -> Iterator[str]:
        before, after = old.get("content", {}), new.get("content", {})
        yield from _gone(before, after, f"{place},")
        for name, kind, kind_now in _both(before, after):
            here = f"{place}, {name}"
            yield from self._schemas.breaks(kind.get("schema", {}), kind_now.get("schema", {}), direction, here)
            for key in other_changes(kind, kind_now, {"schema"}):
                yield f"{here}: {key} changed, which this check cannot judge"

    def _of_responses(self, old: Tree, new: Tree, place: str) -> Iterator[str]:
        yield from _gone(old, new, f"{place}, status")
        for status, answer, answer_now in _both(old, new):
            here = f"{place}, status {status}"
            before, after = follow(self._old, answer), follow(self._new, answer_now)
            yield from self._of_content(before, after, Direction.ANSWER, here)
            headers, headers_now = before.get("headers", {}), after.get("headers", {})
            yield from _gone(headers, headers_now, f"{here}, header")
            for name, header, header_now in _both(headers, headers_now):
                yield from self._of_header(header, header_now, f"{here}, header {name}")

    def _of_header(self, old: Tree, new: Tree, place: str) -> Iterator[str]:
        before, after = follow(self._old, old), follow(self._new, new)
        if before.get("required") and not after.get("required"):
            yield f"{place}: may be absent now"
        yield from self._schemas.breaks(before.get("schema", {}), after.get("schema", {}), Direction.ANSWER, place)

    def _of_security(self, old: Tree, new: Tree, place: str) -> Iterator[str]:
        """Each way to authenticate remains; `{}` stands for none."""
        before, after = (
            {json.dumps(way, sort_keys=True) for way in operation.get("security", document.get("security")) or [{}]}
            for document, operation in ((self._old, old), (self._new, new))
        )
        yield from (f"{place}: the security {way} does not let in any more" for way in sorted(before - after))


def main(words: list[str]) -> int:
    """Compare two files and print what breaks; returns the exit status."""
    try:
        first, second = words
        old, new = (yaml.safe_load(Path(path).read_text(encoding="utf-8")) for path in (first, second))
    except (ValueError, OSError, yaml.YAMLError) as error:
        print(f"usage: python -m tests.contract.compatibility OLD.yaml NEW.yaml\n{error}", file=sys.stderr)
        return 2
    found = breaks(old, new)
    print("\n".join(found) or f"{second} keeps what {first} promises.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
