"""Reads what a request asks of named datasets, and replaces their names by groups.

A request gives the name, values of listed filters and a tolerance; never a path, a table or SQL. Its dataset becomes
`groups` before the schemas check it, so that every operation that takes groups takes datasets. Knows documents; nothing
of engines or HTTP.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from marshmallow import ValidationError

from service.datasets.file import Dataset
from service.wire.formats.query_options import Decoded
from service.wire.problems import Problem, invalid_request, invalid_value, pointer_token
from service.wire.requests.dataset_schemas import DatasetSchema
from service.wire.requests.faults import field_errors
from service.wire.requests.object_schemas import is_absent

_OWN = ("dataset", "where", "tolerance")
_OTHERS = ("scores", "labels", "weights", "clusters", "positive_label", "counts", "groups", "soft_labels")


class DatasetQuery(NamedTuple):
    """A document's query of a dataset.

    place       the pointer of the object that names it.
    where, by   the rows to use, and the columns of slices.
    tolerance   how far apart the bounds of an area may be; None for exact groups.
    """

    place: str
    dataset: Dataset
    where: dict[str, list[Any]]
    by: tuple[str, ...]
    tolerance: float | None

    def with_meaning(self, groups: Mapping[str, Any]) -> dict[str, Any]:
        """Groups of the dataset as fields of a document."""
        return {"groups": groups, "lower_is_positive": self.dataset.lower_is_positive}

    def stand_ins(self) -> dict[str, Any]:
        """Stand-in groups with both classes, as fields of a document; they allow the same options as the dataset's.

        With a tolerance they are open, as groups of many rows are; slices always have exact groups.
        """
        width = 0.0 if self.tolerance is None or self.by else 0.5
        groups = {"score_from": [0.0, 1.0], "score_to": [width, 1.0 + width]}
        groups |= {name: [1.0, 1.0] for name in ("positives", "negatives")}
        if self.dataset.weights is not None:
            groups |= {name: [1.0, 1.0] for name in ("positives_squared", "negatives_squared")}
        fields = self.with_meaning(groups)
        if self.by:
            fields["slices"] = {name: ["", ""] for name in self.by}
        return fields


def queries_in(decoded: Decoded, taken: Collection[str], datasets: Mapping[str, Dataset]) -> tuple[DatasetQuery, ...]:
    """Read a document's queries of datasets, if its operation takes any; `taken` are the operation's fields.

    Raises Problem.
    """
    queries = []
    for place, given in _naming(decoded.document, taken):
        query = _query(given, datasets, place)
        for name, message in _contradictions(given, query.dataset):
            raise invalid_value(decoded.pointer(f"{place}/{name}"), "exclusive", message)
        queries.append(query)
    return tuple(queries)


def replaced(decoded: Decoded, found: Mapping[str, dict[str, Any]]) -> Decoded:
    """In each of these places, put fields in place of what names a dataset."""
    document = decoded.document
    if not isinstance(document, dict):
        return decoded
    changed = _replaced(document, "", found)
    if "/baseline" in found:
        changed["baseline"] = _replaced(document["baseline"], "/baseline", found)
    evaluations = document.get("evaluations")
    if isinstance(evaluations, list):
        changed["evaluations"] = [
            _replaced(each, f"/evaluations/{number}", found) for number, each in enumerate(evaluations)
        ]
    return Decoded(changed, decoded.pointers)


def _replaced(given: Any, place: str, found: Mapping[str, dict[str, Any]]) -> Any:  # noqa: ANN401  # any JSON value
    if place not in found:
        return given
    return {name: value for name, value in given.items() if name not in _OWN} | found[place]


def _naming(document: object, taken: Collection[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a document that name datasets, with their pointers."""
    if not isinstance(document, dict):
        return
    given_in: dict[str, Any] = {"": document} if "dataset" in taken else {}
    if "baseline" in taken:
        given_in["/baseline"] = document.get("baseline")
    evaluations = document.get("evaluations")
    if "evaluations" in taken and isinstance(evaluations, list):
        given_in |= {f"/evaluations/{number}": each for number, each in enumerate(evaluations)}
    for place, given in given_in.items():
        if isinstance(given, dict) and not is_absent(given.get("dataset")):
            yield place, given


def _query(given: dict[str, Any], datasets: Mapping[str, Dataset], place: str) -> DatasetQuery:
    asked = _asked({name: given.get(name) for name in _OWN}, place)
    dataset = datasets.get(asked["dataset"])
    if dataset is None:
        raise Problem(
            "unknown_dataset", "There is no dataset of this name; GET /v1/datasets lists those that your key may use."
        )
    where, by = asked.get("where", {}), _slices(given.get("slices"), dataset, place)
    for name in where.keys() - set(dataset.filters):
        message = _one_of(dataset.filters, "This dataset has no columns to filter by.")
        raise invalid_value(f"{place}/where/{pointer_token(name)}", "not_one_of", message)
    return DatasetQuery(place, dataset, where, by, asked.get("tolerance"))


def _contradictions(given: dict[str, Any], dataset: Dataset) -> Iterator[tuple[str, str]]:
    """The fields of an object that cannot be combined with the dataset that it names, and why."""
    for name in _OTHERS:
        if not is_absent(given.get(name)):
            yield name, "This cannot be combined with a dataset."
    lower = given.get("lower_is_positive")
    if not is_absent(lower) and lower is not dataset.lower_is_positive:
        yield "lower_is_positive", "The dataset says what its scores mean; leave this out."


def _asked(given: dict[str, Any], place: str) -> dict[str, Any]:
    """Check a query of a dataset. Raises Problem."""
    try:
        asked: dict[str, Any] = DatasetSchema().load(given)
    except ValidationError as error:
        raise invalid_request(field_errors(error, lambda pointer: place + pointer)) from None
    return asked


def _one_of(names: tuple[str, ...], otherwise: str) -> str:
    return f"Must be one of {', '.join(names)}." if names else otherwise


def _slices(given: object, dataset: Dataset, place: str) -> tuple[str, ...]:
    """The columns of slices, by name. Raises Problem for one that is not listed, and for one that has values."""
    if is_absent(given):
        return ()
    if not isinstance(given, dict):
        message = 'Must be an object with an empty list for each column, such as {"country": []}.'
        raise invalid_value(f"{place}/slices", "not_an_object", message)
    for name, column in given.items():
        pointer = f"{place}/slices/{pointer_token(name)}"
        if name not in dataset.slices:
            message = _one_of(dataset.slices, "This dataset has no columns of slices.")
            raise invalid_value(pointer, "not_one_of", message)
        if not is_absent(column):
            raise invalid_value(pointer, "exclusive", "The dataset has the values of this column; send an empty list.")
    return tuple(given)
