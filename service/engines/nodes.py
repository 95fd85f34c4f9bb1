"""Pieces of a syntax tree: names, literals, cases. Knows how engines differ; nothing of examples."""

import re
import sys

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError

Label = bool | int | float | str

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def case_when(met: exp.Expr, value: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Case:
    """CASE WHEN met THEN value, and otherwise null or another value."""
    case = exp.Case().when(met.copy(), value.copy())
    return case if otherwise is None else case.else_(otherwise)


def count_of(value: exp.Expr | None = None) -> exp.Count:
    """COUNT of the values that are not null, or of all rows, in 64 bits."""
    return exp.Count(this=exp.Star() if value is None else value, big_int=True)


def double_literal(number: float) -> exp.Expr:
    """A literal with an exponent, which engines read as a double, with all its digits."""
    literal = exp.Literal.number(f"{abs(number):.16e}")
    return exp.Neg(this=literal) if number < 0 else literal


def label_literal(value: Label) -> exp.Expr:
    """A label as a literal."""
    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, float):
        return double_literal(value)
    return exp.Neg(this=exp.Literal.number(-value)) if value < 0 else exp.Literal.number(value)


def floor_bin(score: str | exp.Expr, low: exp.Expr, scale: exp.Expr) -> exp.Expr:
    """FLOOR((score - low) scale), an integer."""
    shifted = exp.paren(exp.Sub(this=column(score) if isinstance(score, str) else score, expression=low))
    return exp.cast(exp.Floor(this=exp.Mul(this=shifted, expression=scale)), "bigint")


def ranked_bin(score: str, bin_: exp.Expr) -> exp.Expr:
    """The bin of a finite score; the two infinite scores have bins of their own, before and after all others."""
    largest = double_literal(sys.float_info.max)
    below = exp.LT(this=column(score), expression=exp.Neg(this=largest.copy()))
    above = exp.GT(this=column(score), expression=largest)
    case = exp.Case().when(above, exp.Literal.number(2**62)).when(below, exp.Literal.number(-1))
    return case.else_(bin_)


def within(name: str, size: float) -> exp.Between:
    """BETWEEN -size AND size; false for NaN."""
    return exp.Between(this=column(name), low=label_literal(-size), high=label_literal(size))


def is_finite(name: str) -> exp.Between:
    """Whether a double is neither NaN nor infinite."""
    return within(name, sys.float_info.max)


def is_number(name: str) -> exp.Expr:
    """Whether a double is not NaN, which some engines rank above every number, and others neither above nor below."""
    largest = double_literal(sys.float_info.max)
    above = exp.GT(this=column(name), expression=largest)
    below = exp.GT(this=exp.Neg(this=column(name)), expression=largest.copy())
    return exp.or_(is_finite(name), exp.and_(above, exp.not_(below)), exp.and_(exp.not_(above), below))


def aliased(expression: exp.Expr, name: str) -> exp.Alias:
    """An expression under one of rocpr's names."""
    return exp.Alias(this=expression, alias=identifier(name))


def column(name: str, table: str | None = None) -> exp.Column:
    """A column that rocpr names."""
    return exp.Column(this=identifier(name), table=None if table is None else identifier(table))


def identifier(name: str) -> exp.Identifier:
    """A quoted name, whose case is kept."""
    return exp.Identifier(this=name, quoted=True)


def relation(name: str) -> exp.Table:
    """A table that rocpr names."""
    return exp.Table(this=identifier(name))


def column_of(name: str, dialect: str) -> exp.Column:
    """A column of the user's table, its name folded as in `dialect` and quoted, so that it may be a reserved word."""
    return exp.Column(this=_folded(name, dialect))


def _folded(name: str, dialect: str) -> exp.Identifier:
    grammar = Dialect.get_or_raise(dialect)
    start, end = grammar.IDENTIFIER_START, grammar.IDENTIFIER_END
    if len(name) > len(start + end) and name.startswith(start) and name.endswith(end):
        return identifier(name[len(start) : -len(end)].replace(end * 2, end))
    if not _PLAIN_NAME.fullmatch(name):
        return identifier(name)
    folded = grammar.normalize_identifier(exp.Identifier(this=name, quoted=False))
    return identifier(str(folded.this))


def table_of(name: str, dialect: str) -> exp.Table:
    """A table of the user's, whose name may have several parts: catalog, database, table.

    Raises sqlglot's ParseError if it is more than a name.
    """
    table = exp.to_table(name, dialect=dialect)
    if table.find(exp.Func):
        raise ParseError(f"{name!r} is not the name of a table.")
    grammar = Dialect.get_or_raise(dialect)
    for part in table.find_all(exp.Identifier):
        grammar.normalize_identifier(part)
        part.args["quoted"] = True
    return table
