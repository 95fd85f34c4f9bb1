"""The columns of a body that is a table: which exist, which are named, and the message about a missing one.

Knows names of columns and what they are for; nothing of formats, nor of documents.
"""

from collections.abc import Collection, Iterable, Mapping
from copy import copy
from typing import Protocol
from urllib.parse import quote_plus

import numpy as np

from service.wire.columns import Column
from service.wire.formats.inputs import COUNTS, GROUPS
from service.wire.formats.json_format import StrictJsonError, parse_json
from service.wire.formats.likely_columns import did_you_mean, likely_counts_or_groups
from service.wire.problems import Problem, invalid_value, pointer_token
from service.wire.usual_names import likely
from service.wire.wrong import Wrong

_SHOWN_HEADER = 200
"""The characters of a table's header that a problem repeats."""

LONGEST_HEADER = 1 << 20
MOST_COLUMNS = 10_000
"""Every column of a table costs memory, even one that is not read."""


_SCORES_OF_CLASSES = (
    " Only classifiers of several classes have several columns of scores: /v1/classes takes them, and a gate in which "
    "each rule has classes or average."
)

_TOTAL_OF = {"tp": "", "fp": "", "fn": "positives", "tn": "negatives"}
"""{column that counts need: the total that can take its place}"""


class Table(Protocol):
    """A body that is a table: the names of its columns, and the columns on demand."""

    @property
    def header(self) -> list[str]:
        """The names of all columns."""

    @property
    def header_is(self) -> str:
        """The phrase that introduces these names."""

    @property
    def rows(self) -> int:
        """The number of rows, known once columns have been read."""

    def read(self, names: list[str]) -> Mapping[str, object]:
        """Read the named columns."""


def repeats_values(table: Table, name: str) -> bool:
    """Whether a column that was not read has a value twice; False if it cannot be read."""
    again = copy(table)  # whose rows are counted anew
    again.rows = 0  # type: ignore[misc]  # of a copy
    try:
        numbers, values = Column.of(again.read([name])[name]).distinct()
    except (Problem, Wrong):
        return False
    return len(values) < int(np.count_nonzero(numbers >= 0))


def listed_names(text: str, header: list[str]) -> list[str]:
    """Split names at commas, ignoring blanks around them; names with commas can be given in a JSON list."""
    listed = json_or_none(text)
    names = listed if isinstance(listed, list) and all(isinstance(name, str) for name in listed) else text.split(",")
    known = frozenset(header)
    return [name if name in known else name.strip() for name in names]


def named_columns(table: Table, parameters: Mapping[str, str], keys: Iterable[str]) -> dict[str, str]:
    """The names of the columns that exist, under their own name or one given by a parameter."""
    chosen = {key: parameters.get(key, key) for key in keys if key in parameters or key in table.header}
    wrong = [key for key, name in chosen.items() if name not in table.header]
    for key in wrong:
        check_column(table, key, chosen[key], did_you_mean(likely(table.header, wrong)))
    return chosen


def check_column(table: Table, key: str, name: str, hint: str = "") -> None:
    """Refuse the name of a column that the table does not have."""
    if name not in table.header:
        if key == "scores" and all(each in table.header for each in listed_names(name, table.header)):
            hint = _SCORES_OF_CLASSES
        elif key == "threshold" and isinstance(json_or_none(name), (int, float)):
            hint = f" For the row at the threshold {name}, ask for a decision, with --at on the command line."
        message = f"There is no column {name[:_SHOWN_HEADER]!r}; {header_of(table)}.{hint}"
        raise invalid_value(f"/{key}", "missing", message)


def no_column(table: Table, key: str) -> Problem:
    """Make the problem of a column that is needed, with a guess at its name."""
    message = f"There is no column {key}; if it has another name, give it with {key}=; {header_of(table)}."
    return invalid_value(f"/{key}", "missing", f"{message}{did_you_mean(likely(table.header, [key]))}")


def no_evaluation(table: Table, parameters: Mapping[str, str], missing: list[str], others: list[str]) -> Problem:
    """Make the problem of a table that is no evaluation; `missing` are scores, labels or both of a sample."""
    scores = parameters.get("scores", "scores")
    if scores in table.header and group_columns(table, {**parameters, "score": scores}):
        message = f"There is no column labels. If this table has groups, name the scores score={quote_plus(scores)}."
        return invalid_value("/labels", "missing", message)
    guessed = likely(table.header, missing)
    hint = likely_counts_or_groups(table.header) if len(guessed) < len(missing) else {}
    if len(missing) == 1 and not hint:
        return no_column(table, missing[0])
    message = (
        "There are no columns scores and labels, nor tp and fp, nor score, positives and negatives; "
        f"{header_of(table)}."
    )
    if len(guessed) == len(missing):  # whoever takes this advice should not lose the weights
        hint = guessed | likely(table.header, others)
    elif not hint:
        hint = guessed
        message += " If your columns have other names, give them with scores= and labels=."
    return invalid_value("", "missing", f"{message}{did_you_mean(hint)}")


