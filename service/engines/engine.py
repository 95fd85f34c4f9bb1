"""What the algorithm needs of an engine: it answers SQL with columns. Knows no particular engine."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

NamedArrays = dict[str, np.ndarray[Any, Any]]
"""Columns by name; numbers are float64 or int64, other cells Python objects."""


Progress = Callable[[str, float], None]
"""Called with the name of a step and how much of it is done, 0 to 1: at its beginning, and again and again."""

LONGEST_REASON = 400
"""The characters of an engine's own sentence that a failure repeats."""

TICK = 0.1
"""Seconds between two looks at a running query."""


class Kind(NamedTuple):
    """What a column holds: number, integer, boolean, text, or for any other type the engine's name of it.

    through_text   whether it is a decimal that the engine converts to a double correctly only by way of text.
    """

    name: str
    through_text: bool = False


def equal_to(values: Sequence[bool | float | str], kind: str | None) -> Sequence[bool | float | str]:
    """The values that a column of a kind may equal, so that an engine compares them exactly.

    An engine makes doubles of integers beside floats, and of a column of integers that it compares with floats.
    """
    if kind == "integer":
        return [int(value) for value in values if value == int(value)]
    if kind == "number":
        return [float(value) for value in values if float(value) == value]
    return values


class Engine(Protocol):
    """An engine with one table of rows.

    table, dialect   the table's name and the engine's dialect, for the SQL.
    """

    table: str
    dialect: str

    def kinds(self) -> dict[str, Kind]:
        """What the columns of the table hold, by name. Raises EngineFailed."""
        ...

    def rows(self, text: str, step: str) -> NamedArrays:
        """Run a query and return its columns; `step` is its name in a progress bar. Raises EngineFailed."""
        ...

    def keep(self, name: str, columns: NamedArrays) -> None:
        """Make a small table of numbers that queries can join. Raises EngineFailed."""
        ...
