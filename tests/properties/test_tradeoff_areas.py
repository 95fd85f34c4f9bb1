"""The mean of the optimal trade-off curve, over any range and under any Beta density, against slow integration.

A plain mean is a closed form: within a relative 1e-12 of 60 digits. A mean under a density is within a relative 1e-10;
what was seen is 6e-13, most of it the reference's own. The reference integrates its own exact envelope. Many rows at
once are held to the laws of an envelope alone.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from service.curves.counts import Counts
from service.curves.density import BetaDensity
from service.curves.tradeoff import TradeoffOptions, evaluate_tradeoffs
from tests import reference_tradeoff
from tests.properties.tradeoff_agreement import SOURCES, asked, ranges, reported, rows_of
from tests.reference import Row
from tests.reference_pr import mp
from tests.reference_tradeoff import INDICES, Interval, relative
from tests.support.sampling import some
from tests.support.strategies import Data, Rows, classifiers, evaluation_of, examples, samples, sweeps

PLAIN = 1e-12
WEIGHTED = 1e-10

shapes = st.one_of(st.sampled_from([0.01, 0.5, 1.0, 2.0, 30.0, 1000.0]), st.floats(0.01, 1000.0))
densities = st.builds(BetaDensity, shapes, shapes)


def areas(source: Data | Rows, options: TradeoffOptions | None = None) -> dict[str, float]:
    """The area of each index."""
    found = evaluate_tradeoffs(evaluation_of(source), options).tradeoffs
    return {index: tradeoff.area for index, tradeoff in found.items()}


def means_are_the_references(source: Data | Rows, options: TradeoffOptions) -> None:
    """Compare the mean of each index under a density with the reference's integral."""
    assert options.lambda_density is not None
    table, pairs = reported(evaluation_of(source))
    rows = rows_of(table, pairs, options)
    for index, area in areas(source, options).items():
        envelope = reference_tradeoff.envelope(index, rows, table.positives, *options.lambda_range)
        density = options.lambda_density
        exact = reference_tradeoff.beta_mean(index, envelope, table.positives, density.a, density.b)
        assert math.isclose(area, exact, rel_tol=WEIGHTED), index


@pytest.mark.parametrize("source", SOURCES)
@examples(60, fewest=4)
@given(st.data())
def test_an_area_is_the_mean_of_the_envelope(source: str, data: st.DataObject) -> None:
    """'The mean of the envelope over lambda_range (in closed form)': 1e-12, relative."""
    drawn = data.draw(SOURCES[source])
    table, pairs = reported(evaluation_of(drawn))
    options = data.draw(asked(pairs))
    rows = rows_of(table, pairs, options)
    assume(rows)
    for index, area in areas(drawn, options).items():
        envelope = reference_tradeoff.envelope(index, rows, table.positives, *options.lambda_range)
        assert relative(area, reference_tradeoff.mean(index, envelope, table.positives)) <= PLAIN, index


@pytest.mark.parametrize("source", SOURCES)
@examples(12, fewest=2)
@given(st.data())
def test_an_area_under_a_density_is_the_mean_of_the_envelope(source: str, data: st.DataObject) -> None:
    """'Or its mean under a Beta(a, b) density renormalised there': 1e-10, relative."""
    options = TradeoffOptions(lambda_range=data.draw(ranges()), lambda_density=data.draw(densities))
    means_are_the_references(data.draw(SOURCES[source]), options)


HARD = {
    # The shapes a and b, and the range of lambda.
    "both ends singular": (0.01, 0.01, (0.0, 1.0)),
    "singular at 0": (0.01, 1000.0, (0.0, 1.0)),
    "singular at 1": (1000.0, 0.01, (0.0, 1.0)),
    "singular at 0, away from 0": (0.01, 1.0, (1e-300, 1.0)),
    "singular at 1, up to the last double": (1.0, 0.01, (0.0, math.nextafter(1.0, 0.0))),
    "a peak": (1000.0, 1000.0, (0.0, 1.0)),
    "a peak at one end of the range": (1000.0, 1000.0, (0.5, 1.0)),
    "below a peak, where the density underflows": (1000.0, 1.0, (0.0, 0.1)),
    "far below a peak": (1000.0, 1000.0, (0.0, 1e-5)),
    "the same at the other end": (1.0, 1000.0, (0.9, 1.0)),
    "far above a peak": (1000.0, 1000.0, (0.99999, 1.0)),
    "between": (1000.0, 1000.0, (0.9, 0.95)),
    "on one double": (0.01, 1000.0, (0.3, math.nextafter(0.3, 1.0))),
    "on the first double": (0.01, 0.5, (0.0, 5e-324)),
    "uniform": (1.0, 1.0, (0.0, 1.0)),
}
NEXT_TO_NOTHING = Rows([5e-324], [0.0], 1e-150, 1.0)
WIDE = Rows([1e-9, 10, 45, 63, 81], [0, 0, 5, 27, 81], 90, 1e6)


