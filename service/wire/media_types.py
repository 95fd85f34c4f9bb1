"""The media types of requests and answers, by name, and what is known of the formats that a body may have."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

JSON = "application/json"
CSV = "text/csv"
ARROW_STREAM = "application/vnd.apache.arrow.stream"
ARROW_FILE = "application/vnd.apache.arrow.file"
PARQUET = "application/vnd.apache.parquet"
MARKDOWN = "text/markdown"
XML = "application/xml"
SVG = "image/svg+xml"
PNG = "image/png"
TEXT = "text/plain"


@dataclass(frozen=True, slots=True)
class BodyFormat:
    """A format that a body, or a file, may have.

    name        what the command line calls it.
    suffixes    of its files, besides its name.
    looks       what such a body is, in a sentence; empty if its first bytes do not show it.
    begins      its first bytes; `ends` its last.
    vague       other media types that tools send for it.
    component   what the contract calls a body.
    is_text     whether a browser reads a file of it as text.
    is_columnar whether a C++ library reads it, which must not crash in a process that other requests depend on.
    """

    media_type: str
    name: str
    suffixes: tuple[str, ...] = ()
    looks: str = ""
    begins: bytes = b""
    ends: bytes = b""
    vague: tuple[str, ...] = ()
    component: str = ""
    is_text: bool = False
    is_columnar: bool = False


BODY_FORMATS = (
    BodyFormat(JSON, "json", vague=("text/json",), is_text=True),
    BodyFormat(
        CSV,
        "csv",
        suffixes=("tsv",),
        vague=("application/csv", "application/x-csv", "text/x-csv", "text/comma-separated-values"),
        component="CsvTable",
        is_text=True,
    ),
    BodyFormat(
        ARROW_STREAM,
        "arrow",
        suffixes=("arrows", "feather"),
        looks="an Arrow stream",
        begins=b"\xff\xff\xff\xff",
        component="ArrowStream",
        is_columnar=True,
    ),
    BodyFormat(
        ARROW_FILE, "arrow", looks="an Arrow file", begins=b"ARROW1\0\0", component="ArrowFile", is_columnar=True
    ),
    BodyFormat(
        PARQUET,
        "parquet",
        looks="a Parquet file",
        begins=b"PAR1",
        ends=b"PAR1",
        vague=("application/parquet", "application/x-parquet"),
        component="ParquetFile",
        is_columnar=True,
    ),
)
"""All, the default first; formats/decoders.py has their readers. Their first bytes tell apart two of one name."""

COLUMNAR = frozenset(each.media_type for each in BODY_FORMATS if each.is_columnar)
"""The media types of formats that a C++ library reads."""

GENERAL: Mapping[str, str | None] = MappingProxyType(
    {
        "": None,
        "application/octet-stream": None,
        "binary/octet-stream": None,
        TEXT: None,
        "application/x-www-form-urlencoded": None,
        "application/vnd.ms-excel": None,
        **{vague: each.media_type for each in BODY_FORMATS for vague in each.vague},
    }
)
"""{vague type that tools send: the format to assume if the first bytes do not show it, or None}

curl -d and wget --post-file declare everything as form fields; fetch declares a string as text/plain."""
