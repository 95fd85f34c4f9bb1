"""From a request that names a dataset to one with its groups, which an engine finds.

A request gives the name, values of listed filters and a tolerance; never a path, a table or SQL. Its dataset becomes
`groups` before the schemas check it, so that every operation that takes groups takes datasets. Knows documents and
engines; nothing of HTTP.
"""

import logging
import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, NamedTuple

from marshmallow import ValidationError

from service.curves.budget import is_bounded as has_budget
from service.curves.budget import spend
from service.curves.errors import OneClassLabels
from service.curves.exact import BoolArray, IntArray
from service.datasets.file import VARIABLE, Dataset
from service.wire import columns
from service.wire.formats.distinct_labels import distinct_labels
from service.wire.formats.query_options import Decoded
from service.wire.problems import Problem, invalid_request, invalid_value, pointer_token
from service.wire.requests.evaluation_schemas import DatasetSchema
from service.wire.requests.faults import field_errors

if TYPE_CHECKING:
    from service.engines.duckdb_engine import DuckDB
    from service.engines.engine import Kind
    from service.engines.plan import Found
    from service.engines.spark_engine import Spark

OnProgress = Callable[[str, float], None]
"""Called with the name of a step and how much of it is done, 0 to 1, many times."""

_LOG = logging.getLogger("service")

_EXPENSIVE = 10**15
"""The work of a query, in rows: more than any small request may take, so that it goes to an evaluator process."""

_SPILL = "rocpr-engine-"
"""The beginning of the names of directories for what does not fit into an engine's memory; a process's id follows."""

_GLOB = frozenset("*?[")
_THREADS = 2
_STOP_SECONDS = {"duckdb": 2, "spark": 4}
"""{engine: how long a query may take to stop before its process ends}"""

_OWN = ("dataset", "where", "tolerance")


def with_groups(decoded: Decoded, datasets: Mapping[str, Dataset], progress: OnProgress | None = None) -> Decoded:
    """Replace every dataset that a document names by its groups, telling how far the engine is.

    Raises Problem, and TooMuchWork where a query may not keep others waiting.
    """
    document = decoded.document
    if not isinstance(document, dict):
        return decoded
    changed = {name: value for name, value in document.items() if name not in _OWN}
    found = False
    if document.get("dataset") is not None and "evaluations" not in document:
        found = True
        changed |= _answered(document, datasets, "", progress)
    if isinstance(baseline := document.get("baseline"), dict) and baseline.get("dataset") is not None:
        found = True
        rest = {name: value for name, value in baseline.items() if name not in _OWN}
        changed["baseline"] = rest | _answered(baseline, datasets, "/baseline", progress)
    evaluations = document.get("evaluations")
    if isinstance(evaluations, list) and any(isinstance(each, dict) and each.get("dataset") for each in evaluations):
        found = True
        changed["evaluations"] = [
            {name: value for name, value in each.items() if name not in _OWN}
            | _answered(each, datasets, f"/evaluations/{number}", progress)
            if isinstance(each, dict) and each.get("dataset")
            else each
            for number, each in enumerate(evaluations)
        ]
    return Decoded(changed, decoded.pointers) if found else decoded


def _answered(
    given: dict[str, Any], datasets: Mapping[str, Dataset], place: str, progress: OnProgress | None
) -> dict[str, Any]:
    """The groups of a dataset, and with `slices` their columns, as fields of a document."""
    asked = _asked({name: given.get(name) for name in _OWN}, place)
    dataset = datasets.get(asked["dataset"])
    if dataset is None:
        raise Problem("unknown_dataset", "There is no dataset of this name; GET /v1/datasets lists those of your key.")
    for other in ("scores", "labels", "weights", "positive_label", "counts", "groups", "soft_labels"):
        if given.get(other) not in (None, []):
            raise invalid_value(f"{place}/{other}", "exclusive", "This is another evaluation; a dataset is given too.")
    where, by = asked.get("where", {}), _slices(given.get("slices"), dataset, place)
    for name in where.keys() - set(dataset.filters):
        message = f"Must be one of {', '.join(dataset.filters) or 'none'}."
        raise invalid_value(f"{place}/where/{pointer_token(name)}", "not_one_of", message)
    if has_budget():
        spend(_EXPENSIVE)
    found = _found(dataset, _Wanted(where, by, asked.get("tolerance")), place, progress)
    groups = found.groups
    document: dict[str, Any] = {
        "groups": {"score_from": groups.score_from, "score_to": groups.score_to, **groups.masses},
        "lower_is_positive": dataset.lower_is_positive,
    }
    if by:
        document["slices"] = {name: found.slices[name].tolist() for name in by}
    return document


def _asked(given: dict[str, Any], place: str) -> dict[str, Any]:
    """Check what is asked of a dataset. Raises Problem."""
    try:
        asked: dict[str, Any] = DatasetSchema().load(given)
    except ValidationError as error:
        raise invalid_request(field_errors(error, lambda pointer: place + pointer)) from None
    if "dataset" not in asked:  # an empty list
        raise invalid_value(f"{place}/dataset", "missing", "Give the name of a dataset.")
    return asked