@pytest.mark.parametrize(
    ("rows", "name"), some(product([Rows([], [], 1e-150, 1e150), Rows([1], [1], 3, 2**53), WIDE], HARD), 7), ids=str
)
def test_densities_with_poles_and_peaks_have_the_references_means(rows: Rows, name: str) -> None:
    """Densities that are singular at an end, or have almost no mass in the range."""
    a, b, asked_for = HARD[name]
    options = TradeoffOptions(lambda_range=asked_for, lambda_density=BetaDensity(a, b))
    means_are_the_references(rows, options)


@pytest.mark.parametrize(("a", "b"), some([(0.015, 0.015), (1.0, 0.015), (1.0, 1.0), (1000.0, 0.5)], 4))
def test_a_recall_next_to_nothing_has_the_references_mean(a: float, b: float) -> None:
    """One row whose recall is 5e-174, beside which counts are not doubles with all their bits."""
    options = TradeoffOptions(min_precision=0.6, lambda_density=BetaDensity(a, b))
    means_are_the_references(NEXT_TO_NOTHING, options)


@pytest.mark.parametrize("asked_for", [(0.0, 5e-324), (1e-320, 1e-310), (1e-300, 1e-300 * (1 + 2**-52)), (0.0, 1e-200)])
@pytest.mark.parametrize("density", [None, BetaDensity(1.0, 1.0), BetaDensity(0.01, 1000.0)])
def test_ranges_next_to_nothing(asked_for: tuple[float, float], density: BetaDensity | None) -> None:
    """A mean is a mean however short the range: here the whole range is close to 0, where f is the precision."""
    options = TradeoffOptions(lambda_range=asked_for, lambda_density=density)
    assert areas(Rows([45], [5], 90, 1000), options) == pytest.approx(dict.fromkeys(INDICES, 0.9), rel=WEIGHTED)


@examples(40)
@given(st.one_of(samples(), classifiers()), ranges())
@example(WIDE, (0.0, 1.0))
def test_beta_1_1_is_the_plain_mean(source: Data | Rows, asked_for: tuple[float, float]) -> None:
    """The uniform density changes nothing."""
    uniform = areas(source, TradeoffOptions(lambda_range=asked_for, lambda_density=BetaDensity(1.0, 1.0)))
    assert uniform == pytest.approx(areas(source, TradeoffOptions(lambda_range=asked_for)), rel=WEIGHTED)


@examples(40)
@given(st.one_of(samples(), sweeps()), st.floats(0.01, 0.99))
def test_ranges_add_up(source: Data | Rows, cut: float) -> None:
    """The mean over two neighbouring ranges is the mean of their means, weighted by length."""
    whole = areas(source)
    low, high = (areas(source, TradeoffOptions(lambda_range=part)) for part in ((0.0, cut), (cut, 1.0)))
    assert {i: cut * low[i] + (1 - cut) * high[i] for i in INDICES} == pytest.approx(whole, rel=3 * PLAIN)


@examples(60)
@given(st.one_of(samples(), classifiers(), sweeps()), ranges(), st.one_of(st.none(), densities))
def test_indices_in_their_order(
    source: Data | Rows, asked_for: tuple[float, float], density: BetaDensity | None
) -> None:
    """The weighted arithmetic mean is at least the geometric, that at least the harmonic, and that at least Jaccard's.

    'The domain of application of Kulczynski is much smaller than the others': they punish unequal ends (section 4.1).
    """
    found = areas(source, TradeoffOptions(lambda_range=asked_for, lambda_density=density))
    values = [found[index] for index in ("jaccard", "f_measure", "fowlkes_mallows", "kulczynski")]
    slack = 1 + (PLAIN if density is None else WEIGHTED)
    assert values[0] <= values[1] * slack
    assert values[1] <= values[2] * slack
    assert values[2] <= values[3] * slack
    assert 0 < values[0] <= 1
    assert values[3] <= 1


