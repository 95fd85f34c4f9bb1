"""How the tests of service.answer send requests: a request in, its answer or its errors out."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from service.answer import answer
from service.request import Answer, Request
from service.wire.limits import Limits

Columns = dict[str, list[Any]]

LIMITS = Limits(max_rows=5_000_000, max_interpolated_rows=100_000)


def ask(
    operation: str,
    body: Any,
    content_type: str = "application/json",
    accept: str = "application/json",
    limits: Limits | None = None,
    **options: str,
) -> Answer:
    """Send a body, which may be an object, text or bytes, with a query."""
    if isinstance(body, dict):
        body = json.dumps(body)
    if isinstance(body, str):
        body = body.encode()
    request = Request(operation, f"/v1/{operation}", content_type, accept, tuple(options.items()), body)
    return answer(request, limits or LIMITS)


def answered(operation: str, body: Any, **kwargs: Any) -> Any:
    """The JSON answer to a valid request."""
    result = ask(operation, body, **kwargs)
    assert result.status == 200, result.body
    return json.loads(result.body)


def errors(operation: str, body: Any, **kwargs: Any) -> list[dict[str, str]]:
    """The errors of a request that can be parsed but has wrong values."""
    result = ask(operation, body, **kwargs)
    assert result.status == 422, result.body
    assert result.media_type == "application/problem+json"
    problem = json.loads(result.body)
    assert problem["type"] == "/problems/invalid_request"
    assert problem["instance"] == f"/v1/{operation}"
    found: list[dict[str, str]] = problem["errors"]
    return found


def refusals(operation: str, body: Any, **kwargs: Any) -> list[tuple[str, str]]:
    """The pointers and codes of its errors."""
    return [(error["pointer"], error["code"]) for error in errors(operation, body, **kwargs)]


def tables(whole: dict[str, Any]) -> dict[str, Columns]:
    """The tables of a JSON answer as single-table formats show them, {table: {column: values}}, without null ones.

    A table per index is one table whose first column names the index; an object of single numbers is one row.
    """
    if "tradeoffs" in whole:
        indices = whole["tradeoffs"]
        found = {"area": _stacked(indices, lambda one: {key: [one[key]] for key in ("area", "uninformative_from")})}
        found |= {name: _stacked(indices, itemgetter(name)) for name in _columnar(indices)}
        return found
    found = {
        name: value
        for name, value in whole.items()
        if isinstance(value, dict) and name not in {"interpolation", "clusters"}
    }
    if "auc" in found.get("overall", {}):
        overall = found["overall"]
        found["overall"] = {"positives": overall["positives"], "negatives": overall["negatives"]} | overall["auc"]
    if "bounds" in found:
        found["bounds"] = _area_rows(found["bounds"], ("lower", "upper"))
    if "intervals" in found and "area" not in found["intervals"]:  # those of comparisons are columns
        keys = ["lower", "upper", "level", "method", "standard_error"]
        keys += ["design_effect"] * any("design_effect" in (each or {}) for each in found["intervals"].values())
        found["intervals"] = _area_rows(found["intervals"], keys)
    if "worst" in found:
        found["worst"] = _area_rows(found["worst"], ("lower", "upper", "level", "method"))
    if "best_tradeoff" in found:
        found["best_tradeoff"] = _stacked(found["best_tradeoff"], lambda one: one)
    return {
        name: {column: values if isinstance(values, list) else [values] for column, values in table.items()}
        for name, table in found.items()
    }


def read_csv(text: str) -> Columns:
    """A table of a CSV answer: {column: values}. An empty cell is null; one that is not JSON is text."""
    header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    return {name: [_cell(row[position]) for row in rows] for position, name in enumerate(header)}


def _columnar(indices: dict[str, Any]) -> list[str]:
    return [name for name, value in next(iter(indices.values())).items() if isinstance(value, dict)]


def _stacked(indices: dict[str, Any], columns_of: Callable[[Any], Columns]) -> Columns:
    """One table of the tables {index: columns}."""
    parts = {index: columns_of(one) for index, one in indices.items()}
    first = next(iter(parts.values()))
    names = [index for index, columns in parts.items() for _ in next(iter(columns.values()))]
    return {"index": names} | {key: [value for columns in parts.values() for value in columns[key]] for key in first}


def _area_rows(found: dict[str, dict[str, Any] | None], keys: Sequence[str]) -> Columns:
    """One row for each area; if it is null, the row has only the area's name."""
    return {"area": list(found)} | {key: [one and one[key] for one in found.values()] for key in keys}


def _cell(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except json.JSONDecodeError:
        return text
