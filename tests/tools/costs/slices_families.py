"""Families of slices: many with few rows, few with many, and what is read from each."""

from collections.abc import Callable, Iterator
from typing import Any

from service.curves.row_metrics import ROW_METRICS
from tests.support.costs.families import ANSWERS, Family, csv_family, family
from tests.support.costs.tables import Table, sample, weighted

POINTS = [{"metric": "precision_at_recall", "at": at / 20} for at in range(20)]
DECISIONS = [{"at_threshold": at / 20} for at in range(20)]
EACH: dict[str, dict[str, Any]] = {
    "alone": {},
    "20 decisions": {"decisions": DECISIONS},
    "20 decisions with all metrics": {"decisions": DECISIONS, "metrics": [*ROW_METRICS], "intervals": {}},
    "intervals": {"intervals": {}},
    "a point": {"operating_points": POINTS[:1]},
    "20 points": {"operating_points": POINTS},
    "everything": {"intervals": {}, "operating_points": POINTS},
}
"""What is requested for each slice."""

SAMPLES: dict[str, Callable[[int], Table]] = {
    "rows": sample,
    "weights": lambda rows: weighted(rows, -2, 2),
    "wide weights": lambda rows: weighted(rows, -120, 120),
    "tiny weights": lambda rows: weighted(rows, -149, -148),
    "equal scores": lambda rows: sample(rows) | {"scores": [0.5] * rows},
}

VALUES: dict[str, Callable[[int], Any]] = {
    "integers": lambda number: number,
    "text": lambda number: f"{number}",
    "text of four bytes": lambda number: f"{number}" + "\N{GRINNING FACE}" * 10,
    "quotes": lambda number: f"{number}" + '"' * 20,
}


def sliced(table: Table, rows: int, columns: int = 1, value: Callable[[int], Any] = VALUES["integers"]) -> Any:
    """A sample in slices of this many rows each, by columns that all define the same slices."""
    numbers = [value(row // rows) for row in range(len(table["scores"]))]
    return table | {"slices": {f"column {number}": numbers for number in range(columns)}}


def slices_families() -> Iterator[Family]:
    """Samples, sizes of slices, and what is read from each; then columns and formats."""
    for kind, make in SAMPLES.items():
        for rows in (2, 10, 100):
            for name, more in EACH.items():

                def asked(size: int, make=make, rows=rows, more=more):
                    return sliced(make(size * rows + 2), rows) | more

                yield family("slices", f"{kind}, {rows} each, {name}", asked, 20_000)
    yield from _of_columns()


def _of_columns() -> Iterator[Family]:
    for values, value in VALUES.items():
        for columns in (1, 10):

            def wide(size: int, value=value, columns=columns):
                return sliced(sample(2 * size + 2), 2, columns, value)

            for form, options in ANSWERS.items():
                yield family("slices", f"{values} in {columns} columns as {form}", wide, 20_000, **options)
    table = lambda size: "scores,labels,a\n" + "".join(f"{row},{row % 2},{row // 2}\n" for row in range(2 * size))  # noqa: E731  # short
    yield csv_family("slices", "2 each", table, 20_000, ("slices", "a"))
    for many in (10, 1000):
        names = [f"c{number}" for number in range(many)]

        def wrong(size: int, names=names):
            return sample(size + 2) | {"slices": {name: [1] * (size + 1) for name in names}}

        yield family("slices", f"{many} columns of other lengths", wrong, 2_000)