@examples(60)
@given(st.one_of(samples(), classifiers()), ranges(), st.one_of(st.none(), densities), st.data())
def test_bounds_never_raise_an_area(
    source: Data | Rows, asked_for: tuple[float, float], density: BetaDensity | None, data: st.DataObject
) -> None:
    """With fewer rows, the envelope is lower."""
    table, pairs = reported(evaluation_of(source))
    bounds = data.draw(asked(pairs))
    free = TradeoffOptions(lambda_range=asked_for, lambda_density=density)
    bound = TradeoffOptions(
        min_precision=bounds.min_precision,
        min_recall=bounds.min_recall,
        lambda_range=asked_for,
        lambda_density=density,
    )
    assume(rows_of(table, pairs, bound))
    most = areas(source, free)
    slack = 1 + (PLAIN if density is None else WEIGHTED)
    assert all(area <= most[index] * slack for index, area in areas(source, bound).items())


@pytest.mark.parametrize(("positives", "negatives"), [(1, 1), (20, 2000), (2**53, 2**53), (1e-150, 1e150)])
@pytest.mark.parametrize("density", [None, BetaDensity(0.01, 1000.0), BetaDensity(1000.0, 0.01)])
def test_a_perfect_ranking_has_area_one(positives: float, negatives: float, density: BetaDensity | None) -> None:
    """'The perfect group is the line f = 1' (H&N section 4.1)."""
    options = TradeoffOptions(lambda_density=density)
    assert areas(Rows([positives], [0], positives, negatives), options) == dict.fromkeys(INDICES, 1.0)


SINGLE = [(90, 1000), (1, 1), (7, 2**53), (2**53, 7), (3, 1e-9)]


SHAPES = [(1, 1), (0.01, 0.01), (0.5, 30), (1000, 1000), (1000, 0.01), (2.5, 0.7)]


@pytest.mark.parametrize(("counts", "shapes"), some(product(SINGLE, SHAPES), 5))
def test_one_row_has_a_closed_form(counts: tuple[float, float], shapes: tuple[float, float]) -> None:
    """The all-positive row alone, over the whole range: recall 1 and p = P/(P + N). The means are known functions.

    kulczynski p + (1 - p) a/(a + b); fowlkes_mallows Kummer's p 1F1(a; a + b; -log p), and f_measure Gauss's
    p 2F1(1, a; a + b; 1 - p), their integrals of Euler's kind. This is a check of the reference too.
    """
    (positives, negatives), (a, b) = counts, shapes
    found = areas(Rows([], [], positives, negatives), TradeoffOptions(lambda_density=BetaDensity(a, b)))
    row = Row(Fraction(positives), Fraction(negatives))
    whole = [Interval(Fraction(0), Fraction(1), row)]
    with mpmath.workdps(60):
        p = mp(row.tp / (row.tp + row.fp))
        total = mpmath.mpf(a) + b
        expected = {
            "kulczynski": p + (1 - p) * a / total,
            "f_measure": mpmath.hyp2f1(1, b, total, 1 - 1 / p) if 2 * p > 1 else p * mpmath.hyp2f1(1, a, total, 1 - p),
            "fowlkes_mallows": p * mpmath.hyp1f1(a, total, -mpmath.log(p)),
        }
    for index, exact in expected.items():
        assert relative(found[index], exact) <= WEIGHTED
        assert relative(reference_tradeoff.beta_mean(index, whole, row.tp, a, b), exact) <= 1e-13


@pytest.mark.all
@pytest.mark.parametrize("index", INDICES)
def test_reference_agrees_with_numerical_integration(index: str) -> None:
    """The reference's closed form and its means under a density against quadrature of f itself, in 60 digits."""
    table = Rows([10, 45, 63, 81], [0, 5, 27, 81], 90, 1000).table()
    rows = reference_tradeoff.taking_part(table, 0.0, 0.0)
    envelope = reference_tradeoff.envelope(index, rows, table.positives, 0.1, 0.95)
    with mpmath.workdps(60):
        ends = [piece.start for piece in reference_tradeoff.pieces(index, envelope)] + [envelope[-1].end]
        ends = [reference_tradeoff.number(end) for end in ends]

        def f(at: mpmath.mpf) -> mpmath.mpf:
            exact = at if index == "fowlkes_mallows" else Fraction(int(at * 2**200), 2**200)
            return reference_tradeoff.number(reference_tradeoff.best_value(index, rows, table.positives, exact))

        def weight(at: mpmath.mpf) -> mpmath.mpf:
            return at ** mpmath.mpf("1.5") * (1 - at) ** mpmath.mpf("-0.75")

        plain = mpmath.quad(f, ends, maxdegree=5) / (ends[-1] - ends[0])
        total = mpmath.quad(weight, ends, maxdegree=5)
        weighted = mpmath.quad(lambda at: f(at) * weight(at), ends, maxdegree=5) / total
    assert relative(float(plain), reference_tradeoff.mean(index, envelope, table.positives)) <= 1e-15
    assert relative(reference_tradeoff.beta_mean(index, envelope, table.positives, 2.5, 0.25), weighted) <= 1e-13


