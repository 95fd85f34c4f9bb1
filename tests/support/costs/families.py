"""Families of hostile requests: each asks for more of one thing as its size grows.

Requests that are short, or look like little work, can take up a server's time. A family tries one way to make such
requests; `measure.py` finds how long one holds the process.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from service.request import Request
from service.wire.formats.codings import compress
from service.wire.media_types import ARROW_STREAM, CSV, JSON, SVG

BIG_BODY_BYTES = 256 << 10
"""ROCPR_BIG_BODY_BYTES: a longer body is big, whatever it contains."""

LONGEST_QUERY = 8_000
"""A request line has at most 8,190 bytes."""


@dataclass(frozen=True)
class Family:
    """A way to ask for a lot: from a size, 1 to `most`, to a request."""

    name: str
    request: Callable[[int], Request]
    most: int


def asking(
    operation: str,
    body: Any,
    *,
    content_type: str = JSON,
    accept: str = JSON,
    coding: str = "identity",
    sent_as: str = "identity",
    query: Iterable[tuple[str, str]] = (),
) -> Request:
    """Make a request; a body is text, or a JSON value. `coding` is the answer's, `sent_as` the body's."""
    text = body if isinstance(body, str) else json.dumps(body, separators=(",", ":"))
    content = text.encode() if sent_as == "identity" else compress(sent_as, text.encode())
    return Request(operation, f"/v1/{operation}", content_type, accept, tuple(query), content, sent_as, coding)


def family(operation: str, name: str, make: Callable[[int], Any], most: int, **options: Any) -> Family:
    """Make a family whose bodies are JSON."""
    return Family(f"{operation}: {name}", lambda size: asking(operation, make(size), **options), most)


def csv_family(operation: str, name: str, make: Callable[[int], str], most: int, *query: tuple[str, str]) -> Family:
    """Make a family whose bodies are CSV."""
    return Family(
        f"{operation}: CSV, {name}", lambda size: asking(operation, make(size), content_type=CSV, query=query), most
    )


def query_family(operation: str, name: str, make: Callable[[int], Sequence[tuple[str, str]]], most: int) -> Family:
    """Make a family whose options are in the query, with a table of two rows."""
    table = "scores,labels\n1,1\n0,0\n"
    return Family(
        f"{operation}: query, {name}",
        lambda size: asking(operation, table, content_type=CSV, query=make(size)),
        most,
    )


ANSWERS = {
    "JSON": {},
    "CSV": {"accept": CSV},
    "Arrow": {"accept": ARROW_STREAM},
    "gzip": {"coding": "gzip"},
    "SVG": {"accept": SVG, "query": [("side", "1200")]},
}
"""The media types in which answers are requested."""
