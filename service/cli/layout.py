"""The layout of answers: aligned tables, numbers, totals and warnings.

Knows the width of a terminal; nothing of any command.
"""

import math
import re
import shutil
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from service.curves.arrays import LARGEST_DOUBLE
from service.curves.evaluation import CHANCE
from service.inference.rules import in_decimals
from service.wire.answers.parts import CellKind, Cells

MOST_ROWS = 20
"""The most rows of a table that are shown."""

_SHOWN_LENGTH, _SHOWN_VALUES = 40, 3
"""The characters shown of a column's name or a value, and the number of values shown."""

FRACTION_DECIMALS = 6
"""The decimals of fractions, at least."""

IN_USE = "prevalence in use"
"""What screens call a target prevalence."""

_NONE_CALLED = "nothing is called positive"
_NONE_GIVEN = "the data have none for this row"
_NO_ROW = "no row meets the condition, or a warning says why"
_NONE_OF_ROW = "its row calls nothing positive, or counts give it none"
MEANING_OF_DASHES = {
    "precision": _NONE_CALLED,
    **dict.fromkeys(("threshold", "score_from", "score_to"), _NONE_GIVEN),
    **dict.fromkeys(("ks_threshold", "eer_threshold"), _NONE_OF_ROW),
    **dict.fromkeys(("value", "tp", "fp", "value_lower", "value_upper"), _NO_ROW),
    **dict.fromkeys(("lower", "upper"), "no interval, as a warning says"),
    "min_tpr": "not given",
    "mcclish": "only over fpr or tpr, without min_tpr",
    "standard_error": "the method has none",
    "design_effect": "none is computed",
}
"""{column: the meaning of a dash in it}, where no warning has to say it."""

_QUOTED = re.compile(r"""(?<!\w)('[^']*'|"[^"]*")(?!\w)""")
_UNBROKEN = "\0"
"""A value in quotes stays on its line: a line that began within it would show the data's words as ours, and a CI server
may take such a line for a command. The mark stands for its blanks; escaped text has no NUL."""

_NARROWEST_SCREEN = 40
_NARROWEST = 30
"""The least width of a table's last column, however wide the others are."""


def width() -> int:
    """The characters in a line: those of the terminal, or 80 without one."""
    return max(shutil.get_terminal_size().columns, _NARROWEST_SCREEN)


def text_lines(text: str) -> Iterable[str]:
    """Wrap a sentence, escaped for a terminal, indented by two, and by four from the second line on."""
    whole = _QUOTED.sub(lambda quoted: quoted[0].replace(" ", _UNBROKEN), terminal_safe(text))
    lines = textwrap.wrap(whole, width(), initial_indent="  ", subsequent_indent="    ")
    return [line.replace(_UNBROKEN, " ") for line in lines]


def terminal_safe(text: str) -> str:
    """Escape what a terminal would interpret in text from the data, line breaks included."""
    return "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in text)


def printable(value: Any) -> Any:  # noqa: ANN401  # anything that JSON can hold
    """Escape all texts of a document likewise, such as one that another server sent."""
    if isinstance(value, dict):
        return {printable(name): printable(member) for name, member in value.items()}
    if isinstance(value, list):
        return [printable(member) for member in value]
    return terminal_safe(value) if isinstance(value, str) else value


def objects(values: object) -> list[dict[str, Any]]:
    """The objects of a list; one without keys stands for anything else."""
    if not isinstance(values, list):
        return [{}]
    return [value if isinstance(value, dict) else {} for value in values]


def table_lines(rows: list[list[str]], sides: str) -> Iterable[str]:
    """Align columns to the left (<) or right (>), two spaces apart; a left-aligned last column wraps within itself."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    indent = sum(widths[:-1]) + 2 * len(widths)
    for row in rows:
        last, *more = [row[-1]]
        if sides[-1] == "<":
            room = max(width() - indent, _NARROWEST)
            last, *more = textwrap.wrap(row[-1], room, break_long_words=False, break_on_hyphens=False) or [""]
        cells = (f"{cell:{side}{most}}" for cell, side, most in zip([*row[:-1], last], sides, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()
        for line in more:
            yield " " * indent + line


def column_lines(
    declared: Iterable[Cells], table: dict[str, list[Any]], rows: list[int] | None = None, names: Iterable[str] = ()
) -> Iterable[str]:
    """Format the columns that an answer's table has, or some by name; thresholds are omitted if it has none."""
    kinds = {column.name: column.kind for column in declared}
    columns = [name for name in names or kinds if name in table]
    if all(threshold is None for threshold in table.get("threshold", ())):
        columns = [name for name in columns if name != "threshold"]
    shown = range(len(table[columns[0]])) if rows is None else rows
    cells = [[cell_text(table[name][row], kinds[name]) for name in columns] for row in shown]
    yield from table_lines([columns, *cells], "".join("<" if kinds[name] in _OF_WORDS else ">" for name in columns))
    is_table_of_rows = {"tp", "threshold"} <= table.keys()
    why = dict.fromkeys(
        _no_threshold(table, row) for row in shown if is_table_of_rows and table["threshold"][row] is None
    )
    yield from dash_lines([columns, *cells], MEANING_OF_DASHES | ({"threshold": ", or ".join(why)} if why else {}))


def _no_threshold(table: dict[str, list[Any]], row: int) -> str:
    """Say why a row with counts has no threshold."""
    tp, fp = table["tp"][row], table["fp"][row]
    return _NO_ROW if tp is None else _NONE_GIVEN if tp or fp else _NONE_CALLED


