"""The SQL text: written in DuckDB's dialect, transpiled by sqlglot. Knows no engine and runs nothing.

    examples   the rows as score, positive (1, 0 or null), weight and the columns of slices
    exact      SELECT score, COUNT of each class GROUP BY score; with weights also the sums of them and of their squares
    bins       the same GROUP BY FLOOR((score - low) * scale), with the least and the greatest score of each bin
    levels     tables that divide bins again; the rows of a bin are joined with its row there

The text avoids what engines do differently: sums of integers (COUNT of a CASE instead), the minimum of booleans, NaN in
comparisons, -0.0 in keys, FLOOR to integers that overflow (the minimum is subtracted first). No result relies on the
number of a bin: MIN and MAX of its rows come back with it.
"""

import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import sqlglot

from service.engines.names import Label, column_of, double_literal, label_literal, quoted, table_of

MOST_LABELS = 10_000
"""The most distinct labels that are listed."""

_DOUBLE_BITS, _MOST_BITS = 53, 64
"""The bits of a double's significand, and of the largest integers examined; larger ones count as inexact."""

_LARGEST_DOUBLE = double_literal(sys.float_info.max)
_ABOVE_ALL = 2**62
"""The bin of scores of +inf; those of -inf have bin -1."""

_CLASSES = (("positives", 1), ("negatives", 0))
_ENDS = 'MIN("score") AS "score_from", MAX("score") AS "score_to"'


@dataclass(frozen=True, slots=True)
class RowSource:
    """The rows of an evaluation: a table and its columns, by name.

    table, scores, labels, weights   names in `dialect`, quoted or not; names with characters other than letters,
        digits and underscores need no quotes.
    positive, negative   the positive labels, and the negative ones; None for the latter means all others.
    by                   columns that define slices.
    through_text         whether the scores are decimals too long for engines to convert correctly except as text.
    weight_decimals      decimals to round weights to, so that their sums do not depend on the order of rows.
    dialect              the dialect of the names and of the text.
    unquoted             whether names of columns are taken literally, so that a quote is part of the name.
    """

    table: str
    scores: str
    labels: str
    weights: str | None = None
    positive: tuple[Label, ...] = (1,)
    negative: tuple[Label, ...] | None = None
    by: tuple[str, ...] = ()
    through_text: bool = False
    weight_decimals: int | None = None
    dialect: str = "duckdb"
    unquoted: bool = False

    def column(self, name: str) -> str:
        """A column of the table."""
        return quoted(name) if self.unquoted else column_of(name, self.dialect)

    @property
    def slices(self) -> list[str]:
        """The columns of slices, by the names that they have in the text."""
        return [f'"slice_{place}"' for place in range(len(self.by))]

    @property
    def carried(self) -> list[str]:
        """The columns of the examples."""
        return ['"score"', '"positive"', *([] if self.weights is None else ['"weight"']), *self.slices]


class FirstBins(NamedTuple):
    """Bins FLOOR((u - low) scale), where u is the score or, if `logarithmic`, its logarithm."""

    low: float
    scale: float
    logarithmic: bool = False


def labels_text(rows: RowSource) -> str:
    """List the distinct labels, at most MOST_LABELS + 1, the most frequent first: columns label, rows."""
    label, table = rows.column(rows.labels), table_of(rows.table, rows.dialect)
    query = f'SELECT {label} AS "label", COUNT(*) AS "rows" FROM {table} GROUP BY {label}'
    return _text(f'{query} ORDER BY "rows" DESC, "label" LIMIT {MOST_LABELS + 1}', rows)


def probe_text(rows: RowSource, *, whole: Collection[str] = ()) -> str:
    """Describe the rows in one row: rows, scores (not null), usable_scores (not NaN), low and high of the finite ones.

    With weights also weights, usable_weights (finite), lowest_weight and weighty (not 0). For those of scores and
    weights that `whole` names, because they are integers, inexact_scores and inexact_weights: how many have no exact
    double.
    """
    finite_score, finite_weight = (f'CASE WHEN {_is_finite(name)} THEN "{name}" END' for name in ("score", "weight"))
    columns = [
        'COUNT(*) AS "rows"',
        'COUNT("score") AS "scores"',
        f'COUNT(CASE WHEN {_IS_NUMBER} THEN 1 END) AS "usable_scores"',
        f'MIN({finite_score}) AS "low"',
        f'MAX({finite_score}) AS "high"',
    ]
    if rows.weights is not None:
        columns += [
            'COUNT("weight") AS "weights"',
            f'COUNT({finite_weight}) AS "usable_weights"',
            f'MIN({finite_weight}) AS "lowest_weight"',
            'COUNT(CASE WHEN "weight" <> 0 THEN 1 END) AS "weighty"',
        ]
    for name in whole:
        columns.append(f'COUNT(CASE WHEN NOT ({_has_double(f"given_{name}")}) THEN 1 END) AS "inexact_{name}"')
    return _text(f'SELECT {_list(columns)} FROM ({_examples(rows, plain=True, whole=whole)}) AS "examples"', rows)


