"""Checks before rows are grouped: the kinds of columns, the labels, the range of scores and weights.

A column is refused with the same sentence as in a request's body.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from service.curves.arrays import BoolArray, IntArray
from service.curves.errors import OneClassLabels, plain
from service.engines import sql
from service.engines.engine import Engine, Kind
from service.engines.failures import SHOWN_CHARACTERS, ColumnRefused, NoRows
from service.engines.names import Label

ReadLabels = Callable[[list[Label], IntArray], tuple[BoolArray, str | None]]
"""Takes distinct labels and the rows of each; returns which are positive, and a sentence if several are negative."""


@dataclass(frozen=True, slots=True)
class RowColumns:
    """The columns of an evaluation by name, and what they mean."""

    scores: str = "scores"
    labels: str = "labels"
    weights: str | None = None
    by: tuple[str, ...] = ()
    weight_decimals: int | None = None
    lower_is_positive: bool = False


def checked_kinds(engine: Engine, columns: RowColumns) -> dict[str, Kind]:
    """Look up the columns by name. Raises ColumnRefused for one that is missing, or holds no numbers or no labels."""
    there = engine.kinds()
    names = {"scores": columns.scores, "labels": columns.labels}
    names |= {} if columns.weights is None else {"weights": columns.weights}
    for name, column in [*names.items(), *(("slices", column) for column in columns.by)]:
        if column not in there:
            known = ", ".join(there)
            raise ColumnRefused("missing", f"There is no column {column!r}; the columns are {known}.", name)
        if there[column].name == "repeated":
            detail = "Two columns of a file have this name; case, and blanks around it, make no difference here."
            raise ColumnRefused("duplicate", detail, column)
    kinds = {name: there[column] for name, column in names.items()}
    if kinds["labels"].name not in {"number", "integer", "boolean", "text"}:
        detail = f"This column is {kinds['labels'].name}; labels must be integers, floats, decimals, booleans or text."
        raise ColumnRefused("not_a_label", detail, columns.labels)
    for name in names.keys() - {"labels"}:
        kind = kinds[name].name
        if kind in {"text", "boolean"}:
            what = "text" if kind == "text" else "booleans"
            raise ColumnRefused("not_a_number", f"This is a column of {what}; it must hold numbers.", names[name])
        if kind not in {"number", "integer"}:
            detail = f"This column is {kind}; numbers must be integers, floats or decimals."
            raise ColumnRefused("not_a_number", detail, names[name])
    return kinds


def with_labels(engine: Engine, rows: sql.RowSource, read_labels: ReadLabels) -> tuple[sql.RowSource, str | None]:
    """Find the positive labels among those that occur. Raises ColumnRefused, NoRows and OneClassLabels."""
    table = engine.rows(sql.labels_text(rows), "labels")
    counts = np.asarray(table["rows"], dtype=np.int64)
    values = table["label"].tolist()
    total = int(counts.sum())
    for value, count in zip(values, counts.tolist(), strict=True):
        if value is None:
            detail = _in_rows("This is null; it must be a label", count, total)
            raise ColumnRefused("not_a_label", detail, rows.labels)
        if isinstance(value, float) and not math.isfinite(value):
            detail = _in_rows("This is not a finite number, so it cannot be a label", count, total)
            raise ColumnRefused("not_a_label", detail, rows.labels)
    if not total:
        raise NoRows("The table has no rows.")
    positive, rest = read_labels(values, counts)
    for only, there in (("negative", positive), ("positive", ~positive)):
        if not counts[there].any():
            raise OneClassLabels(f"All {total} labels are {only}; a curve needs both classes.", rows.labels)
    chosen = tuple(value for value, is_positive in zip(values, positive.tolist(), strict=True) if is_positive)
    return replace(rows, positive=chosen), rest


def probe_range(engine: Engine, rows: sql.RowSource, kinds: dict[str, Kind]) -> dict[str, float]:
    """Probe the scores and weights. Raises ColumnRefused if any cannot be used."""
    whole = [name for name in ("scores", "weights") if name in kinds and kinds[name].name == "integer"]
    table = engine.rows(sql.probe_text(rows, whole=whole), "range")
    firsts = {name: column.tolist()[0] for name, column in table.items()}
    probe = {name: math.nan if value is None else float(value) for name, value in firsts.items()}
    total = int(probe["rows"])
    of_column = {"scores": rows.scores} | ({} if rows.weights is None else {"weights": rows.weights})
    for name, column in of_column.items():
        missing, unusable = total - probe[name], probe[name] - probe[f"usable_{name}"]
        if missing:
            raise ColumnRefused("not_a_number", _in_rows("This is null; it must be a number", missing, total), column)
        if unusable:
            what = "This is not a finite number within the range of a double"
            if name == "scores":
                what = "This is NaN; leave out rows without a number"
            detail = _in_rows(what, unusable, total)
            raise ColumnRefused("not_finite", detail, column)
        refuse_inexact(probe.get(f"inexact_{name}", 0), total, column)
    if rows.weights is not None and probe["lowest_weight"] < 0:
        detail = f"A weight must not be below 0; the lowest is {plain(probe['lowest_weight'])}."
        raise ColumnRefused("negative", detail, rows.weights)
    return probe


def refuse_inexact(wrong: float, total: int, column: str) -> None:
    """Refuse a column in which `wrong` integers have no exact double, unless that is 0. Raises ColumnRefused."""
    if wrong:
        sentence = "This integer has no exact double, and rocpr does not round it"
        raise ColumnRefused("not_exact", _in_rows(sentence, wrong, total), column)


def refuse_misread(wrong: float, total: int, column: str, cell: str) -> None:
    """Refuse a column in which `wrong` cells, such as `cell`, are not decimal numbers. Raises ColumnRefused."""
    if wrong:
        shown = f"{cell[:SHOWN_CHARACTERS]!r}{'...' * (len(cell) > SHOWN_CHARACTERS)}"
        sentence = f"{shown} is not a decimal number" if cell else "This is blank; it must be a number"
        raise ColumnRefused("not_a_number", _in_rows(sentence, wrong, total), column)


def refuse_rounded(wrong: float, total: int, column: str, types: tuple[str, str]) -> None:
    """Refuse a column in which `wrong` numbers of the first type are rounded to the second. Raises ColumnRefused."""
    if wrong:
        first, second = map(str.lower, types)
        sentence = f"This column is {first} in some files and {second} in others, which would round its numbers"
        raise ColumnRefused("not_exact", _in_rows(sentence, wrong, total), column)


def _in_rows(sentence: str, wrong: float, total: int) -> str:
    return f"{sentence} ({wrong:.0f} of {total} row{'' if total == 1 else 's'})."
