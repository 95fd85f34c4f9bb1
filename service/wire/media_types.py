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
"""Formats read by a C++ library, which must not crash in a process that other requests depend on."""

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
"""{vague type that tools send: the format to assume if the first bytes do not show it, or None}

curl -d and wget --post-file declare everything as form fields; fetch declares a string as text/plain."""
