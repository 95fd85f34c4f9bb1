"""The answer of the application to a recorded request, and whether another answer says the same."""

import io
import json
import math
import re
from itertools import zip_longest
from typing import Any

import pyarrow as pa
from flask.testing import FlaskClient
from pyarrow import parquet

from service.wire.media_types import ARROW_FILE, ARROW_STREAM, PARQUET
from tests.golden.corpus.entries import Asked, Given

RELATIVE, ABSOLUTE = 1e-9, 1e-12
"""How far numbers may be apart: those with the least accuracy in guide/accuracy.md."""

_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)")
_TABLES = {
    ARROW_STREAM: lambda body: pa.ipc.open_stream(body).read_all(),
    ARROW_FILE: lambda body: pa.ipc.open_file(body).read_all(),
    PARQUET: lambda body: parquet.read_table(io.BytesIO(body)),
}


def answer_to(client: FlaskClient, asked: Asked) -> Given:
    """Ask the application."""
    found = client.post(asked.path, query_string=asked.query, headers=asked.headers, data=asked.body)
    return Given(found.status_code, found.content_type, content_of(found.content_type, found.data))


def content_of(content_type: str, body: bytes) -> Any:
    """A body as what JSON can hold: a document, a text, or a table as types and rows."""
    media_type = content_type.partition(";")[0]
    if media_type in _TABLES:
        table = _TABLES[media_type](body)
        return {"types": [f"{field.name}: {field.type}" for field in table.schema], "rows": table.to_pylist()}
    if media_type.endswith("json"):
        return json.loads(body)
    return body.decode()


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    """Where two contents differ by more than the accuracy of numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return [f"{place}: {sorted(one.keys() ^ other.keys())} in one of both"]
        return [each for key, value in one.items() for each in differences(value, other[key], f"{place}/{key}")]
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return [f"{place}: {len(one)} and {len(other)} entries"]
        pairs = enumerate(zip(one, other, strict=True))
        return [each for index, pair in pairs for each in differences(*pair, f"{place}/{index}")]
    if isinstance(one, float | int) and isinstance(other, float | int) and bool not in {type(one), type(other)}:
        is_same = math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    elif isinstance(one, str) and isinstance(other, str):
        is_same = one == other or _is_same_text(one, other)
    else:
        is_same = type(one) is type(other) and one == other
    return [] if is_same else [f"{place}: {one!r:.200} and {other!r:.200}"]


def _is_same_text(one: str, other: str) -> bool:
    """Whether two texts differ in the last digits of numbers alone."""
    parts = zip_longest(_NUMBER.split(one), _NUMBER.split(other), fillvalue="")
    return all(
        a == b or (index % 2 == 1 and math.isclose(float(a), float(b), rel_tol=RELATIVE, abs_tol=ABSOLUTE))
        for index, (a, b) in enumerate(parts)
    )
