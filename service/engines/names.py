"""Names and literals of SQL: what a user calls a table, a column or a label, as text. Knows nothing of examples."""

import re

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError

Label = bool | int | float | str

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def double_literal(number: float) -> str:
    """A literal with an exponent, which engines read as a double, with all its digits."""
    return f"{number:.16e}"


def label_literal(value: Label) -> str:
    """A label as a literal of DuckDB's."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return str(value).upper()
    return double_literal(value) if isinstance(value, float) else str(value)


def quoted(name: str) -> str:
    """A name whose case is kept, in DuckDB's dialect."""
    return '"' + name.replace('"', '""') + '"'


def column_of(name: str, dialect: str) -> str:
    """A column of the user's table, its name folded as in `dialect` and quoted, so that it may be a reserved word."""
    grammar = Dialect.get_or_raise(dialect)
    start, end = grammar.IDENTIFIER_START, grammar.IDENTIFIER_END
    if len(name) > len(start + end) and name.startswith(start) and name.endswith(end):
        return quoted(name[len(start) : -len(end)].replace(end * 2, end))
    if not _PLAIN_NAME.fullmatch(name):
        return quoted(name)
    return quoted(str(grammar.normalize_identifier(exp.Identifier(this=name, quoted=False)).this))


def table_of(name: str, dialect: str, *, into: str = "duckdb") -> str:
    """A table of the user's, whose name may have several parts: catalog, database, table. The text is `into` a dialect.

    Raises sqlglot's ParseError if it is more than a name.
    """
    table = exp.to_table(name, dialect=dialect)
    if table.find(exp.Func):
        raise ParseError(f"{name!r} is not the name of a table.")
    grammar = Dialect.get_or_raise(dialect)
    for part in table.find_all(exp.Identifier):
        grammar.normalize_identifier(part)
        part.args["quoted"] = True
    text: str = table.sql(dialect=into)
    return text
