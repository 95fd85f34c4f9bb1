"""The screen of `rocpr tradeoffs`: for each index, the best threshold for each weight of recall against precision."""

from collections.abc import Iterable
from typing import Any

from service.cli.layout import chosen_rows, column_lines, fraction, how_many, total_lines, warning_lines
from service.cli.operation_command import Screen
from service.operations import OPERATIONS
from service.wire.answers.parts import Document

_TABLES = {table.name: table.columns for table in OPERATIONS["tradeoffs"].tables}

_HELP = """Find the best threshold for each trade-off.

Lambda, the weight of recall, sets the trade-off between precision and recall: at 0 only precision counts, at 1
only recall. FILE is what rocpr curves takes: a table with the columns scores and labels, with the counts tp, fp, fn
and tn, or with groups; or JSON, a request body for POST /v1/tradeoffs, with its own options. FILE can be - for
standard input, with --format.
"""


def _lines(document: Document) -> Iterable[str]:
    yield from total_lines(document)
    yield ""
    yield "Lambda is the weight of recall: at 0 only precision counts, at 1 only recall."
    for index, tradeoff in document["tradeoffs"].items():
        yield ""
        yield from _index_lines(index, tradeoff)
    yield from warning_lines(document)


def _index_lines(index: str, tradeoff: dict[str, Any]) -> Iterable[str]:
    """Format one index: area, intervals of lambda, where calling everything positive is best, and readings."""
    optimal = tradeoff["optimal"]
    rows = list(range(len(optimal["tp"])))
    shown = chosen_rows(rows)
    yield f"Best {index} for each lambda: {how_many(shown, rows, 'interval')}, area {fraction(tradeoff['area'])}"
    yield from column_lines(_TABLES["optimal"], optimal, shown)
    if "bounds" in tradeoff:
        lower, upper = (fraction(tradeoff["bounds"][end]) for end in ("lower", "upper"))
        yield f"  The groups only say that the area is between {lower} and {upper}."
    start = tradeoff["uninformative_from"]
    if start is None:
        yield "  Calling everything positive is never best."
    elif len(rows) == 1:
        yield "  Calling everything positive is best everywhere: no threshold does better."
    else:
        yield f"  From lambda {fraction(start)} on, calling everything positive is best."
    if "at" in tradeoff:
        yield ""
        yield from column_lines(_TABLES["at"], tradeoff["at"])


SCREEN = Screen(
    _HELP,
    _lines,
    told={"lambda_density": ("JSON", """How much each lambda counts, as a beta density: '{"a": 2, "b": 2}'.""")},
    engine="bounded",
)
