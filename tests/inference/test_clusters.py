"""Clustered rows: the formulas against sums over single rows, worked numbers, and the laws that they obey."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.curves.clusters import ClusterCounts, Clusters, numbered_together
from service.curves.decisions import Decision
from service.curves.partial_areas import PartialRange
from service.curves.probability_statistics import ProbabilityStatistics
from service.curves.reliability import ReliabilityOptions
from service.curves.sample import Sample
from service.inference.bootstrap import replicates
from service.inference.cluster_draws import ClusterDraws
from service.inference.clustering import ClassClusters
from service.inference.decision_intervals import score_ends, shares_at
from service.inference.estimates import Estimates
from service.inference.intervals import Interval, IntervalOptions, normal_quantile
from service.inference.metric import PARTIAL, Metric
from service.inference.models import Models
from service.inference.probability_errors import bin_ends
from service.inference.spread import area_error, paired_spread, unpaired_spread
from service.inference.strata import Strata, paired_strata
from tests import reference_bootstrap
from tests import reference_clusters as reference
from tests.inference.made import AREA_STATISTICS, made, strata_of
from tests.support.strategies import Data, examples, plain_weights, samples, tied_scores

START, END = 0.2137, 0.7113
"""No rate of so few rows, where the derivative jumps."""

EXAMPLE = Path(__file__).parent.parent / "data" / "clusters.csv"

AREAS = [
    ("roc", {"metric": "roc"}),
    ("pr", {"metric": "pr"}),
    ("average_precision", {"metric": "average_precision"}),
    *(
        (PartialRange(over, START, END), {"metric": PARTIAL, "over": over, "from": START, "to": END})
        for over in ("fpr", "tpr", "recall")
    ),
]

Clustered = tuple[Data, list[int]]


def sample_of(given_: Clustered) -> Sample:
    return replace(given_[0].sample(), clusters=Clusters.of(given_[1]))


@st.composite
def clustered(draw: st.DrawFn) -> Clustered:
    """A sample with enough clusters, of which one has several rows."""
    data = draw(st.one_of(samples(tied_scores), samples(tied_scores, plain_weights)))
    size = len(data.scores)
    clusters = draw(st.lists(st.integers(0, 7), min_size=size, max_size=size))
    strata = strata_of(sample_of((data, clusters)))
    assume(strata.enough and strata.clustered)
    return data, clusters


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Clustered, Data]:
    """Two samples of the same rows."""
    data, clusters = draw(clustered())
    size = len(data.scores)
    return (data, clusters), replace(data, scores=draw(st.lists(tied_scores, min_size=size, max_size=size)))


def paired(first: Clustered, second: Data) -> Strata:
    both = sample_of(first), sample_of((second, first[1]))
    models = Models.of(*both, paired=True)
    return models.strata


def example() -> dict[str, np.ndarray]:
    with EXAMPLE.open() as stream:
        rows = list(csv.DictReader(stream))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


@pytest.mark.parametrize(("area", "rule"), AREAS)
@examples(60)
@given(clustered())
def test_areas_against_the_moves_of_rows(area: str | PartialRange, rule: dict[str, object], of: Clustered) -> None:
    data, clusters = of
    found, rows = area_error(strata_of(sample_of(of)), area), reference.of_area(data, clusters, rule)
    variance, of_rows = reference.variance(rows), reference.of_rows(rows)
    if of_rows < 1e-24:  # all influences are equal but for rounding
        assert found.error < 1e-12
        return
    alike = variance <= 1e-11 * of_rows
    assert found.error == pytest.approx(float((of_rows if alike else variance) ** 0.5), rel=1e-9, abs=1e-15)
    assert found.units == pytest.approx([float(each) for each in reference.units(rows)], rel=1e-12)
    if alike:
        assert found.design_effect is None
        return
    effect = float(variance / of_rows)
    assert found.design_effect == pytest.approx(effect, rel=1e-9)
    assert found.freedom == pytest.approx(float(reference.least_freedom(rows, effect)), rel=1e-6)
    assert found.trials == pytest.approx([float(each) for each in reference.trials(rows, effect)], rel=1e-9)


@pytest.mark.parametrize(("area", "rule"), AREAS[:4])
@examples(40)
@given(pairs())
def test_pairs_against_the_moves_of_rows(
    area: str | PartialRange, rule: dict[str, object], of: tuple[Clustered, Data]
) -> None:
    (one, clusters), other = of
    spread = paired_spread(paired(*of), area)
    assume(isinstance(area, str) or min(spread.errors) > 0)  # a mean of 0 has an exact interval
    rows = reference.of_difference(one, other, clusters, rule)
    variance, of_rows = reference.variance(rows), reference.of_rows(rows)
    if of_rows == 0 or variance <= 1e-11 * of_rows:
        assert spread.error == pytest.approx(float(of_rows**0.5), rel=1e-9, abs=1e-15)
        return
    effect = float(variance / of_rows)
    assert spread.error == pytest.approx(float(variance**0.5), rel=1e-9)
    assert spread.jump == pytest.approx(float(reference.jump(rows)), rel=1e-9)
    assert spread.design_effect == pytest.approx(effect, rel=1e-9)
    assert spread.fewest == pytest.approx(float(reference.least_freedom(rows, effect)), rel=1e-6)


@pytest.mark.parametrize(("area", "rule"), AREAS[:3])
@examples(40)
@given(clustered(), clustered())
def test_other_rows_of_the_same_clusters(area: str, rule: dict[str, object], one: Clustered, other: Clustered) -> None:
    models = Models.of(sample_of(one), sample_of(other))
    spread = models.spread(area)
    rows, others = (reference.of_area(*each, rule) for each in (one, other))
    variance, of_rows = reference.variance(rows, others), reference.of_rows(rows) + reference.of_rows(others)
    if of_rows == 0 or variance <= 1e-11 * of_rows:
        assert spread.error == pytest.approx(float(of_rows**0.5), rel=1e-9, abs=1e-15)
        return
    assert spread.error == pytest.approx(float(variance**0.5), rel=1e-7)
    assert spread.jump == pytest.approx(float(reference.jump(rows, others)), rel=1e-9, abs=1e-15)
    effect = float(variance / of_rows)
    least = min(float(reference.least_freedom(each, effect)) for each in (rows, others))
    assert spread.fewest == pytest.approx(least, rel=1e-6)


def intervals_of(models: Models, *, difference: bool) -> list[Interval | None]:
    estimates = Estimates(models, IntervalOptions())
    metrics = [
        Metric("roc"),
        Metric("pr"),
        Metric("average_precision"),
        Metric(PARTIAL, part=PartialRange("fpr", 0, 0.5)),
    ]
    return [estimates.interval(metric, 0.95, kept=1.0 if difference else None) for metric in metrics]


@examples(40)
@given(st.one_of(samples(tied_scores), samples(tied_scores, plain_weights)), st.randoms(use_true_random=False))
def test_clusters_of_one_row_change_no_bit(data: Data, random: object) -> None:
    names = list(range(len(data.scores)))
    random.shuffle(names)
    other = replace(data, scores=data.scores[::-1])
    plain, alone = data.sample(), sample_of((data, names))
    assert intervals_of(Models.of(plain), difference=False) == intervals_of(Models.of(alone), difference=False)
    one, two = other.sample(), sample_of((other, names))
    assert intervals_of(Models.of(plain, one, paired=True), difference=True) == intervals_of(
        Models.of(alone, two, paired=True), difference=True
    )
    elsewhere = sample_of((other, [f"other {name}" for name in names]))
    assert intervals_of(Models.of(plain, one), difference=True) == intervals_of(
        Models.of(alone, elsewhere), difference=True
    )


@examples(60)
@given(clustered(), st.randoms(use_true_random=False))
def test_order_of_rows_and_names_of_clusters_leave_no_trace(of: Clustered, random: object) -> None:
    data, clusters = of
    order, names = list(range(len(clusters))), [*"hgfedcba"]
    random.shuffle(order)
    turned = data.rows(order), [clusters[row] for row in order]
    expected = intervals_of(Models.of(sample_of(of)), difference=False)
    assert intervals_of(Models.of(sample_of(turned)), difference=False) == expected
    renamed = replace(data.sample(), clusters=Clusters.of([names[cluster] for cluster in clusters]))
    for found, before in zip(intervals_of(Models.of(renamed), difference=False), expected, strict=True):
        assert (found is None) == (before is None)
        if found is not None and before is not None:
            assert (found.lower, found.upper) == pytest.approx((before.lower, before.upper), rel=1e-9)


@examples(60)
@given(samples(tied_scores).filter(lambda data: strata_of(data.sample()).enough), st.integers(2, 4))
def test_rows_repeated_within_their_cluster_tell_no_more(data: Data, times: int) -> None:
    rows = [row for row in range(len(data.scores)) for _ in range(times)]
    repeated = strata_of(replace(data.rows(rows).sample(), clusters=Clusters.of(rows)))
    once = area_error(strata_of(data.sample()))
    found = area_error(repeated)
    assert found.error == pytest.approx(once.error, rel=1e-12, abs=1e-15)
    assert found.units == pytest.approx(once.units, rel=1e-12)


@examples(40)
@given(clustered(), clustered())
def test_models_without_common_clusters_are_independent(one: Clustered, other: Clustered) -> None:
    apart = other[0], [f"other {cluster}" for cluster in other[1]]
    spread = Models.of(sample_of(one), sample_of(apart)).spread("roc")
    errors = [area_error(strata_of(sample_of(each))) for each in (one, apart)]
    assume(all(each.design_effect for each in errors))
    assert spread.error**2 == pytest.approx(sum(each.error**2 for each in errors), rel=1e-9)
    assert spread.one_minus_correlation == pytest.approx(1, rel=1e-7)


def test_worked_numbers() -> None:
    """40 patients of 5 rows."""
    columns = example()
    labels, clusters = columns["labels"] == 1, Clusters.of(columns["patient"].astype(int).tolist())
    counted = ClusterCounts.of(clusters, labels, None)
    assert (counted.count, counted.with_positives, counted.with_negatives, counted.largest) == (40, 20, 20, 5)
    sample, candidate = (Sample(columns[name], labels, clusters=clusters) for name in ("scores", "candidate"))
    roc = Metric("roc")
    alone = Estimates(Models.of(sample), IntervalOptions()).interval(roc, 0.95)
    assert alone is not None
    assert (alone.lower, alone.upper) == pytest.approx((0.786410, 0.937726), abs=5e-7)
    assert (alone.standard_error, alone.design_effect) == pytest.approx((0.035260, 2.374), abs=5e-4)
    for paired_ in (True, False):  # the same rows of the same clusters are the same pairs
        both = Estimates(Models.of(candidate, sample, paired=paired_), IntervalOptions())
        difference = both.interval(roc, 0.95, kept=1.0)
        assert difference is not None
        assert (difference.lower, difference.upper) == pytest.approx((-0.0997, 0.0569), abs=5e-5)
    ignored = Estimates(Models.of(replace(sample, clusters=None)), IntervalOptions()).interval(roc, 0.95)
    assert ignored is not None
    assert (ignored.lower, ignored.upper) == pytest.approx((0.828914, 0.919634), abs=5e-7)


def test_effective_clusters_by_hand() -> None:
    classes = ClassClusters.of(np.array([0, 0, 1, 2]), np.array([4.0, 5.0, 3.0, 3.0]), 15.0)
    assert classes.effective == pytest.approx(225 / 99)
    assert classes.freedom(1.0) == pytest.approx(225 / 99)
    assert classes.freedom(1e9) == pytest.approx(99**2 / (81**2 + 2 * 9**2))
    assert (classes.trials(1.0), classes.trials(3.0), classes.trials(100.0)) == (15.0, 5.0, classes.effective)
    equal = ClassClusters.of(np.array([0, 1, 2]), np.full(3, 5.0), 15.0)
    assert [equal.freedom(effect) for effect in (1.0, 2.0, 5.0)] == pytest.approx([3, 3, 3])
    lonely = ClassClusters.of(np.array([0, 1]), np.array([1e9, 1.0]), 1e9)
    assert lonely.freedom(5.0) == 1.25


def test_values_of_two_columns_are_numbered_together() -> None:
    one, other = numbered_together([Clusters.of(["b", "a", "b"]), Clusters.of(["c", "b"])])
    assert (one.numbers.tolist(), other.numbers.tolist()) == ([1, 0, 1], [2, 1])
    one, other = numbered_together([Clusters.of([12, 7]), Clusters.of(["7", "012"])])
    assert (one.numbers.tolist(), other.numbers.tolist()) == ([1, 2], [2, 0])
    one, other = numbered_together([Clusters.of([True, False]), Clusters.of(["true"])])
    assert (one.numbers.tolist(), other.numbers.tolist()) == ([1, 0], [1])


def test_rows_without_weight_are_in_no_cluster() -> None:
    sample = made(40, weights=True)
    weights = sample.weights.copy()
    weights[20:] = 0
    numbers = [*range(20), *range(20)]
    with_clusters = Sample(sample.scores, sample.labels, weights, clusters=Clusters.of(numbers))
    assert strata_of(with_clusters).clustered is None
    counted = ClusterCounts.of(with_clusters.clusters, sample.labels, weights)
    assert (counted.count, counted.largest) == (20, 1)


def test_a_baseline_without_clusters_or_of_counts() -> None:
    sample = made(60)
    clusters = Clusters.of([row // 3 for row in range(60)])
    first, second = replace(sample, clusters=clusters), made(60, seed=1)
    other = replace(second, scores=np.roll(second.scores, 1))
    pair = Models.of(first, other, paired=True)
    both = Models.of(first, replace(other, clusters=clusters), paired=True)
    assert intervals_of(pair, difference=True) == intervals_of(both, difference=True)
    apart = Models.of(first, other).spread("roc")
    errors = [area_error(strata_of(each)).error for each in (first, other)]
    assert apart.error == pytest.approx(np.hypot(*errors))
    assert unpaired_spread(strata_of(first), strata_of(other)) == apart


def test_z_is_widened_for_clusters_only() -> None:
    assert reference.widened(normal_quantile(0.95), 20) > normal_quantile(0.95)
    strata = paired_strata((made(30), made(30)), tuple(strata_of(made(30)).tables) * 2)
    assert strata.clustered is None


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("constant", [False, True])
def test_resamples_of_clusters_one_by_one(*, weights: bool, constant: bool) -> None:
    sample = made(36, levels=2, weights=weights)
    order = np.argsort(sample.labels, kind="stable")
    numbers = np.empty(36, np.int64)
    numbers[order if constant else np.arange(36)] = np.arange(36) // 3
    strata = strata_of(replace(sample, clusters=Clusters.of(numbers.tolist())))
    found = replicates(strata, AREA_STATISTICS, 5, 7)
    draws_of = ClusterDraws(strata, 7, 0)
    counts = draws_of.counts(5)
    for resample in range(5):
        both = []
        for stratum, of_class in zip(strata.classes, counts, strict=True):
            weight = np.ones(stratum.examples.size) if stratum.weights is None else stratum.weights
            times = of_class[resample] / stratum.examples
            of_clusters = {g: set(times[stratum.of_kinds == g].round(12)) for g in set(stratum.of_kinds.tolist())}
            assert all(len(each) == 1 for each in of_clusters.values())  # a cluster is drawn whole
            masses = of_class[resample] * weight
            assert masses.sum() == pytest.approx(stratum.masses.sum())
            both.append(
                [(int(row), float(mass)) for row, mass in zip(stratum.rows[0], masses, strict=True) if mass > 0]
            )
        expected = reference_bootstrap.areas(*both)
        for name in AREA_STATISTICS:
            assert found[name][0, resample] == pytest.approx(expected[name], rel=1e-9)


def test_clusters_of_each_kind_are_drawn_as_often_as_there_are() -> None:
    columns = example()
    labels, patients = columns["labels"] == 1, columns["patient"].astype(int).tolist()
    strata = strata_of(Sample(columns["scores"], labels, clusters=Clusters.of(patients)))
    counts = ClusterDraws(strata, 3, 0).counts(200)
    for each, stratum in zip(counts, strata.classes, strict=True):
        drawn = np.stack([np.bincount(stratum.of_kinds, row)[np.unique(stratum.of_kinds)] / 5 for row in each])
        assert drawn.sum(axis=1) == pytest.approx(20)
        assert drawn.mean() == pytest.approx(1)
        assert drawn.var() == pytest.approx(1, rel=0.1)  # of 20 multinomial counts, 0.95


def test_proportions_against_sums_over_clusters() -> None:
    random = np.random.default_rng(5)
    for weights in (False, True):
        sample = made(80, levels=4, weights=weights)
        with_clusters = replace(sample, clusters=Clusters.of((np.arange(80) // 4).tolist()))
        model = Models.of(with_clusters).models[0]
        rows = np.sort(random.integers(0, model.table.tp.size, 6))
        together = model.shares_of_rows(rows)
        for place, row in enumerate(rows.tolist()):
            deviations = []
            of_row = model.shares_at(row)
            for number, (share, stratum) in enumerate(zip(of_row.shares, model.strata.classes, strict=True)):
                called = (stratum.rows[0] <= row).astype(float)
                clusters, masses = stratum.of_kinds.tolist(), stratum.masses.tolist()
                size = stratum.effective_size(called)
                trials = reference.share_trials(called.tolist(), masses, clusters, size)
                assert share.trials == pytest.approx(trials, rel=1e-9)
                by_cluster = [stratum.masses[stratum.of_kinds == g].sum() for g in set(clusters)]
                freedom = reference.freedom(by_cluster, stratum.effective, size / trials)
                assert share.freedom == pytest.approx(float(freedom), rel=1e-6)
                assert share.design_effect == pytest.approx(size / trials)
                assert together[3 * number : 3 * number + 3, place] == pytest.approx(
                    [share.value, share.trials, share.freedom], rel=1e-9
                )
                apart = stratum.masses * (called - share.value) / stratum.masses.sum()
                deviations.append(np.bincount(stratum.of_kinds, apart, 20))
            scale = np.sqrt((deviations[0] @ deviations[0]) * (deviations[1] @ deviations[1]))
            rho = float(np.clip(deviations[0] @ deviations[1] / scale, -0.95, 0.95)) if scale > 1e-12 else 0.0
            assert of_row.correlation == pytest.approx(rho, abs=1e-9)
            assert together[6, place] == pytest.approx(rho, abs=1e-9)


@examples(60)
@given(clustered())
def test_rates_at_a_row_are_those_of_many_rows(of: Clustered) -> None:
    """Decisions compute many rows at once, gates one after another."""
    model = Models.of(sample_of(of)).models[0]
    decisions = [Decision(at_threshold=cut) for cut in (0.1, 0.5, 0.9)]
    names = ("recall", "fpr", "precision", "accuracy", "f1")
    rows = [model.row(Metric("recall", decision=decision)) for decision in decisions]
    values = {
        name: np.array([model.value(Metric(name, decision=each)) for each in decisions], np.float64) for name in names
    }
    totals = (np.full(3, total) for total in (model.table.positives, model.table.negatives))
    together = score_ends(values, shares_at(model, rows), *totals, level=0.95)
    estimates = Estimates(Models((model,)), IntervalOptions())
    for name in names:
        for place, decision in enumerate(decisions):
            interval = estimates.interval(Metric(name, decision=decision), 0.95)
            ends = together[name][:, place]
            if interval is None:
                assert np.isnan(ends).all()
            else:
                assert ends == pytest.approx([interval.lower, interval.upper], rel=1e-12, abs=1e-12)
                assert (interval.design_effect is not None) == (name in {"recall", "fpr"})


def test_clusters_widen_what_they_make_less_certain() -> None:
    """Each row four times in its cluster: intervals are about those of the rows once, not of four times the rows."""
    once = made(120, levels=8)
    rows = np.repeat(np.arange(120), 4)
    four = Sample(once.scores[rows], once.labels[rows], clusters=Clusters.of(rows.tolist()))
    decision = Decision(at_threshold=0.5)
    metrics = [
        *(Metric(name, decision=decision) for name in ("recall", "fpr", "precision", "mcc")),
        *(Metric("tpr_at_fpr", 0.2), Metric("precision_at_recall", 0.7)),
    ]
    widths = []
    for sample in (once, four, replace(four, clusters=None)):
        estimates = Estimates(Models.of(sample), IntervalOptions())
        found = [estimates.interval(metric, 0.95) for metric in metrics]
        widths.append([each.upper - each.lower for each in found if each is not None])
    assert all(1 <= ours / single < 1.2 for single, ours in zip(*widths[:2], strict=True))
    assert all(1.7 < single / ignored < 2.6 for single, _, ignored in zip(*widths, strict=True))


def test_paired_rates_of_clusters() -> None:
    once, other = made(120, levels=8), made(120, levels=8, seed=4)
    other = replace(other, labels=once.labels)
    rows = np.repeat(np.arange(120), 4)
    decision = Decision(at_threshold=0.5)
    results = []
    for clusters in (None, Clusters.of(rows.tolist())):
        chosen = np.arange(120) if clusters is None else rows
        both = (Sample(each.scores[chosen], each.labels[chosen], clusters=clusters) for each in (once, other))
        estimates = Estimates(Models.of(*both, paired=True), IntervalOptions())
        for name in ("recall", "precision"):
            metric = Metric(name, decision=decision)
            interval = estimates.interval(metric, 0.95, kept=1.0)
            assert interval is not None
            results.append((interval.upper - interval.lower, estimates.p_value(metric)))
            # The p-value is that of the interval.
            p_value = estimates.p_value(metric)
            assert p_value is not None
            at_p = estimates.interval(metric, 1 - p_value, kept=1.0)
            assert at_p is not None
            assert min(abs(at_p.lower), abs(at_p.upper)) < 1e-6
    for (single, p_of_single), (ours, p_of_ours) in zip(results[:2], results[2:], strict=True):
        assert 1 <= ours / single < 1.2
        assert p_of_single <= p_of_ours < p_of_single + 0.05


def test_losses_and_calibration_of_clusters() -> None:
    """Rows repeated within their cluster tell no more about probabilities either."""
    random = np.random.default_rng(1)
    scores = random.uniform(0.05, 0.95, 150).round(2)
    labels = random.random(150) < scores
    rows = np.repeat(np.arange(150), 3)
    for name in ("brier", "log_loss", "calibration_slope", "calibration_intercept"):
        errors = []
        for sample in (
            Sample(scores, labels, np.ones(150)),
            Sample(scores[rows], labels[rows], clusters=Clusters.of(rows.tolist())),
        ):
            found = Models.of(sample).models[0].error_of(Metric(name))
            assert found is not None
            errors.append(found)
        assert errors[1].error == pytest.approx(errors[0].error, rel=0.02)
        assert errors[1].certainty.design_effect == pytest.approx(3, rel=0.05)
        assert errors[1].certainty.freedom < np.inf == errors[0].certainty.freedom


def test_few_clusters_are_told_and_fewer_have_no_interval() -> None:
    columns = example()
    labels = columns["labels"] == 1

    def warned(clusters: np.ndarray) -> list[str]:
        estimates = Estimates(
            Models.of(Sample(columns["scores"], labels, clusters=Clusters.of(clusters.tolist()))), IntervalOptions()
        )
        found = estimates.interval(Metric("roc"), 0.95)
        return [str(found is not None), *(warning.code for warning in estimates.warnings)]

    patients = columns["patient"].astype(int)
    assert warned(patients) == ["True"]
    assert warned(patients // 4) == ["True", "few_clusters", "few_clusters"]
    assert warned(labels.astype(int)) == ["False", "too_few_examples"]


def test_bins_of_clusters() -> None:
    random = np.random.default_rng(8)
    scores = random.random(200).round(2)
    labels = random.random(200) < scores
    rows = np.repeat(np.arange(200), 4)
    clusters = Clusters.of(rows.tolist())
    widths = []
    for sample in (
        Sample(scores, labels),
        Sample(scores[rows], labels[rows], clusters=clusters),
        Sample(scores[rows], labels[rows]),
    ):
        model = Models.of(sample).models[0]
        found = ProbabilityStatistics.of(model.table, ReliabilityOptions(5))
        assert found is not None
        lower, upper = bin_ends(found, model.strata, 0.95)
        widths.append(upper - lower)
    assert (widths[1] > widths[0]).all()
    assert (widths[1] < 1.2 * widths[0]).all()
    assert (widths[2] < 0.7 * widths[0]).all()
