"""The media types of requests and answers, by name."""

from collections.abc import Mapping
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

COLUMNAR = frozenset({ARROW_STREAM, ARROW_FILE, PARQUET})
"""Formats that a library in C++ reads, which no body may make crash in a process that others depend on."""

GENERAL: Mapping[str, str | None] = MappingProxyType(
    {
        "": None,
        "application/octet-stream": None,
        "binary/octet-stream": None,
        TEXT: None,
        "application/x-www-form-urlencoded": None,
        "application/vnd.ms-excel": None,
        "text/json": JSON,
        "application/csv": CSV,
        "application/x-csv": CSV,
        "text/x-csv": CSV,
        "text/comma-separated-values": CSV,
        "application/parquet": PARQUET,
        "application/x-parquet": PARQUET,
    }
)
"""{what tools say of a body that they do not know well: what it is where its first bytes do not tell, or None}

curl -d and wget --post-file call everything form fields; fetch calls a string text/plain."""
