"""A big request, for the tests of evaluators."""

from typing import Any

from service.request import Request
from service.wire.limits import Limits
from service.wire.media_types import JSON

LIMITS = Limits(5_000_000, 100_000)
BODY = b'{"scores": [0.9, 0.8, 0.4, 0.4, 0.1], "labels": [1, 0, 1, 0, 0]}'


def request(**changes: Any) -> Request:
    fields = {"operation": "curves", "instance": "/v1/curves", "content_type": JSON, "accept": JSON, "parameters": ()}
    return Request(**{**fields, "body": b"", **changes})
