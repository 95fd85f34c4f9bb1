"""Writes openapi.yaml and openapi-clients.yaml; run it after a change of a declaration, of prose or of an example."""

import json
import logging
import math
import re
import sys
from pathlib import Path
from typing import Any

import yaml

from service.contract.clients import clients_contract
from service.contract.openapi import contract
from service.contract.schemas import Tree
from service.settings import shipped_file

CLIENTS_FILE = Path(__file__).with_name("openapi-clients.yaml")
_WIDTH = 110
_LONGEST_FLOW = 100
"""A longer object has a line for each property."""

_WITH_POINT = re.compile(r"(\d+\.\d+)")
_RELATIVE = 1e-12
"""The tolerance for areas with logarithms, whose last bits depend on the C library."""


class _Dumper(yaml.SafeDumper):
    """Writes lists of numbers and short objects on one line, and no anchors, which some parsers lack."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401, ARG002  # whatever it is
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002  # PyYAML's signature
        super().increase_indent(flow, indentless=False)

    def represent_data(self, data: Any) -> Any:  # noqa: ANN401  # whatever it is, and a node
        node: Any = super().represent_data(data)
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


def in_yaml(tree: Tree) -> str:
    """A contract in YAML."""
    text: str = yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return text


def kept(found: Any, before: Any) -> Any:  # noqa: ANN401  # any part of a contract
    """What is found, with the numbers of before where these differ only in their last digits."""
    if isinstance(found, dict) and isinstance(before, dict):
        return {key: kept(each, before.get(key)) for key, each in found.items()}
    if isinstance(found, list) and isinstance(before, list) and len(found) == len(before):
        return [kept(each, old) for each, old in zip(found, before, strict=True)]
    if isinstance(found, str) and isinstance(before, str) and _same_cells(found, before):
        return before
    if isinstance(found, float) and isinstance(before, float) and math.isclose(found, before, rel_tol=_RELATIVE):
        return before
    return found


def _same_cells(found: str, before: str) -> bool:
    """Whether two texts, such as tables of CSV, differ only in the last digits of their numbers."""
    parts, old = _WITH_POINT.split(found), _WITH_POINT.split(before)
    return len(parts) == len(old) and all(map(_same_part, parts, old))


def _same_part(found: str, before: str) -> bool:
    is_number = _WITH_POINT.fullmatch(found) and _WITH_POINT.fullmatch(before)
    return found == before or bool(is_number and math.isclose(float(found), float(before), rel_tol=_RELATIVE))


def documents() -> tuple[str, str]:
    """The contract, and that for generated clients, as they should be."""
    before: Tree = yaml.load(shipped_file("openapi.yaml").read_bytes(), Loader=yaml.CSafeLoader)
    whole = kept(contract(), before)
    return in_yaml(whole), in_yaml(clients_contract(whole))


if __name__ == "__main__":
    logging.disable()  # the requests of examples
    whole, for_clients = documents()
    Path(sys.argv[1] if len(sys.argv) > 1 else "openapi.yaml").write_text(whole, encoding="utf-8")
    CLIENTS_FILE.write_text(for_clients, encoding="utf-8")
