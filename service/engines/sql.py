"""The SQL text: one tree for every dialect, written by sqlglot. Knows no engine and runs nothing.

The text avoids what engines do differently: sums of integers (COUNT of a CASE instead), the minimum of booleans, NaN in
comparisons, -0.0 in keys, FLOOR to integers that overflow (the minimum is subtracted first). No result relies on the
number of a bin: MIN and MAX of its rows come back with it.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot import exp

from service.engines.nodes import (
    Label,
    aliased,
    case_when,
    column,
    column_of,
    count_of,
    double_literal,
    floor_bin,
    identifier,
    is_finite,
    is_number,
    label_literal,
    ranked_bin,
    relation,
    table_of,
    within,
)

MOST_LABELS = 10_000
"""The most distinct labels that are listed."""

_DOUBLE_BITS, _MOST_BITS = 53, 64
"""The bits of a double's significand, and of the largest integers examined; larger ones count as inexact."""


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

    def column(self, name: str) -> exp.Column:
        """A column of the table."""
        return column(name) if self.unquoted else column_of(name, self.dialect)


class FirstBins(NamedTuple):
    """Bins FLOOR((u - low) scale), where u is the score or, if `logarithmic`, its logarithm."""

    low: float
    scale: float
    logarithmic: bool = False


def labels_text(rows: RowSource) -> str:
    """List the distinct labels, at most MOST_LABELS + 1, the most frequent first: columns label, rows."""
    label = rows.column(rows.labels)
    query = (
        exp.select(aliased(label, "label"), aliased(count_of(), "rows"))
        .from_(table_of(rows.table, rows.dialect))
        .group_by(label.copy())
    )
    return _text(
        query.order_by(exp.Ordered(this=column("rows"), desc=True), column("label")).limit(MOST_LABELS + 1), rows
    )


def probe_text(rows: RowSource, *, whole: Collection[str] = ()) -> str:
    """Describe the rows in one row: rows, scores (not null), usable_scores (not NaN), low and high of the finite ones.

    With weights also weights, usable_weights (finite), lowest_weight and weighty (not 0). For those of scores and
    weights that `whole` names, because they are integers, inexact_scores and inexact_weights: how many have no exact
    double.
    """
    counted = [("score", "scores", is_number), ("weight", "weights", is_finite)]
    columns = [aliased(count_of(), "rows")]
    for name, given, is_usable in counted[: 1 if rows.weights is None else 2]:
        columns += [
            aliased(count_of(column(name)), given),
            aliased(count_of(case_when(is_usable(name), exp.Literal.number(1))), f"usable_{given}"),
        ]
    finite_score = case_when(is_finite("score"), column("score"))
    columns += [aliased(exp.Min(this=finite_score), "low"), aliased(exp.Max(this=finite_score.copy()), "high")]
    for name in whole:
        inexact = exp.not_(exp.paren(_has_double(f"given_{name}")))
        columns.append(aliased(count_of(case_when(inexact, exp.Literal.number(1))), f"inexact_{name}"))
    if rows.weights is not None:
        columns.append(aliased(exp.Min(this=case_when(is_finite("weight"), column("weight"))), "lowest_weight"))
        weighs = exp.NEQ(this=column("weight"), expression=exp.Literal.number(0))
        columns.append(aliased(count_of(case_when(weighs, exp.Literal.number(1))), "weighty"))
    examples = _examples(rows, plain=True, whole=whole).subquery(identifier("examples"))
    return _text(exp.select(*columns).from_(examples), rows)


def exact_text(rows: RowSource, *, checked: bool = False) -> str:
    """Group by score: slice_0, slice_1 and so on for `by`, score and the sums: positives, negatives.

    With weights also positives_squared, negatives_squared, and rows.

    With `checked`, slices have the names in `by`, rows is left out, and negatives is null in a group with a row whose
    label is neither positive nor negative, or whose weight is null or below 0: no reader of groups takes that for a
    number.
    """
    slices = _slices(rows) if checked else _slice_names(rows)
    query = exp.select(*slices, aliased(column("score"), "score"), *_sums(rows, checked=checked))
    query = query.from_(_examples(rows).subquery(identifier("examples")))
    return _text(query.group_by(*_slice_names(rows), column("score")), rows)