def exact_text(rows: RowSource, *, checked: bool = False) -> str:
    """Group by score: slice_0, slice_1 and so on for `by`, score and the sums: positives, negatives.

    With weights also positives_squared, negatives_squared, and rows.

    With `checked`, slices have the names in `by`, rows is left out, and negatives is null in a group with a row whose
    label is neither positive nor negative, or whose weight is null or below 0: no reader of groups takes that for a
    number.
    """
    slices = _own_names(rows) if checked else rows.slices
    columns, keys = _list(slices, '"score"', _sums(rows, checked=checked)), _list(rows.slices, '"score"')
    return _text(f'SELECT {columns} FROM ({_examples(rows)}) AS "examples" GROUP BY {keys}', rows)


def free_bins_text(rows: RowSource, bins: int) -> str:
    """Group into bins of equal width between the least and the greatest finite score, checked as `exact_text` can be.

    The columns are those of `by`, score_from, score_to and the sums. This one query needs no probe.
    """
    finite = f'CASE WHEN {_is_finite("score")} THEN "score" END'
    scale = f'({double_literal(bins)} / NULLIF(("high" - "low"), {double_literal(0)}))'
    bin_ = _ranked(_floor('"score"', '"low"', scale))
    return _text(
        f"""
        WITH "examples" AS ({_examples(rows)}),
             "ends" AS (SELECT MIN({finite}) AS "low", MAX({finite}) AS "high" FROM "examples")
        SELECT {_list(_own_names(rows), _ENDS, _sums(rows, checked=True))}
        FROM (SELECT {_list(rows.carried)}, {bin_} AS "bin" FROM "examples" CROSS JOIN "ends") AS "binned"
        GROUP BY {_list(rows.slices, '"bin"')}
        """,
        rows,
    )


def bins_text(rows: RowSource, first: FirstBins, levels: Sequence[str] = ()) -> str:
    """Group into bins: bin, score_from, score_to and the sums of `exact_text`.

    `levels` are tables, each of which divides the bins of the level above. Their columns are bin, start, low and scale;
    the bins that a bin is divided into have numbers from `start` on.
    """
    columns = _list('"bin"', _ENDS, _sums(rows))
    return _text(f'SELECT {columns} FROM ({_descended(rows, first, levels)}) AS "examples" GROUP BY "bin"', rows)


def exact_part_text(rows: RowSource, first: FirstBins, levels: Sequence[str]) -> str:
    """Group by score, as `exact_text` does, the rows in the bins that the last of the `levels` names."""
    columns = _list('"score"', _sums(rows))
    return _text(f'SELECT {columns} FROM ({_descended(rows, first, levels)}) AS "examples" GROUP BY "score"', rows)


def _examples(rows: RowSource, *, plain: bool = False, whole: Collection[str] = ()) -> str:
    """The rows as columns score, positive (1, 0 or null), weight and those of slices, without rows of weight 0.

    If `plain`, all rows, with only score and weight, and what `whole` names as given_scores and given_weights.
    """
    score, weight = rows.column(rows.scores), rows.column(rows.weights or "")
    columns = [f'CAST({f"CAST({score} AS TEXT)" if rows.through_text else score} AS DOUBLE) + 0.0 AS "score"']
    if not plain:
        columns.append(f'{_positive(rows)} AS "positive"')
    if rows.weights is not None:
        is_rounded = rows.weight_decimals is not None and not plain
        kind = f"DECIMAL(18, {rows.weight_decimals})" if is_rounded else "DOUBLE"
        columns.append(f'CAST({weight} AS {kind}) AS "weight"')
    columns += [f'{rows.column(getattr(rows, name))} AS "given_{name}"' for name in whole]
    if not plain:
        columns += [f"{rows.column(name)} AS {alias}" for name, alias in zip(rows.by, rows.slices, strict=True)]
    there = "" if rows.weights is None or plain else f" WHERE {weight} IS NULL OR {weight} <> 0"
    return f"SELECT {_list(columns)} FROM {table_of(rows.table, rows.dialect)}{there}"


def _descended(rows: RowSource, first: FirstBins, levels: Sequence[str]) -> str:
    """The rows in the bins that the levels name, each with its finest bin."""
    score = 'LN("score")' if first.logarithmic else '"score"'
    bin_ = _ranked(_floor(score, double_literal(first.low), double_literal(first.scale)))
    query = f'SELECT {_list(rows.carried)}, {bin_} AS "bin" FROM ({_examples(rows)}) AS "scored"'
    for level in levels:
        finer = _floor('"rows"."score"', f'"{level}"."low"', f'"{level}"."scale"')
        kept = [f'"rows".{name} AS {name}' for name in rows.carried]
        columns = _list(kept, f'"{level}"."start" + {finer} AS "bin"')
        query = f'SELECT {columns} FROM ({query}) AS "rows" JOIN "{level}" ON "rows"."bin" = "{level}"."bin"'
    return query