def concave(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Fractional counts of which every row is a vertex of the ROC hull: tp = (2 k n - k^2)/3 at fp = k."""
    k = np.arange(1.0, size)
    return np.append((2 * k * size - k * k) / 3, size * size / 3), np.append(k, 2.0 * size)


def many_rows(kind: str, size: int) -> Counts:
    """A table of this many rows."""
    if kind == "concave":
        tp, fp = concave(size)
        return Counts(tp, fp, float(tp[-1]), float(fp[-1]))
    random = np.random.default_rng(23)
    labels = random.random(size) < 0.3
    labels = labels[np.argsort(-(random.normal(size=labels.size) + labels))]
    weights = random.choice([1.0] if kind == "whole" else [0.1, 0.2, 0.7], size=labels.size)
    tp, fp = np.cumsum(np.where(labels, weights, 0.0)), np.cumsum(np.where(labels, 0.0, weights))
    return Counts(tp, fp, float(tp[-1]), float(fp[-1]))


def f_of(index: str, counts: Counts, tp: np.ndarray, fp: np.ndarray, at: np.ndarray) -> np.ndarray:
    """f in doubles, from the counts: each formula with numerator and denominator times (tp + fp)/p."""
    called, total = tp + fp, counts.positives
    if index == "kulczynski":
        return np.asarray((1 - at) * tp / called + at * tp / total)
    if index == "f_measure":
        return np.asarray(tp / (at * total + (1 - at) * called))
    if index == "fowlkes_mallows":
        return np.asarray(np.exp(np.log(tp) - (1 - at) * np.log(called) - at * np.log(total)))
    early = called + 2 * at * (total - tp)
    return np.asarray(tp / np.where(at <= 0.5, early, total + 2 * (1 - at) * fp))


@pytest.mark.parametrize("kind", ["whole", "weighted", "concave"])
def test_the_envelope_of_many_rows_is_continuous_and_above_all_rows(kind: str, *, runs_all: bool) -> None:
    """The laws of an envelope on many rows: neighbours meet at their breakpoint, and nothing is above at any lambda.

    The area is the sum of the intervals' integrals by Gauss and Legendre, who are exact on panels this short.
    """
    counts = many_rows(kind, size := 100_000 if runs_all else 20_000)
    evenly = np.linspace(0.0, 1.0, 41)
    for index, tradeoff in evaluate_tradeoffs(counts, TradeoffOptions(at_lambda=evenly)).tradeoffs.items():
        best = tradeoff.optimal
        assert best.tp.size == size if kind == "concave" else 5 < best.tp.size < 200
        assert (best.lambda_from[0], best.lambda_to[-1]) == (0.0, 1.0)
        np.testing.assert_array_equal(best.lambda_from[1:], best.lambda_to[:-1])
        assert (best.lambda_from < best.lambda_to).all()
        assert (np.diff(best.recall) > 0).all()
        assert (np.diff(best.fp) > 0).all()
        low, high = f_of(index, counts, best.tp, best.fp, best.lambda_from), best.lambda_to
        before = f_of(index, counts, best.tp[:-1], best.fp[:-1], high[:-1])
        np.testing.assert_allclose(low[1:], before, rtol=1e-12, atol=0)
        assert tradeoff.at is not None
        for at, read in zip(evenly, tradeoff.at.value, strict=True):
            assert f_of(index, counts, counts.tp[counts.tp > 0], counts.fp[counts.tp > 0], at).max() == pytest.approx(
                read, rel=1e-13
            )
        nodes, weights = np.polynomial.legendre.leggauss(20)
        cuts = np.unique(np.concatenate((best.lambda_from, [0.5, 1.0])))
        owner = np.searchsorted(best.lambda_from, cuts[:-1], side="right") - 1
        at = cuts[:-1, None] + np.diff(cuts)[:, None] * (nodes + 1) / 2
        values = f_of(index, counts, best.tp[owner, None], best.fp[owner, None], at)
        assert tradeoff.area == pytest.approx((values @ weights / 2) @ np.diff(cuts), rel=1e-11)