def free_bins_text(rows: RowSource, bins: int) -> str:
    """Group into bins of equal width between the least and the greatest finite score, checked as `exact_text` can be.

    The columns are those of `by`, score_from, score_to and the sums. This one query needs no probe.
    """
    finite = case_when(is_finite("score"), column("score"))
    ends = exp.select(aliased(exp.Min(this=finite), "low"), aliased(exp.Max(this=finite.copy()), "high"))
    width = exp.paren(exp.Sub(this=column("high"), expression=column("low")))
    scale = exp.paren(
        exp.Div(this=double_literal(bins), expression=exp.Nullif(this=width, expression=double_literal(0)))
    )
    bin_ = ranked_bin("score", floor_bin("score", column("low"), scale))
    binned = exp.select(*map(column, _carried(rows)), aliased(bin_, "bin"))
    query = exp.select(*_slices(rows), *_ends(), *_sums(rows, checked=True)).from_(
        binned.from_(relation("examples")).join(relation("ends"), join_type="cross").subquery(identifier("binned"))
    )
    query = query.group_by(*_slice_names(rows), column("bin"))
    query = query.with_(identifier("examples"), as_=_examples(rows))
    return _text(query.with_(identifier("ends"), as_=ends.from_(relation("examples"))), rows)


def bins_text(rows: RowSource, first: FirstBins, levels: Sequence[str] = ()) -> str:
    """Group into bins: bin, score_from, score_to and the sums of `exact_text`.

    `levels` are tables, each of which divides the bins of the level above. Their columns are bin, start, low and scale;
    the bins that a bin is divided into have numbers from `start` on.
    """
    query = exp.select(aliased(column("bin"), "bin"), *_ends(), *_sums(rows))
    query = query.from_(_descended(rows, first, levels).subquery(identifier("examples")))
    return _text(query.group_by(column("bin")), rows)


def exact_part_text(rows: RowSource, first: FirstBins, levels: Sequence[str]) -> str:
    """Group by score, as `exact_text` does, the rows in the bins that the last of the `levels` names."""
    query = exp.select(aliased(column("score"), "score"), *_sums(rows))
    query = query.from_(_descended(rows, first, levels).subquery(identifier("examples")))
    return _text(query.group_by(column("score")), rows)


def _examples(rows: RowSource, *, plain: bool = False, whole: Collection[str] = ()) -> exp.Select:
    """The rows as columns score, positive (1, 0 or null), weight and those of slices, without rows of weight 0.

    If `plain`, all rows, with only score and weight, and what `whole` names as given_scores and given_weights.
    """
    number = rows.column(rows.scores)
    text = exp.cast(number, "text") if rows.through_text else number
    columns = [aliased(exp.Add(this=exp.cast(text, "double"), expression=exp.Literal.number("0.0")), "score")]
    if not plain:
        columns.append(aliased(_positive(rows), "positive"))
    if rows.weights is not None:
        decimals = rows.weight_decimals
        kind = "double" if decimals is None or plain else f"decimal(18, {decimals})"
        columns.append(aliased(exp.cast(rows.column(rows.weights), kind), "weight"))
    columns += [aliased(rows.column(getattr(rows, name)), f"given_{name}") for name in whole]
    query = exp.select(*columns, *([] if plain else _slices(rows, given=True))).from_(
        table_of(rows.table, rows.dialect)
    )
    if rows.weights is not None and not plain:
        weight = rows.column(rows.weights)
        there = exp.NEQ(this=weight.copy(), expression=exp.Literal.number(0))
        query = query.where(exp.or_(exp.Is(this=weight, expression=exp.null()), there))
    return query


def _has_double(name: str) -> exp.Expr:
    """Whether an integer is exact as a double: without its trailing zeros, it has at most 53 bits."""
    tests = []
    for bits in range(_DOUBLE_BITS, _MOST_BITS + 1):
        rest = exp.Mod(this=column(name), expression=label_literal(2 ** (bits - _DOUBLE_BITS)))
        tests.append(exp.and_(within(name, 2**bits), exp.EQ(this=rest, expression=exp.Literal.number(0))))
    return exp.or_(within(name, 2**_DOUBLE_BITS), *tests[1:])


def _descended(rows: RowSource, first: FirstBins, levels: Sequence[str]) -> exp.Select:
    """The rows in the bins that the levels name, each with its finest bin."""
    score = exp.Ln(this=column("score")) if first.logarithmic else "score"
    bin_ = ranked_bin("score", floor_bin(score, double_literal(first.low), double_literal(first.scale)))
    carried = _carried(rows)
    query = exp.select(*map(column, carried), aliased(bin_, "bin")).from_(
        _examples(rows).subquery(identifier("scored"))
    )
    for level in levels:
        start, low, scale = (column(name, level) for name in ("start", "low", "scale"))
        finer = exp.Add(this=start, expression=floor_bin(column("score", "rows"), low, scale))
        columns = [*(aliased(column(name, "rows"), name) for name in carried), aliased(finer, "bin")]
        met = exp.EQ(this=column("bin", "rows"), expression=column("bin", level))
        query = exp.select(*columns).from_(query.subquery(identifier("rows"))).join(relation(level), on=met)
    return query


