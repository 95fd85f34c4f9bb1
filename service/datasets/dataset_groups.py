"""From a dataset that a request names to its groups, which an engine finds.

Knows engines, and how their queries end; nothing of HTTP.
"""

import logging
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

import numpy as np

from service.curves.arrays import BoolArray, IntArray
from service.curves.errors import OneClassLabels, TotalOutOfRange
from service.datasets.file import VARIABLE, Dataset
from service.datasets.queries import DatasetQuery
from service.wire import columns
from service.wire.problems import Problem, invalid_value, pointer_token
from service.wire.requests.faults import DOMAIN_ERROR_CODES
from service.wire.requests.groups_schemas import FoundGroups
from service.wire.wrong import Wrong

if TYPE_CHECKING:
    from service.engines.duckdb_engine import DuckDB
    from service.engines.engine import Kind
    from service.engines.plan import Found
    from service.engines.spark_engine import Spark

_LOG = logging.getLogger("service")

_GLOB = frozenset("*?[")
_THREADS = 2
_STOP_SECONDS = {"duckdb": 2, "spark": 4}
"""{engine: how long a query may take to stop before its process ends}"""


def queried_groups(query: DatasetQuery) -> dict[str, Any]:
    """Have an engine find the groups that a document asks for, as fields of the document.

    Raises Problem if the rows cannot be used, or the engine fails.
    """
    found = _found(query)
    groups = found.groups
    fields = query.with_meaning(FoundGroups(groups.ends | groups.masses, found.rest))
    if query.by:
        fields["slices"] = {name: _slice_values(found.slices[name], name, query.place) for name in query.by}
    return fields


def _slice_values(values: "np.ndarray[Any, Any]", name: str, place: str) -> columns.Column:
    """Check the values of a column of slices. Raises Problem, without a row number: these rows are groups."""
    column = columns.Column.of(values)
    try:
        columns.categories(column)
    except Wrong as error:
        raise invalid_value(f"{place}/slices/{pointer_token(name)}", error.code, error.detail) from None
    return column


def _found(query: DatasetQuery) -> "Found":
    from service.engines.checks import RowColumns  # noqa: PLC0415  # rocpr runs without engines
    from service.engines.failures import (  # noqa: PLC0415  # likewise
        ColumnRefused,
        EngineFailed,
        EngineOutOfMemory,
        FilesUnreadable,
        NoRows,
    )
    from service.engines.plan import group_rows  # noqa: PLC0415  # likewise

    dataset, place = query.dataset, query.place
    wanted = RowColumns(
        dataset.scores, dataset.labels, dataset.weights, query.by, lower_is_positive=dataset.lower_is_positive
    )

    def read_labels(values: list[Any], rows: IntArray) -> tuple[BoolArray, str | None]:
        read = columns.distinct_labels(values, rows, dataset.positive_label)
        return read.positive, read.rest

    try:
        with _ended_by_termination(dataset.engine), _engine_of(dataset) as engine:
            if query.where:
                _check_kinds(engine.kinds(), query.where, place)
                engine.narrow(query.where)
            return group_rows(engine, wanted, read_labels, tolerance=query.tolerance, most_bins=engine.most_bins)
    except ColumnRefused as error:
        raise invalid_value(f"{place}/dataset", error.code, f"{error.column}: {error.detail}") from None
    except NoRows as error:
        raise invalid_value(
            f"{place}/dataset", "no_rows", "No row has the values in where." if query.where else error.detail
        ) from None
    except (OneClassLabels, TotalOutOfRange) as error:
        raise invalid_value(f"{place}/dataset", DOMAIN_ERROR_CODES[type(error)], error.detail) from None
    except Wrong as error:
        raise invalid_value(f"{place}/dataset", error.code, f"{dataset.labels}: {error.detail}") from None
    except EngineFailed as failure:
        _LOG.error("%s: dataset %s: %s", VARIABLE, dataset.name, failure)
        # An engine's message may quote the operator's paths and addresses.
        message = f"The engine of the dataset {dataset.name} failed; the server's log says more."
        if isinstance(failure, FilesUnreadable):
            message = f"The files of the dataset {dataset.name} cannot be read; the server's log says more."
        elif isinstance(failure, EngineOutOfMemory) and query.tolerance is None:
            message += " Exact groups need memory for every score; a tolerance needs less."
        raise Problem("dataset_unavailable", message) from None


def _check_kinds(kinds: Mapping[str, "Kind"], where: Mapping[str, list[Any]], place: str) -> None:
    """Refuse numbers and booleans for a column of another kind; strings are compared with the text of any column."""
    for name, values in where.items():
        wanted = {"boolean"} if isinstance(values[0], bool) else {"number", "integer"}
        if not isinstance(values[0], str) and name in kinds and kinds[name].name not in wanted:
            message = f"This column is {kinds[name].name}; give its values as strings."
            raise invalid_value(f"{place}/where/{pointer_token(name)}", "not_a_string", message)


@contextmanager
def _ended_by_termination(engine: str) -> Iterator[None]:
    """On SIGTERM, with which a server ends an evaluator, stop the query in its engine and remove what it wrote."""
    if current_thread() is not main_thread():
        yield
        return

    def stop(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
        signal.alarm(_STOP_SECONDS[engine])  # ends this process
        raise SystemExit(1)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _engine_of(dataset: Dataset) -> Iterator["DuckDB | Spark"]:
    """Open the engine of a dataset; DuckDB may read the dataset's directories and nothing else."""
    if dataset.engine == "spark":
        from service.engines.spark_engine import Spark  # noqa: PLC0415  # an extra

        with Spark(dataset.remote, dataset.table) as spark:
            yield spark
        return
    from service.engines.duckdb_engine import DuckDB  # noqa: PLC0415  # an extra
    from service.engines.duckdb_files import Files  # noqa: PLC0415  # an extra

    texts = {dataset.labels, *dataset.slices, *dataset.filters}  # so that yes is not read as a boolean
    numbers = [name for name in (dataset.scores, dataset.weights) if name is not None]
    files = Files(dataset.location, texts=texts, numbers=numbers)
    with DuckDB(files, memory=dataset.memory, threads=_THREADS) as duckdb:
        duckdb.confine([str(_directory(name)) for name in dataset.location])
        yield duckdb


def _directory(location: str) -> Path:
    """The directory that a file, or all files of a glob, lie in."""
    parts = Path(location).parts
    plain = next((number for number, part in enumerate(parts) if _GLOB & set(part)), len(parts) - 1)
    return Path(*parts[:plain])
