"""Families of classes: many with few rows, few with many, with weights, and with several labels for a row."""

from collections.abc import Iterator
from typing import Any

from service.charts.picture import CHARTS
from service.curves.classes import MOST_CLASSES
from service.curves.row_metrics import ROW_METRICS
from tests.support.costs.families import ANSWERS, Family, csv_family, family
from tests.support.costs.tables import classes, weighted

WEIGHTS = {"plain": None, "weights": (-2, 2), "wide weights": (-120, 120)}
"""{name: the powers of two between which weights lie}"""

DECIDED = {"decide": "highest", "metrics": list(ROW_METRICS), "top": list(range(1, MOST_CLASSES + 1))}


def classes_families() -> Iterator[Family]:
    """Numbers of classes, and the rows that they share."""
    for kind, powers in WEIGHTS.items():
        for count in (2, 10, 50, MOST_CLASSES):

            def by_rows(size: int, count=count, powers=powers):
                return _given(count, size + 1, powers)

            yield family("classes", f"{kind}, {count} classes", by_rows, 20_000)
        for rows in (2, 30):

            def by_classes(size: int, rows=rows, powers=powers):
                return _given(size + 2, rows, powers)

            yield family("classes", f"{kind}, {rows} rows", by_classes, MOST_CLASSES - 2)

            def decided(size: int, rows=rows, powers=powers):
                return _given(size + 2, rows, powers) | DECIDED

            yield family("classes", f"{kind}, {rows} rows, decided", decided, MOST_CLASSES - 2)
    several = lambda size: _several(10, size + 1)  # noqa: E731  # short
    for form, options in ANSWERS.items():
        yield family("classes", f"several labels as {form}", several, 20_000, **options)
    charts = {"charts": [*CHARTS["classes"]]}
    for count in (2, 8, 100):
        yield family("classes", f"{count}, drawn", lambda n, count=count: classes(count, n + 1) | charts, 20_000)
    table = lambda size: "labels,a,b\n" + "".join(f"{'ab'[row % 2]},{row},{-row}\n" for row in range(size + 1))  # noqa: E731  # short
    yield csv_family("classes", "two", table, 20_000, ("scores", "a,b"))


def _given(count: int, rows: int, powers: tuple[int, int] | None) -> dict[str, Any]:
    given = classes(count, rows)
    return given if powers is None else given | {"weights": weighted(rows, *powers)["weights"]}


def _several(count: int, rows: int) -> dict[str, Any]:
    given = classes(count, rows)
    return given | {
        "labels": {name: [row % (place + 2) == 0 for row in range(rows)] for place, name in enumerate(given["scores"])}
    }