def _sums(rows: RowSource, *, checked: bool = False) -> Iterator[exp.Expr]:
    """The aggregates of a group: counts, or sums of weights and of their squares."""
    of_class = {name: exp.EQ(this=column("positive"), expression=exp.Literal.number(flag)) for name, flag in _CLASSES}
    value = exp.Literal.number(1) if rows.weights is None else column("weight")
    counts = {name: count_of(case_when(met, value)) for name, met in of_class.items()}
    sums: dict[str, exp.Expr] = dict(counts)
    if rows.weights is not None:
        sums = {name: _total(met, column("weight"), rows) for name, met in of_class.items()}
    if checked:
        both = exp.Add(this=counts["positives"].copy(), expression=counts["negatives"].copy())
        right: exp.Expr = exp.EQ(this=count_of(), expression=both)
        if rows.weights is not None:
            lowest = exp.Min(this=column("weight"))
            right = exp.and_(right, exp.GTE(this=lowest, expression=exp.Literal.number(0)))
        sums["negatives"] = case_when(right, sums["negatives"])
    yield from (aliased(each, name) for name, each in sums.items())
    if rows.weights is not None:
        if not checked:
            yield aliased(count_of(), "rows")
        square = _square(column("weight"), rows)
        yield from (aliased(_total(met, square, rows), f"{name}_squared") for name, met in of_class.items())


_CLASSES = (("positives", 1), ("negatives", 0))


def _square(weight: exp.Expr, rows: RowSource) -> exp.Expr:
    """The square of a weight; of a rounded one it is exact, as the sum of weights is."""
    decimals = rows.weight_decimals
    if decimals is None:
        return exp.Mul(this=weight, expression=weight.copy())
    if rows.dialect == "bigquery":
        wide = exp.cast(weight, "bigdecimal")
        return exp.Mul(this=wide, expression=wide.copy())
    # DuckDB gives a product no more digits than its wider factor has.
    other = exp.cast(weight.copy(), f"decimal(38, {decimals})") if rows.dialect == "duckdb" else weight.copy()
    return exp.cast(exp.Mul(this=weight, expression=other), f"decimal(38, {2 * decimals})")


def _total(met: exp.Expr, value: exp.Expr, rows: RowSource) -> exp.Expr:
    summed = exp.Sum(this=case_when(met, value, exp.Literal.number(0)))
    return summed if rows.weight_decimals is None else exp.cast(summed, "double")


def _positive(rows: RowSource) -> exp.Case:
    label = rows.column(rows.labels)
    case = exp.Case().when(_is_one_of(label, rows.positive), exp.Literal.number(1))
    others = exp.not_(exp.Is(this=label.copy(), expression=exp.null()))
    negative = others if rows.negative is None else _is_one_of(label, rows.negative)
    return case.when(negative, exp.Literal.number(0))


def _is_one_of(label: exp.Expr, values: Sequence[Label]) -> exp.Expr:
    return exp.or_(*(exp.EQ(this=label.copy(), expression=label_literal(value)) for value in values))


def _ends() -> tuple[exp.Expr, ...]:
    score = column("score")
    return aliased(exp.Min(this=score), "score_from"), aliased(exp.Max(this=score.copy()), "score_to")


def _carried(rows: RowSource) -> tuple[str, ...]:
    weight = () if rows.weights is None else ("weight",)
    return ("score", "positive", *weight, *(f"slice_{place}" for place in range(len(rows.by))))


def _slices(rows: RowSource, *, given: bool = False) -> Iterator[exp.Expr]:
    """The columns of slices: if `given`, the table's, as slice_0 and so on; else these by their own names."""
    for place, name in enumerate(rows.by):
        if given:
            yield aliased(rows.column(name), f"slice_{place}")
        else:
            yield aliased(column(f"slice_{place}"), name)


def _slice_names(rows: RowSource) -> Iterator[exp.Expr]:
    return (column(f"slice_{place}") for place in range(len(rows.by)))


def _text(query: exp.Query, rows: RowSource) -> str:
    text: str = query.sql(dialect=rows.dialect, pretty=True)
    return text
