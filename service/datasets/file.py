"""The operator's file of datasets, in TOML: a table for each, with where its rows are and who may use it.

Knows the file and its settings; nothing of engines or requests.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from marshmallow import Schema, ValidationError, fields
from marshmallow.validate import OneOf

from service.extras import how_to_install, installed_extras
from service.settings import SettingsError

VARIABLE = "ROCPR_DATASETS_FILE"

_ENGINES = {"duckdb": ("location",), "spark": ("remote", "table")}
"""{engine: the keys that locate its rows}"""


@dataclass(frozen=True, slots=True)
class Dataset:
    """One dataset of the operator's file, whose keys are the fields' names.

    location       for DuckDB: files or globs.
    remote, table  for Spark: its server, which is never shown, and the name of the table.
    scores, labels, weights, positive_label   the columns and their meaning.
    filters        the columns that `where` may name.
    slices         the columns that `slices` may name.
    keys           the names of the API keys that may use it.
    memory         what DuckDB may use; the rest goes to disk.
    """

    name: str
    engine: str
    scores: str
    labels: str
    keys: tuple[str, ...]
    location: tuple[str, ...] = ()
    remote: str = field(default="", repr=False)
    table: str = ""
    weights: str | None = None
    positive_label: str | None = None
    lower_is_positive: bool = False
    filters: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    memory: str = "512MB"

    @property
    def listing(self) -> dict[str, object]:
        """What a client may know of the dataset."""
        return {"name": self.name, "filters": self.filters, "slices": self.slices, "weighted": self.weights is not None}


def read_datasets(path: Path, *, keys: bool) -> dict[str, Dataset]:
    """Read the operator's file, in TOML: a table for each dataset. Raises SettingsError.

    A server without API keys has no datasets: a narrow filter could hand out single rows to anyone.
    """
    if not keys:
        raise SettingsError(f"{VARIABLE} needs API keys: set ROCPR_API_KEYS_FILE, too.")
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{VARIABLE}: {path.name} cannot be read: {error}") from None
    if not document:
        raise SettingsError(f"{VARIABLE}: {path.name} names no dataset.")
    return {name: _dataset(name, given) for name, given in document.items()}


class _Names(fields.Field[tuple[str, ...]]):
    """A string, or a list of strings."""

    def _deserialize(self, value: object, *_: object, **__: object) -> tuple[str, ...]:
        names = (value,) if isinstance(value, str) else value
        if not isinstance(names, list | tuple) or not all(isinstance(each, str) for each in names):
            raise ValidationError("Must be a string or a list of strings.")
        return tuple(names)


class _LabelText(fields.Field[str]):
    """A label as the text of a query: a boolean, a number or a text."""

    def _deserialize(self, value: object, *_: object, **__: object) -> str:
        if not isinstance(value, bool | int | float | str):
            raise ValidationError("Must be a string, a number or a boolean.")
        return value if isinstance(value, str) else str(value).lower()


class _DatasetSchema(Schema):
    """The settings of one dataset, by the names of its fields."""

    engine = fields.String(required=True, validate=OneOf(tuple(_ENGINES)))
    scores = fields.String(required=True)
    labels = fields.String(required=True)
    keys = _Names(required=True)
    location = _Names()
    remote = fields.String()
    table = fields.String()
    weights = fields.String()
    positive_label = _LabelText()
    lower_is_positive = fields.Boolean(truthy={True}, falsy={False})
    filters = _Names()
    slices = _Names()
    memory = fields.String()


def _dataset(name: str, given: object) -> Dataset:
    try:
        read: dict[str, Any] = _DatasetSchema().load(given)  # type: ignore[arg-type]  # whatever the file has
    except ValidationError as error:
        raise _wrong(name, f"{error.messages}") from None
    engine = read["engine"]
    for key in _ENGINES[engine]:
        if not any(read.get(key, ())):
            raise _wrong(name, f"its engine, {engine}, needs {key}.")
    if engine not in installed_extras():  # they have the names of the engines
        raise _wrong(name, f"it needs the extra {engine}; to install it: {how_to_install(engine)}")
    return Dataset(name=name, **read)


def _wrong(name: str, what: str) -> SettingsError:
    return SettingsError(f"{VARIABLE}: dataset {name}: {what}")


def for_key(datasets: Mapping[str, Dataset], key: str | None) -> dict[str, Dataset]:
    """The datasets that an API key may use."""
    return {name: dataset for name, dataset in datasets.items() if key in dataset.keys}
