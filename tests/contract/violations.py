"""What an instance violates of a schema of the contract."""

import copy
from functools import cache
from typing import Any

from referencing import Registry
from referencing.jsonschema import DRAFT202012

from tests.contract.document import Tree, document, schema_and_below, types

URI = "urn:contract"


@cache
def _closed_document() -> Tree:
    """The document with every object closed: a property that it does not name is invalid.

    Readers of an answer must expect new properties; the service must not send any that the document lacks.
    """
    tree = copy.deepcopy(document())
    for name, named in tree["components"]["schemas"].items():
        for _, node in schema_and_below(named, name):
            if "object" in types(node):
                node.setdefault("additionalProperties", False)
    return tree


@cache
def _registry() -> Registry[Any]:
    return Registry().with_resource(URI, DRAFT202012.create_resource(_closed_document())).crawl()


def violations(node: Tree, instance: Any) -> list[str]:
    """The errors of an instance under a schema of the document, with all objects closed."""
    from jsonschema import Draft202012Validator  # takes long, in each process that collects tests

    validator = Draft202012Validator(_with_absolute_references(node, URI), registry=_registry())
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(instance)]


def _with_absolute_references(node: Any, uri: str) -> Any:
    if isinstance(node, list):
        return [_with_absolute_references(child, uri) for child in node]
    if isinstance(node, dict):
        return {
            key: f"{uri}{child}" if key == "$ref" else _with_absolute_references(child, uri)
            for key, child in node.items()
        }
    return node
