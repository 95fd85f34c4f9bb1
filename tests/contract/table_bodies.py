"""Tables of every kind, valid and invalid, in every format that is read."""

import csv
import io
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from service.wire.media_types import ARROW_FILE, ARROW_STREAM, CSV, PARQUET
from tests.properties.bodies import arrow_body, arrow_file_body, parquet_body

NUMBERS = st.one_of(
    st.integers(0, 20).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["+1", " 2 ", "007", ".5", "1e3", "-0.0", "1e308", "5e-324", "9007199254740993"]),
)
LABELS = st.sampled_from(["0", "1"])
ODD_CELLS = st.one_of(
    st.sampled_from(["", "nan", "inf", "1e400", "1_0", "0x10", "true", "-1", '"', "a,b", "\r\n", "\x00"]), st.text()
)


@st.composite
def noisy(draw: st.DrawFn, body: bytes) -> bytes:
    """A body, sometimes with stray bytes in it."""
    if draw(st.integers(0, 9)) == 0:
        place = draw(st.integers(0, len(body)))
        body = body[:place] + draw(st.binary(max_size=5)) + body[place:]
    return body


@st.composite
def csv_tables(draw: st.DrawFn) -> bytes:
    """CSV of every kind: samples and counts, columns in any order, odd cells, quoting, a BOM, CRLF, noise."""
    kinds = draw(
        st.sampled_from(
            [
                {"scores": NUMBERS, "labels": LABELS},
                {"scores": NUMBERS, "labels": LABELS, "weights": NUMBERS},
                {"tp": NUMBERS, "fp": NUMBERS, "fn": NUMBERS, "tn": NUMBERS},
                {"threshold": NUMBERS, "tp": NUMBERS, "fp": NUMBERS},
                {"scores": ODD_CELLS, "labels": ODD_CELLS},
                {"a,b": ODD_CELLS, "scores": NUMBERS, "labels": LABELS},
                {"scores": NUMBERS, "others": NUMBERS, "labels": LABELS},
                {"scores": NUMBERS, "others": ODD_CELLS, "labels": LABELS, "weights": NUMBERS},
                {"scores": NUMBERS},
                {},
            ]
        )
    )
    header = draw(st.permutations(list(kinds)))
    rows = draw(st.lists(st.tuples(*(kinds[name] for name in header)), max_size=12))
    out = io.StringIO(newline="")
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    writer = csv.writer(out, quoting=quoting, lineterminator=draw(st.sampled_from(["\n", "\r\n"])))
    writer.writerow(header)
    writer.writerows(rows)
    body = draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + out.getvalue().encode("utf-8", "surrogatepass")
    return draw(noisy(body))


DOUBLES, WHOLE = st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 20)
TYPED: list[dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]]] = [
    {"scores": (pa.float64(), DOUBLES), "labels": (pa.int8(), st.integers(0, 1))},
    {"scores": (pa.float32(), st.floats(width=32)), "labels": (pa.bool_(), st.booleans())},
    {"scores": (pa.int64(), WHOLE), "others": (pa.float64(), DOUBLES), "labels": (pa.bool_(), st.booleans())},
    {"scores": (pa.int64(), st.integers(-(2**63), 2**63 - 1)), "labels": (pa.float64(), st.sampled_from([-1.0, 1.0]))},
    {"scores": (pa.float64(), DOUBLES), "labels": (pa.string(), st.text(max_size=2)), "weights": (pa.uint8(), WHOLE)},
    {"tp": (pa.uint16(), WHOLE), "fp": (pa.int32(), WHOLE), "fn": (pa.float64(), DOUBLES), "tn": (pa.int64(), WHOLE)},
    {"threshold": (pa.float64(), st.none() | DOUBLES), "tp": (pa.int8(), WHOLE), "fp": (pa.int8(), WHOLE)},
    {"scores": (pa.list_(pa.float64()), st.lists(DOUBLES)), "labels": (pa.timestamp("s"), st.none())},
    {"scores": (pa.float64(), st.none() | DOUBLES), "labels": (pa.int8(), st.integers(-1, 2))},
    {},
]
"""Columns with types and cells."""


@st.composite
def typed_tables(draw: st.DrawFn) -> pa.Table:
    """Tables of typed columns; text is sometimes in a dictionary."""
    kinds = draw(st.sampled_from(TYPED))
    names = draw(st.permutations(list(kinds)))
    size = draw(st.integers(0, 12))
    columns = {
        name: pa.array(draw(st.lists(kinds[name][1], min_size=size, max_size=size)), kinds[name][0]) for name in names
    }
    if "labels" in columns and pa.types.is_string(columns["labels"].type) and draw(st.booleans()):
        columns["labels"] = columns["labels"].dictionary_encode()
    return pa.table(columns)


TABLES: dict[str, st.SearchStrategy[bytes]] = {
    CSV: csv_tables(),
    ARROW_STREAM: typed_tables().map(arrow_body).flatmap(noisy),
    ARROW_FILE: typed_tables().map(arrow_file_body).flatmap(noisy),
    PARQUET: typed_tables().map(parquet_body).flatmap(noisy),
}
"""{media type: bodies}"""
