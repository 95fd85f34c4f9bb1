"""What an engine finds wrong: with a column, a fact as for a body; with itself, a failure. Knows no SQL."""

from service.curves.errors import CurvesError


class ColumnRefused(CurvesError):
    """A column of the rows cannot be used; `code` and the sentence are those of a body with such a column.

    An engine's rows have no numbers, so the sentence says how many rows are wrong instead of which.
    """

    def __init__(self, code: str, detail: str, column: str) -> None:
        super().__init__(detail, column)
        self.code = code


class EngineFailed(Exception):
    """The engine could not answer: a full disk, too little memory, a connection lost, an unreadable file."""


class EngineOutOfMemory(EngineFailed):
    """The engine, or the process that takes its groups, has too little memory."""
