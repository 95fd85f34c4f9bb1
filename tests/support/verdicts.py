"""Documents of verdicts for the tests of reports and of their layout."""

import json
from typing import Any

from service.inference.gate import Gate
from service.operations import OPERATIONS
from service.operations.operation import Selection
from service.wire.media_types import JSON


def document_of(gate: Gate) -> dict[str, Any]:
    """The JSON answer's document, as a client gets it."""
    found: dict[str, Any] = json.loads(b"".join(OPERATIONS["gates"].encode(JSON, gate, Selection()).pieces))
    return found


def check(status: str = "passed", **fields: Any) -> dict[str, Any]:
    """A check, with nothing but its rule unless given."""
    empty = dict.fromkeys(("value", "interval", "baseline", "difference", "p_value"))
    return {"rule": {"metric": "roc", "min": 0.9}, "status": status, "reason": ""} | empty | fields


def word(*statuses: str) -> str:
    """The verdict of some checks."""
    return next((status for status in ("failed", "undecided") if status in statuses), "passed")


def document(*checks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The verdict of these checks, unless fields say otherwise."""
    status = word(*(each["status"] for each in checks))
    passed = {"passed": status == "passed", "status": status}
    return passed | {"paired": False, "checks": list(checks), "warnings": []} | fields