def dash_lines(rows: list[list[str]], notes: Mapping[str, str] | None = None) -> Iterable[str]:
    """Say below a table, given with its header, what a dash in each column means."""
    head, *body = rows
    notes = MEANING_OF_DASHES if notes is None else notes
    columns: dict[str, list[str]] = {}
    for place, name in enumerate(head):
        if name in notes and any(row[place] == "-" for row in body):
            columns.setdefault(notes[name], []).append(name)
    if columns:
        meanings = [f"{', '.join(names)}: {why}" for why, names in columns.items()]
        yield from text_lines(f"-  {'; '.join(meanings)}")


def listing_lines(table: dict[str, list[Any]], most: int) -> Iterable[str]:
    """Format the listed columns of a table, to choose from, with some of their values."""
    rows = [
        [shortened(name), kind, _some(values, more=more)]
        for name, kind, values, more in zip(*map(table.get, ("name", "type", "values", "more")), strict=True)
    ]
    yield from table_lines([["column", "type", "values"], *rows[:most]], "<<<")
    if len(rows) > most:
        yield f"  and {len(rows) - most} more"


def _some(values: list[Any], *, more: bool) -> str:
    """Format the first values of a column."""
    texts = [*map(shortened, values[:_SHOWN_VALUES])]
    return ", ".join([*texts, *(["..."] if more or len(values) > _SHOWN_VALUES else [])])


def shortened(value: object) -> str:
    """Format text from a file, cut if long."""
    return terminal_safe(str(value))[:_SHOWN_LENGTH]


def chosen_rows(rows: list[int]) -> list[int]:
    """Choose at most MOST_ROWS rows, evenly from end to end."""
    if len(rows) <= MOST_ROWS:
        return rows
    step = (len(rows) - 1) / (MOST_ROWS - 1)
    return [rows[round(place * step)] for place in range(MOST_ROWS)]


def sorted_rows(column: list[Any]) -> list[int]:
    """Sort rows by a column, the least first; those without a value are last."""
    return sorted(
        range(len(column)), key=lambda row: (column[row] is None, column[row] if column[row] is not None else 0)
    )


def cell_text(cell: Any, kind: CellKind) -> str:  # noqa: ANN401  # a cell of an answer
    """Format a cell as its kind says."""
    if kind in {"count", "whole"}:
        return count_text(cell)
    if kind == "number":
        return fraction(cell)
    if kind in {"names", "values"}:
        return terminal_safe(", ".join(map(str, cell)))
    return in_full(cell) if kind in {"exact", "score"} else terminal_safe(str(cell or ""))


_OF_WORDS = {"text", "names", "values"}


def how_many(shown: list[int], rows: list[int], noun: str) -> str:
    """Say how many rows a table has, and if only some of them are shown, how to get all."""
    plural = f"{noun}{'es' if noun.endswith('s') else 's'}"
    if len(shown) < len(rows):
        return f"{len(shown)} of {len(rows)} {plural} (--json has all)"
    return f"{len(rows)} {noun if len(rows) == 1 else plural}"


def total_lines(document: dict[str, Any]) -> Iterable[str]:
    """Format the totals of an answer's examples."""
    positives, negatives = document["positives"], document["negatives"]
    data = [[key, count_text(document[key])] for key in ("positives", "negatives")]
    data.append(["prevalence", f"{positives / (positives + negatives):.6g}"])
    if "prevalence" in document:
        data.append([IN_USE, in_full(document["prevalence"])])
    yield from table_lines(data, "<>")
    if "clusters" in document:
        yield from text_lines(clusters_text(document["clusters"]))


def clusters_text(clusters: dict[str, int]) -> str:
    """Say how many clusters there are."""
    with_both = f"{clusters['with_positives']} with positives, {clusters['with_negatives']} with negatives"
    return f"{clusters['count']} clusters: {with_both}; the largest has {clusters['largest']} rows"


def direction_lines(document: dict[str, Any]) -> Iterable[str]:
    """Suggest a reason, below the areas, if a warning says that one is less than that of useless scores."""
    for warning in document["warnings"]:
        if warning["code"] == "below_chance":
            whose = " of the baseline" if " of the baseline " in warning["detail"] else ""
            yield f"  roc{whose} is below {CHANCE}: do the scores run the other way? See --lower-is-positive."


def warning_lines(document: dict[str, Any], *, said: str = "") -> Iterable[str]:
    """Format an answer's warnings, after an empty line, if it has any besides one that was `said` before.

    Infinite thresholds are shown as such.
    """
    warnings = [warning for warning in document["warnings"] if warning["code"] not in {said, "infinite_scores"}]
    if warnings:
        yield ""
        yield "Warnings"
        for warning in warnings:
            yield from text_lines(f"{warning['code']}: {warning['detail']}")


def count_text(number: float | None) -> str:
    """Format a count, which need not be whole."""
    return "-" if number is None else str(number) if isinstance(number, int) else f"{number:.8g}"


def fraction(number: float | None) -> str:
    """Format a number in [0, 1] to six decimals; more if it would look like 0 or 1 but is not."""
    return "-" if number is None else in_decimals(number, FRACTION_DECIMALS, round(number))


def in_full(number: float | None) -> str:
    """Format a number with all its digits, for use elsewhere, such as a threshold; JSON has no infinite one."""
    if isinstance(number, float) and abs(number) == LARGEST_DOUBLE:
        return str(math.copysign(math.inf, number))
    return "-" if number is None else str(number)