def _slices(given: object, dataset: Dataset, place: str) -> tuple[str, ...]:
    """The columns of slices, by name. Raises Problem for one that is not listed, and for one that has values."""
    if given in (None, []):
        return ()
    if not isinstance(given, dict):
        message = 'Must be an object of columns; of a dataset each is an empty list, such as {"country": []}.'
        raise invalid_value(f"{place}/slices", "not_an_object", message)
    for name, column in given.items():
        pointer = f"{place}/slices/{pointer_token(name)}"
        if name not in dataset.slices:
            raise invalid_value(pointer, "not_one_of", f"Must be one of {', '.join(dataset.slices) or 'none'}.")
        if column not in (None, []):
            raise invalid_value(pointer, "exclusive", "The dataset has the values of this column; send an empty list.")
    return tuple(given)


class _Wanted(NamedTuple):
    """What is asked of a dataset: some of its rows, columns of slices, and how far apart bounds may be."""

    where: dict[str, list[Any]]
    by: tuple[str, ...]
    tolerance: float | None


def _found(dataset: Dataset, asked: _Wanted, place: str, progress: OnProgress | None) -> "Found":
    """Ask the engine. Raises Problem if the rows cannot be used, or the engine fails."""
    from service.engines.checks import RowColumns  # noqa: PLC0415  # rocpr runs without engines
    from service.engines.failures import ColumnRefused, EngineFailed  # noqa: PLC0415
    from service.engines.plan import found  # noqa: PLC0415

    wanted = RowColumns(
        dataset.scores, dataset.labels, dataset.weights, asked.by, lower_is_positive=dataset.lower_is_positive
    )

    def read_labels(values: list[Any], rows: IntArray) -> tuple[BoolArray, str | None]:
        read = distinct_labels(values, rows, dataset.positive_label)
        return read.positive, read.rest

    try:
        with _ended_by_termination(dataset.engine), _engine_of(dataset, progress) as engine:
            if asked.where:
                _check_kinds(engine.kinds(), asked.where, place)
                engine.narrow(asked.where)
            return found(engine, wanted, read_labels, tolerance=asked.tolerance, most_bins=engine.most_bins)
    except ColumnRefused as fact:
        raise invalid_value(f"{place}/dataset", fact.code, f"{fact.column}: {fact.detail}") from None
    except OneClassLabels as fact:
        raise invalid_value(f"{place}/dataset", "one_class", fact.detail) from None
    except columns.ColumnError as error:
        raise invalid_value(f"{place}/dataset", error.code, f"{dataset.labels}: {error.detail}") from None
    except EngineFailed as failure:
        _LOG.error("%s: dataset %s: %s", VARIABLE, dataset.name, failure)
        # What an engine says may quote paths and addresses, which are the operator's.
        message = f"The engine of the dataset {dataset.name} failed; the server's log says more."
        if asked.tolerance is None:
            message += " Without a tolerance every score needs memory; with one, fewer do."
        raise Problem("dataset_unavailable", message) from None


def _check_kinds(kinds: Mapping[str, "Kind"], where: Mapping[str, list[Any]], place: str) -> None:
    """Refuse numbers and booleans for a column of another kind; strings are compared with the text of any column."""
    for name, values in where.items():
        kind = kinds[name].name if name in kinds else "missing"
        wanted = {"boolean"} if isinstance(values[0], bool) else {"number", "integer"}
        if not isinstance(values[0], str) and kind not in wanted:
            message = f"This column is {kind}; give its values as strings."
            raise invalid_value(f"{place}/where/{pointer_token(name)}", "not_a_string", message)


@contextmanager
def _ended_by_termination(engine: str) -> Iterator[None]:
    """Have SIGTERM, by which a server ends an evaluator, stop the query where it runs and remove what it wrote."""
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
def _engine_of(dataset: Dataset, progress: OnProgress | None) -> Iterator["DuckDB | Spark"]:
    """Open the engine of a dataset; DuckDB may read the dataset's directories and nothing else."""
    if dataset.engine == "spark":
        from service.engines.spark_engine import Spark  # noqa: PLC0415  # an extra

        with Spark(dataset.remote, dataset.table, progress=progress) as spark:
            yield spark
        return
    from service.engines.duckdb_engine import DuckDB  # noqa: PLC0415  # an extra
    from service.engines.duckdb_files import Files  # noqa: PLC0415

    spill = _spill_of_this_process()
    limits: dict[str, Any] = {"memory": dataset.memory, "threads": _THREADS, "spill": spill}
    with DuckDB(Files(dataset.location), **limits, progress=progress) as duckdb:
        duckdb.confine([str(_directory(name)) for name in dataset.location])
        yield duckdb


def _spill_of_this_process() -> Path:
    """The directory for what does not fit into memory; those of processes that were killed are removed."""
    everything = Path(tempfile.gettempdir())
    for left in everything.glob(f"{_SPILL}*"):
        process, _, _ = left.name.removeprefix(_SPILL).partition("-")
        if not Path(f"/proc/{process}").exists():
            shutil.rmtree(left, ignore_errors=True)
    mine = everything / f"{_SPILL}{os.getpid()}"
    mine.mkdir(mode=0o700, exist_ok=True)
    there = mine.lstat()
    if stat.S_ISDIR(there.st_mode) and there.st_uid == os.geteuid() and not there.st_mode & 0o077:
        return mine
    # Another user of this machine made it, who could read what is written there.
    return Path(tempfile.mkdtemp(prefix=f"{mine.name}-"))


def _directory(location: str) -> Path:
    """The directory that a file, or all files of a glob, lie in."""
    parts = Path(location).parts
    plain = next((number for number, part in enumerate(parts) if _GLOB & set(part)), len(parts) - 1)
    return Path(*parts[:plain])