def _sums(rows: RowSource, *, checked: bool = False) -> list[str]:
    """The aggregates of a group: counts, or sums of weights and of their squares."""
    value = "1" if rows.weights is None else '"weight"'
    counts = {name: f'COUNT(CASE WHEN "positive" = {flag} THEN {value} END)' for name, flag in _CLASSES}
    sums = counts if rows.weights is None else {name: _total(flag, value, rows) for name, flag in _CLASSES}
    if checked:
        right = f"COUNT(*) = {counts['positives']} + {counts['negatives']}"
        right += "" if rows.weights is None else ' AND MIN("weight") >= 0'
        sums = sums | {"negatives": f"CASE WHEN {right} THEN {sums['negatives']} END"}
    columns = [f'{each} AS "{name}"' for name, each in sums.items()]
    if rows.weights is not None:
        columns += [] if checked else ['COUNT(*) AS "rows"']
        columns += [f'{_total(flag, _square(rows), rows)} AS "{name}_squared"' for name, flag in _CLASSES]
    return columns


def _square(rows: RowSource) -> str:
    """The square of a weight; of a rounded one it is exact, as the sum of weights is."""
    decimals = rows.weight_decimals
    if decimals is None:
        return '"weight" * "weight"'
    if rows.dialect == "bigquery":
        return 'CAST("weight" AS BIGDECIMAL) * CAST("weight" AS BIGDECIMAL)'
    # DuckDB gives a product no more digits than its wider factor has.
    other = f'CAST("weight" AS DECIMAL(38, {decimals}))' if rows.dialect == "duckdb" else '"weight"'
    return f'CAST("weight" * {other} AS DECIMAL(38, {2 * decimals}))'


def _total(flag: int, value: str, rows: RowSource) -> str:
    summed = f'SUM(CASE WHEN "positive" = {flag} THEN {value} ELSE 0 END)'
    return summed if rows.weight_decimals is None else f"CAST({summed} AS DOUBLE)"


def _positive(rows: RowSource) -> str:
    label = rows.column(rows.labels)
    negative = f"NOT {label} IS NULL" if rows.negative is None else _is_one_of(label, rows.negative)
    return f"CASE WHEN {_is_one_of(label, rows.positive)} THEN 1 WHEN {negative} THEN 0 END"


def _is_one_of(label: str, values: Sequence[Label]) -> str:
    return " OR ".join(f"{label} = {label_literal(value)}" for value in values)


def _is_finite(name: str) -> str:
    """Whether a double is neither NaN nor infinite."""
    return f'"{name}" BETWEEN -{_LARGEST_DOUBLE} AND {_LARGEST_DOUBLE}'


_IS_NUMBER = (
    f'{_is_finite("score")} OR ("score" > {_LARGEST_DOUBLE} AND NOT -"score" > {_LARGEST_DOUBLE}) '
    f'OR (NOT "score" > {_LARGEST_DOUBLE} AND -"score" > {_LARGEST_DOUBLE})'
)
"""Whether a score is not NaN, which some engines rank above every number, and others neither above nor below."""


def _has_double(name: str) -> str:
    """Whether an integer is exact as a double: without its trailing zeros, it has at most 53 bits."""
    tests = [f'"{name}" BETWEEN {-(2**_DOUBLE_BITS)} AND {2**_DOUBLE_BITS}']
    for bits in range(_DOUBLE_BITS + 1, _MOST_BITS + 1):
        rest = f'"{name}" % {2 ** (bits - _DOUBLE_BITS)} = 0'
        tests.append(f'("{name}" BETWEEN {-(2**bits)} AND {2**bits} AND {rest})')
    return " OR ".join(tests)


def _floor(score: str, low: str, scale: str) -> str:
    return f"CAST(FLOOR(({score} - {low}) * {scale}) AS BIGINT)"


def _ranked(bin_: str) -> str:
    """The bin of a finite score; the two infinite scores have bins of their own, before and after all others."""
    cases = f'WHEN "score" > {_LARGEST_DOUBLE} THEN {_ABOVE_ALL} WHEN "score" < -{_LARGEST_DOUBLE} THEN -1'
    return f"CASE {cases} ELSE {bin_} END"


def _own_names(rows: RowSource) -> list[str]:
    """The columns of slices by their own names."""
    return [f"{column} AS {quoted(name)}" for column, name in zip(rows.slices, rows.by, strict=True)]


def _list(*parts: str | Iterable[str]) -> str:
    return ", ".join(each for part in parts for each in ([part] if isinstance(part, str) else part))


def _text(query: str, rows: RowSource) -> str:
    return sqlglot.transpile(query, read="duckdb", write=rows.dialect, pretty=True)[0]
