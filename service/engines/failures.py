"""The errors of an engine: a column that cannot be used, or a failure of the engine itself. Knows no SQL."""

from service.curves.errors import DomainError

SHOWN_CHARACTERS = 24
"""The characters of a wrong cell that a sentence repeats."""


class NoRows(DomainError):
    """The table has no rows."""


class ColumnRefused(DomainError):
    """A column of the rows cannot be used; the code and the sentence are those for a body with such a column.

    An engine's rows have no numbers, so the sentence says how many rows are wrong instead of which.
    """

    def __init__(self, code: str, detail: str, column: str) -> None:
        super().__init__(detail, column)
        self.code = code


class EngineFailed(Exception):
    """The engine could not answer: a full disk, too little memory, a connection lost, a file that is gone."""


class FilesUnreadable(EngineFailed):
    """A file is damaged, or not of its kind: its rows cannot be read, however often one tries."""


class EngineOutOfMemory(EngineFailed):
    """The engine, or the process that takes its groups, has too little memory."""