def refuse_incomplete_counts(table: Table, known: Collection[str]) -> None:
    """Refuse counts without a column or a total that they need, if a column seems to be it."""
    needed = [key for key, total in _TOTAL_OF.items() if not {key, total} & {*known}]
    guessed = likely(table.header, needed)
    for key in guessed:
        threshold = likely(table.header, [key for key in ("threshold",) if key not in known])
        message = f"There is no column {key}; {header_of(table)}.{did_you_mean(guessed | threshold)}"
        raise invalid_value(f"/{key}", "missing", message)


def header_of(table: Table) -> str:
    """The names of the columns, as a problem shows them."""
    if not table.header:
        return "the table has no columns"
    return f"{table.header_is}: {', '.join(map(repr, table.header))[:_SHOWN_HEADER]}"


def counts_columns(table: Table, parameters: Mapping[str, str]) -> dict[str, str]:
    """The columns of counts, {key: name}; none if there is neither tp nor fp."""
    found = named_columns(table, parameters, COUNTS.columns)
    return found if found.keys() & {*COUNTS.needs} else {}


def group_columns(table: Table, parameters: Mapping[str, str]) -> dict[str, str]:
    """The columns of groups, {key: name}; none if there are no ends or no masses."""
    ends = named_columns(table, parameters, GROUPS.needs)
    masses = named_columns(table, parameters, GROUPS.may) if ends else {}
    return ends | masses if masses else {}


def unique_places(header: list[str], names: list[str]) -> dict[str, int]:
    """Find each column in the header, in one pass; refuse a name that is not unique there, unless it is not read."""
    places: dict[str, int] = dict.fromkeys(names, -1)
    repeated: set[str] = set()
    for place, name in enumerate(header):
        if (before := places.get(name)) == -1:
            places[name] = place
        elif before is not None:
            repeated.add(name)
    for name in names:
        if name in repeated:
            raise invalid_value(f"/{pointer_token(name)}", "duplicate", "Two columns of the table have this name.")
    return places


def no_rows(detail: str) -> Problem:
    """Make the problem of a table without rows."""
    return invalid_value("", "no_rows", detail)


def too_many_rows(rows: int, most: int) -> Problem:
    """Make the problem of a table with more rows than the limit."""
    return Problem("too_many_rows", f"The table has {rows} rows; the limit is {most}.")


def too_many_columns() -> Problem:
    """Make the problem of a table with too many columns or too long a header."""
    detail = f"The header or schema is longer than {LONGEST_HEADER} bytes or {MOST_COLUMNS} columns."
    return invalid_value("", "too_many_columns", detail)


def distinct_columns(table: Table, key: str, text: str, most: int) -> dict[str, str]:
    """The columns that a parameter names, each once: {name: name}. Raises Problem."""
    names = listed_names(text, table.header)
    _check_columns(table, key, names, most)
    return dict(zip(names, names, strict=True))


def columns_by_class(table: Table, key: str, text: str, most: int) -> dict[str, str]:
    """The column of scores for each class: cat,dog, or cat=p1,dog=p2, or a JSON object. Raises Problem."""
    given = json_or_none(text)
    if isinstance(given, dict) and all(isinstance(name, str) for name in given.values()):
        pairs = [*given.items()]
    else:
        known = frozenset(table.header)
        pairs = [(name, name) if name in known else _pair(name) for name in listed_names(text, table.header)]
    if len({name for name, _ in pairs}) < len(pairs):
        raise invalid_value(f"/{key}", "duplicate", "A class is named twice.")
    _check_columns(table, key, [column for _, column in pairs], most)
    return dict(pairs)


def _pair(text: str) -> tuple[str, str]:
    """Split NAME=COLUMN; a text without a name is both."""
    name, equals, column = text.partition("=")
    return (name.strip(), column.strip()) if equals else (text, text)


def json_or_none(text: str) -> object:
    """Read JSON text; None if it is none."""
    try:
        return parse_json(text)
    except StrictJsonError:
        return None


def _check_columns(table: Table, key: str, names: list[str], most: int) -> None:
    """Refuse too many names of columns, repeated ones, and those that the table lacks; many columns take long."""
    if len(names) > most:
        raise invalid_value(f"/{key}", "wrong_length", f"At most {most} columns can be named, not {len(names)}.")
    if len(set(names)) < len(names):
        raise invalid_value(f"/{key}", "duplicate", "A column is named twice.")
    known = frozenset(table.header)
    for name in names:
        if name not in known:
            check_column(table, key, name)
