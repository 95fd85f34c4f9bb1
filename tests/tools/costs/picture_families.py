"""Families of pictures, as answers and within JSON answers."""

from collections.abc import Iterator
from typing import Any

from service.charts.picture import CHARTS, MOST_MARKS, WIDEST
from service.wire.media_types import SVG
from service.wire.requests.picture_schemas import LONGEST_TITLE
from tests.support.costs.families import Family, family
from tests.support.costs.other_families import EVALUATIONS, NAMES, compared, rule
from tests.support.costs.tables import TABLES, sample

MOST_ROWS = 65_000
AREAS = {"include": ["auc"]}
TITLES = {"wide": "%" * LONGEST_TITLE, "escaped": "<" * LONGEST_TITLE, "of words": "a " * (LONGEST_TITLE // 2)}


def picture_families() -> Iterator[Family]:
    """Pictures of every operation, by themselves and in JSON."""
    for kind, table in TABLES.items():
        for name, of_kind in {"curves": table, "tradeoffs": table}.items():
            include = AREAS if name == "curves" else {}
            make = lambda size, t=of_kind, i=include: t(size + 1) | i  # noqa: E731  # short
            yield from _drawn(name, kind, make, MOST_ROWS)
    for kind in EVALUATIONS:
        yield from _drawn("comparisons", f"2 {kind}", lambda size, k=kind: compared(k, 2, size + 1), 20_000)
    for names in NAMES:
        few = lambda number, n=names: compared("crossings", number + 1, 3, n)  # noqa: E731  # short
        yield from _drawn("comparisons", f"crossings of 3 rows, {names} names", few, 49)
    yield from _drawn("gates", "rules", lambda size: sample(50) | _rules(size, 0.1), 100)
    yield from _drawn("gates", "undecided rules", lambda size: sample(50) | _rules(size, 2), 100)
    yield from _marked()


def _drawn(operation: str, name: str, make: Any, most: int) -> Iterator[Family]:
    """Each chart alone, and all of them in one answer, at their largest size."""
    for chart in CHARTS[operation]:
        query = [("chart", chart), ("side", str(WIDEST))]
        yield family(operation, f"{name}, chart {chart}", make, most, accept=SVG, query=query)
    charts = {"charts": [*CHARTS[operation]], "side": WIDEST}
    yield family(operation, f"{name}, all charts", lambda size: make(size) | charts, most)


def _rules(number: int, threshold: float) -> dict[str, Any]:
    return {"rules": [rule("precision", {"at_threshold": threshold}, "min", each) for each in range(number)]}


def _marked() -> Iterator[Family]:
    """What a picture shows besides its curves."""
    both = AREAS | {"charts": ["both"]}
    for kind in ("sample", "weights", "counts, a circle"):
        table = TABLES[kind]

        def marked(size: int, table=table):
            return table(size + 1) | both | {"mark": [0.5 + 1e-3 * each for each in range(MOST_MARKS)]}

        yield family("curves", f"{kind}, marked", marked, MOST_ROWS)
    points = [{"metric": "tpr_at_fpr", "at": 0.3}]
    yield family(
        "curves", "operating points, drawn", lambda n: sample(50) | both | {"operating_points": points * n}, 1000
    )
    yield family("curves", "intervals, drawn", lambda n: sample(n + 4) | both | {"intervals": {}}, MOST_ROWS)
    for name, title in TITLES.items():
        everything = AREAS | {"charts": [*CHARTS["curves"]], "title": title}
        yield family("curves", f"a title, {name}", lambda n, e=everything: sample(n + 4) | e, MOST_ROWS)
