"""What an engine is to the algorithm: something that answers SQL with columns. Knows none of them."""

from typing import Any, NamedTuple, Protocol

import numpy as np

NamedArrays = dict[str, np.ndarray[Any, Any]]
"""Columns by name; numbers are float64 or int64, other cells Python objects."""


class Kind(NamedTuple):
    """What a column holds: number, integer, boolean, text, or the engine's own name of another type.

    through_text   whether it is a decimal that the engine converts to a double correctly only as text.
    """

    name: str
    through_text: bool = False


class Engine(Protocol):
    """An engine with one table of rows.

    table, dialect   its name and its dialect, for the text.
    """

    table: str
    dialect: str

    def kinds(self) -> dict[str, Kind]:
        """What the columns of the table hold, by name. Raises EngineFailed."""
        ...

    def rows(self, text: str, step: str) -> NamedArrays:
        """Run a query and return its columns; `step` names it for a reader. Raises EngineFailed."""
        ...

    def keep(self, name: str, columns: NamedArrays) -> None:
        """Make a small table of numbers that queries can join. Raises EngineFailed."""
        ...
