"""Families of tables whose columns are listed: wide ones, long ones, and ones special to a format."""

from collections.abc import Callable, Iterator

from service.request import Request
from service.wire.media_types import CSV
from tests.support.costs.families import Family, asking, csv_family

CELLS = {"strings": '"a"', "booleans": "true", "nulls": "null", "numbers": "0.5", "lists": "[]", "objects": "{}"}


def columns_families() -> Iterator[Family]:
    """CSV and JSON; what is columnar is read in an evaluator process."""
    yield from _of_csv()
    for name, cell in CELLS.items():
        for cells, most in ((1, 20_000), (40, 6_000)):
            yield Family(f"columns: JSON, lists of {cells} of {name}", _lists(cell, cells), most)
        yield Family(f"columns: JSON, a list of {name}", _one_list(cell), 120_000)
    wrong = lambda size: asking("columns", dict.fromkeys(map(str, range(size)), 1))  # noqa: E731  # short
    yield Family("columns: JSON, no columns", wrong, 20_000)


def _of_csv() -> Iterator[Family]:
    for cell in ("1", "a", "", "true"):
        for rows in (1, 30):
            yield csv_family("columns", f"{rows} rows of {cell or 'nothing'}", _table(cell, rows), 9_000)
    numbers = lambda size: "a\n" + "".join(f"{row}\n" for row in range(size))  # noqa: E731  # short
    yield csv_family("columns", "numbers", numbers, 50_000)
    yield csv_family("columns", "numbers and one text", lambda size: numbers(size) + "x\n", 50_000)
    yield csv_family("columns", "large integers", lambda size: numbers(size) + "9007199254740992\n" * size, 10_000)
    yield csv_family("columns", "one long text", lambda size: "a\n" + "x" * size + "\n", 250_000)
    decimals = (("delimiter", ";"), ("decimal", ","))
    yield csv_family("columns", "decimal commas", lambda size: "a;b\n" + "0,5;1\n" * size, 40_000, *decimals)

    def compressed(size: int) -> Request:
        return asking("columns", "a,b\n" + "1,x\n" * size, content_type=CSV, sent_as="gzip")

    yield Family("columns: CSV, compressed", compressed, 260_000)


def _names(size: int) -> list[str]:
    return [f"{number:x}" for number in range(size)]


def _table(cell: str, rows: int) -> Callable[[int], str]:
    return lambda size: "\n".join([",".join(_names(size)), *[",".join([cell] * size)] * rows]) + "\n"


def _lists(cell: str, cells: int) -> Callable[[int], Request]:
    column = ",".join([cell] * cells)
    return lambda size: asking("columns", "{" + ",".join(f'"{name}":[{column}]' for name in _names(size)) + "}")


def _one_list(cell: str) -> Callable[[int], Request]:
    return lambda size: asking("columns", f'{{"a":[{",".join([cell] * size)}]}}')
