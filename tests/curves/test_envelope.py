"""Where an index switches to another row, and its values: within a few roundings, at any scale of counts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from numpy.random import Generator

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.envelope import Envelope, Frontier, envelope, read_off
from service.curves.indices import INDICES
from service.curves.indices import Rows as IndexRows
from tests.reference import Row
from tests.reference_pr import DIGITS
from tests.reference_tradeoff import Exact, log_ratio, relative, value
from tests.support.lambdas import between
from tests.support.sampling import some

RATIONAL = ("kulczynski", "f_measure", "jaccard")
LAMBDA = {"kulczynski": 1e-15, "f_measure": 1e-15, "jaccard": 1e-15, "fowlkes_mallows": 2e-15}
"""How far a lambda may be from the exact one, relatively: guide/accuracy.md."""
LARGEST = 2.0**53

Chain = tuple[list[float], list[float], float, float]
"""The tp and fp of rows, P and N."""


def found(chain: Chain, index: str) -> tuple[Frontier, Envelope]:
    """The frontier of counts and the envelope of one index."""
    tp, fp, positives, negatives = chain
    table = ConfusionTable.of(Counts(np.array(tp, dtype=float), np.array(fp, dtype=float), positives, negatives))
    frontier = Frontier.of(table)
    return frontier, envelope(frontier, INDICES[index])


def meeting(index: str, a: tuple[float, float], b: tuple[float, float], positives: float) -> Exact:
    """The lambda at which two rows, each (tp, fp), have the same value: an equation linear in lambda, in fractions."""
    total = Fraction(positives)
    (p_a, r_a), (p_b, r_b) = ((Fraction(t) / (Fraction(t) + Fraction(f)), Fraction(t) / total) for t, f in (a, b))
    if index == "kulczynski":
        return (p_a - p_b) / (p_a - p_b + r_b - r_a)
    if index == "fowlkes_mallows":
        loss, gain = log_ratio(p_a, p_b), log_ratio(r_b, r_a)
        return loss / (loss + gain)
    loss, gain = 1 / p_b - 1 / p_a, 1 / r_a - 1 / r_b
    if index == "f_measure":
        return loss / (loss + gain)
    return loss / gain / 2 if loss <= gain else 1 - gain / loss / 2


def all_close(chain: Chain) -> int:
    """Compare every breakpoint, as lambda and as 1 - lambda, with the exact one; return how many there are."""
    number = 0
    for index in INDICES:
        frontier, best = found(chain, index)
        rows = [(float(frontier.table.tp[k]), float(frontier.table.fp[k])) for k in best.rows]
        with mpmath.workdps(DIGITS):
            exact = [meeting(index, a, b, chain[2]) for a, b in itertools.pairwise(rows)]
            assert exact == sorted(exact)
            for at, rest, expected in zip(best.breakpoints.tolist(), best.rests.tolist(), exact, strict=True):
                assert relative(at, expected) <= LAMBDA[index]
                assert relative(rest, 1 - expected) <= LAMBDA[index]
        number += len(exact)
    return number


def whole(random: Generator) -> Chain:
    """Counts up to 2^53."""
    size = 2 ** int(random.integers(2, 54))
    tp, fp = np.sort(random.integers(1, size, (2, 3), endpoint=True), axis=1).astype(float)
    return tp.tolist(), fp.tolist(), float(size), float(size)


def of_nearly_one_precision(random: Generator) -> Chain:
    """Whole counts whose precisions differ by a few parts in 2^49."""
    k = int(random.integers(1, 60))
    tp, fp = 2.0**46 * k, 2.0**46 * (k + 1)
    i, j = sorted(random.integers(0, 200, 2).tolist())
    return [tp, 2 * tp], [fp + i, 2 * fp + 2 * j + 1], 2 * tp, LARGEST


def fractional(random: Generator) -> Chain:
    """Counts that use all bits of a double."""
    tp, fp = np.sort(random.random((2, 3)) ** random.integers(1, 9), axis=1)
    return tp.tolist(), fp.tolist(), 1.0, 1.0


def of_nearly_one_precision_fractional(random: Generator) -> Chain:
    """The difference of two products cancels 40 to 60 bits, and no product is exact in a pair of doubles."""
    tp, fp, share = random.random(3)
    growth = 1 + share * 2.0 ** random.integers(0, 7)
    nudge = 1 + random.random() * 2.0 ** -random.integers(38, 51)
    tp_b, fp_b = tp * growth, fp * growth * nudge
    return [tp, tp_b], [fp, fp_b], tp_b, 200.0


def tiny(random: Generator) -> Chain:
    """Counts whose products underflow."""
    scale = 10.0 ** random.uniform(-160, -130)
    tp, fp = np.sort(random.random((2, 2)), axis=1) * scale
    return tp.tolist(), fp.tolist(), max(float(tp[1]), 1e-150), 1e-120


@pytest.mark.parametrize(
    ("family", "number"),
    [
        (whole, 300),
        (of_nearly_one_precision, 300),
        (fractional, 300),
        (of_nearly_one_precision_fractional, 500),
        (tiny, 300),
    ],
)
def test_breakpoints_are_within_a_few_roundings(
    family: Callable[[Generator], Chain], number: int, *, runs_all: bool
) -> None:
    number = number if runs_all else number // 10
    random = np.random.default_rng(11)
    assert sum(all_close(family(random)) for _ in range(number)) > 3 * number


def extremes() -> Iterator[Chain]:
    """Losses and gains that no double can hold: too large, too small, and both at once."""
    for tiny_tp, positives, negatives in product([1e-300, 1e-320, 5e-324, 1e-200], [1e-150, 1e150], [1e150]):
        yield [tiny_tp, 2 * tiny_tp], [0.0, 1e149], positives, negatives
        yield [tiny_tp, 3 * tiny_tp, 1e-160], [0.0, 1e-310, 1e140], positives, negatives
        yield [tiny_tp, 1e-150], [1e140, 1.5e149], positives, negatives
        yield [1e-160, 1.0001e-160], [5e-324, 1e150], positives, negatives
    yield [5.0819609132186e-310, 1e-150], [0.0, 1e150], 1e-150, 1e150
    yield [1.2555509e-316, 1.387042516e-313, 1e-150], [0.0, 1e-320, 1e150], 1e-150, 1e150


@pytest.mark.parametrize("index", INDICES)
def test_breakpoints_rise_within_the_range_whatever_overflows(index: str) -> None:
    for chain in extremes():
        _, best = found(chain, index)
        assert not np.isnan(best.breakpoints).any()
        assert (np.diff(np.concatenate(([0.0], best.breakpoints, [1.0]))) >= 0).all()
        assert best.breakpoints.size == best.rows.size - 1


@pytest.mark.parametrize("steps", [(0, 1, 2, 3, 4, 5), (0, 1, 3), (0, 2, 3), (0, 1, 3, 4)])
@pytest.mark.parametrize("bases", [(2, 3), (3, 4), (3, 7), (3, 10), (5, 6)])
def test_lines_through_one_point_repeat_no_row_and_leave_no_empty_interval(
    bases: tuple[int, int], steps: tuple[int, ...]
) -> None:
    """tp and tp + fp grow by powers of one factor each: all lines meet at one lambda, where the last row takes over."""
    tp, called = (np.array([base**k for k in steps], dtype=float) for base in bases)
    chain = tp.tolist(), (called - tp).tolist(), float(tp[-1]), 2.0**90
    frontier, best = found(chain, "fowlkes_mallows")
    rows, start, end = best.intervals(0.0, 1.0)
    assert frontier.table.tp[rows].tolist() == [tp[0], tp[-1]]
    gain, loss = math.log(bases[0]), math.log(bases[1] / bases[0])
    assert best.breakpoints.tolist() == pytest.approx([loss / (loss + gain)], abs=0, rel=1e-14)
    assert (start < end).all()
    assert len(set(rows.tolist())) == rows.size


@pytest.mark.parametrize("index", ["f_measure", "jaccard"])
@pytest.mark.parametrize("more", [8, 50, 200, -8, -200])
def test_slopes_next_to_each_other_are_told_apart(index: str, more: int) -> None:
    """Rows on a line in count space meet at one lambda; if one is this far off, breakpoints are 1e-14 to 3e-13 apart.

    On the other side of the line the row in the middle is best nowhere.
    """
    tp, fp = [2.0**50, 2.0**51, 2.0**52], [2.0**48, 2.0**48 + 2.0**50, 2.0**48 + 3 * 2.0**50 + more]
    frontier, best = found((tp, fp, tp[-1], LARGEST), index)
    if more < 0:
        assert frontier.table.tp[best.rows].tolist() == [tp[0], tp[2]]
        return
    assert frontier.table.tp[best.rows].tolist() == tp
    first, second = (meeting(index, *ends, tp[-1]) for ends in itertools.pairwise(zip(tp, fp, strict=True)))
    assert 0 < second - first < second * 4e-13
    assert best.breakpoints.tolist() == pytest.approx([float(first), float(second)], abs=0, rel=1e-15)


@pytest.mark.parametrize("nudge", [-1, 0, 1])
def test_a_unit_of_2_to_the_50_decides_whether_kulczynski_chooses_a_row(nudge: int) -> None:
    """Precision 1, 2/3 and 1/3 at recall 2/7, 4/7 and 6/7 lie on one line; a false positive less puts 2/3 above."""
    unit = 2.0**49
    tp, fp = [2 * unit, 4 * unit, 6 * unit], [0.0, 2 * unit + nudge, 12 * unit]
    frontier, best = found((tp, fp, 7 * unit, 2.0**60), "kulczynski")
    assert (tp[1] in frontier.table.tp[best.rows]) == (nudge < 0)


@pytest.mark.parametrize("index", RATIONAL)
def test_a_lambda_next_to_nothing_comes_out_next_to_nothing(index: str) -> None:
    """Counts that differ by a factor above 1e270: a precision that is 1 in all its digits and more, yet falls."""
    rows = [(1e120, 0.0), (2e120, 1e-200), (1e150, 1.0)]
    tp, fp = ([row[column] for row in rows] for column in (0, 1))
    first, second = found((tp, fp, 1e150, 1.0), index)[1].breakpoints
    assert 0 < meeting(index, *rows[:2], 1e150) < 1e-100
    assert 0 <= first < 1e-100
    assert relative(second, meeting(index, *rows[1:], 1e150)) <= 1e-15


@pytest.mark.parametrize("climb", [1.0, 1000.0, 1e12, 1e15, 1e100])
@pytest.mark.parametrize("tp", [1e15, 1e-300, 1e-200])
def test_logarithms_of_near_and_of_far_rows_balance(tp: float, climb: float) -> None:
    """log(p_a/p_b) against log(r_b/r_a), also where the latter is almost 0 or its argument is not a double."""
    tp_b = tp + climb
    _, best = found(([tp, tp_b], [0.0, 7.0], tp_b, 1e150), "fowlkes_mallows")
    with mpmath.workdps(50):
        loss = mpmath.log1p(mpmath.mpf(7) / mpmath.mpf(tp_b))
        gain = mpmath.log1p((mpmath.mpf(tp_b) - mpmath.mpf(tp)) / mpmath.mpf(tp))
        expected = float(loss / (loss + gain))
    assert best.breakpoints.tolist() == pytest.approx([expected], abs=0, rel=1e-14)


def test_intervals_are_cut_to_a_range_and_none_is_empty() -> None:
    best = Envelope(np.array([2, 5, 7, 9]), np.array([0.25, 0.25, 0.5]), np.array([0.75, 0.75, 0.5]))
    columns = [column.tolist() for column in best.intervals(0.0, 1.0)]
    assert columns == [[2, 7, 9], [0.0, 0.25, 0.5], [0.25, 0.5, 1.0]]
    assert [column.tolist() for column in best.intervals(0.25, 0.5)] == [[7], [0.25], [0.5]]
    assert [column.tolist() for column in best.intervals(0.5, 0.6)] == [[9], [0.5], [0.6]]


def index_rows(tp: list[float], fp: list[float], positives: float) -> IndexRows:
    return IndexRows(np.array(tp, dtype=float), np.array(fp, dtype=float), positives)


@pytest.mark.parametrize("index", RATIONAL)
@pytest.mark.parametrize("size", [20.0, 1e6, LARGEST, 0.0])
def test_values_are_within_a_few_roundings(index: str, size: float) -> None:
    """For whole counts of three sizes, and fractional ones (0); at any lambda, whether 1 - lambda is exact or not."""
    random = np.random.default_rng(12)
    counts = np.ceil(random.random((2, 800)) * size) if size else random.random((2, 800)) ** 3
    positives = size or 1.0
    at = np.concatenate(
        (random.random(300), random.random(300) ** 20, 1 - random.random(150) ** 20, [0, 0.5, 1], np.ones(47))
    )
    values = INDICES[index].value(IndexRows(counts[0], counts[1], positives), at, 1 - at)
    for tp, fp, weight, found_value in zip(*counts.tolist(), at.tolist(), values.tolist(), strict=True):
        exact = value(index, Row(Fraction(tp), Fraction(fp)), Fraction(positives), Fraction(weight))
        assert relative(found_value, exact) <= 1e-15


@pytest.mark.parametrize("index", RATIONAL)
@pytest.mark.parametrize(
    "counts",
    [
        (1.24935976e-316, 2.11227826e-316, 1.0, 1000.0),
        (6e-322, 0.0, 1e-80, 1.0),
        (1e-290, 3e-310, 1e-150, 1e150),
        (1e-3, 5e-324, 1.0, 1e-150),
    ],
)
def test_values_of_the_smallest_counts(index: str, counts: tuple[float, ...]) -> None:
    """Where products of two counts, or of a count and lambda, underflow or lose bits."""
    tp, fp, positives, negatives = counts
    frontier, best = found(([tp, positives], [fp, negatives], positives, negatives), index)
    at = np.array([0.0, 4e-242, 0.25, 0.3993272287551849, 0.5, 0.9, 1.0])
    rows, values = read_off(frontier, INDICES[index], best, at)
    for row, weight, read in zip(rows.tolist(), at.tolist(), values.tolist(), strict=True):
        count = Row(Fraction(float(frontier.table.tp[row])), Fraction(float(frontier.table.fp[row])))
        assert relative(read, value(index, count, Fraction(positives), Fraction(weight))) <= 1e-15


MEANS = {
    "p << r": (1.0, 1e12, 1.0),
    "r << p": (1.0, 0.0, 1e12),
    "p = r": (3.0, 9.0, 12.0),
    "p = r but for 1e-9": (3.0, 9.00000001, 12.0),
    "p = r but for 1e-15": (2.0**51, 2.0**51, 2.0**52 - 3),
    "p = r = 1": (5.0, 0.0, 5.0),
    "ordinary": (3.0, 1.0, 12.0),
}


@pytest.mark.parametrize(("tp", "positives"), [(1e-200, 1e120), (1e-293, 1e16), (5e-324, 1e-150), (1e-300, 1e-300)])
def test_means_where_recall_is_hardly_a_double(tp: float, positives: float) -> None:
    """For a row without false positives, where f is tp/(tp + λ(P - tp)), tp/(tp + 2λ(P - tp)) or tp/P."""
    rows = index_rows([tp], [0.0], positives)
    (f_measure,), (jaccard,) = (
        INDICES[index].mean(rows, between(np.zeros(1), np.ones(1))) for index in ("f_measure", "jaccard")
    )
    with mpmath.workdps(400):
        t, total = mpmath.mpf(tp), mpmath.mpf(positives)
        expected = t * mpmath.log(total / t) / (total - t) if total > t else mpmath.mpf(1)
        assert f_measure == pytest.approx(float(expected), abs=1e-323, rel=1e-13)
        assert jaccard == pytest.approx(float((expected + t / total) / 2), abs=1e-323, rel=1e-13)


@pytest.mark.parametrize(
    ("index", "name", "ends"), some(product(INDICES, MEANS, [(0.0, 1.0), (0.1, 0.3), (0.3, 0.8), (0.6, 0.60001)]), 5)
)
def test_means_are_those_of_a_quadrature(index: str, name: str, ends: tuple[float, float]) -> None:
    tp, fp, positives = MEANS[name]
    row = Row(Fraction(tp), Fraction(fp))
    with mpmath.workdps(30):
        start, end = map(mpmath.mpf, ends)
        # Near a pole just outside [0, 1], f is a smooth function of the logarithm of the distance.
        marks = sorted(
            {
                start,
                end,
                *(
                    x
                    for k in range(15)
                    for x in (mpmath.mpf(10) ** -k, 1 - mpmath.mpf(10) ** -k, 0.5)
                    if start < x < end
                ),
            }
        )
        p, r = mpmath.mpf(tp) / (mpmath.mpf(tp) + mpmath.mpf(fp)), mpmath.mpf(tp) / mpmath.mpf(positives)
        expected = mpmath.quad(lambda at: curve(index, p, r, at), marks) / (end - start)
    assert value(index, row, Fraction(positives), Fraction(0)) == pytest.approx(float(p))
    columns = (np.array([end]) for end in ends)
    assert INDICES[index].mean(index_rows([tp], [fp], positives), between(*columns)) == pytest.approx(
        float(expected), abs=0, rel=1e-13
    )


def curve(index: str, p: mpmath.mpf, r: mpmath.mpf, at: mpmath.mpf) -> mpmath.mpf:
    """f(lambda) from precision and recall."""
    if index == "kulczynski":
        return (1 - at) * p + at * r
    if index == "f_measure":
        return 1 / (at / r + (1 - at) / p)
    if index == "fowlkes_mallows":
        return p ** (1 - at) * r**at
    return 1 / (1 / p + 2 * at * (1 / r - 1)) if at < 0.5 else 1 / (1 / r + 2 * (1 - at) * (1 / p - 1))


@pytest.mark.parametrize(("tp", "positives"), [(1e-170, 1e150), (3e-310, 1.0), (5e-324, 1.0), (5e-324, 1e150)])
def test_a_recall_too_small_for_a_double_has_its_logarithm(tp: float, positives: float) -> None:
    """fowlkes_mallows with precision 1 is exp(l log r), which is a double again for small l."""
    log = float(mpmath.log(mpmath.mpf(tp)) - mpmath.log(mpmath.mpf(positives)))
    rows, index = index_rows([tp], [0.0], positives), INDICES["fowlkes_mallows"]
    for at in (0.0, 0.1, 0.5, 0.7):
        expected = pytest.approx(math.exp(at * log), abs=0, rel=1e-12)
        assert index.value(rows, np.array([at]), np.array([1 - at])) == expected
    assert index.mean(rows, between(np.array([0.0]), np.array([1.0]))) == pytest.approx(-1 / log, abs=0, rel=1e-13)
