"""What intervals over slices are made of: exact ends, the range of normals, adjusted intervals and gaps."""

from itertools import permutations
from math import erf, hypot, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, norm, studentized_range

from service.curves.decisions import Decision
from service.curves.sample import Sample
from service.inference.adjusted import adjusted_interval
from service.inference.exact_proportions import exact_ends
from service.inference.gaps import gap_interval
from service.inference.gate import evaluate_gate
from service.inference.methods import closed_interval
from service.inference.metric import Metric
from service.inference.models import EvaluatedModel, Models
from service.inference.proportions import Share
from service.inference.ranges import range_probability, range_quantile
from service.inference.rules import Rule
from service.inference.sliced import RowsInSlices, Slicing
from service.inference.verdicts import GateOptions

Z = np.array([-4.5, -1.959964, -0.1, 0.0, 0.1, 1.959964, 4.5])


class TestExactEnds:
    @given(st.floats(1.5, 5000), st.sampled_from([0.0, 1.0]) | st.floats(1e-6, 1 - 1e-6))
    def test_they_are_the_quantiles_of_beta_distributions(self, trials: float, value: float) -> None:
        hits, misses, tails = value * trials, (1 - value) * trials, norm.sf(np.abs(Z))
        lower = beta.ppf(tails, hits, misses + 1) if hits > 0 else np.zeros(Z.size)
        upper = beta.isf(tails, hits + 1, misses) if misses > 0 else np.ones(Z.size)
        expected = np.where(Z < 0, np.minimum(lower, value), np.maximum(upper, value))
        assert exact_ends(Share(value, trials), Z) == pytest.approx(expected, abs=1e-9)

    def test_nothing_of_ten(self) -> None:
        """The upper end is 1 - (α/2)^(1/10)."""
        assert exact_ends(Share(0.0, 10.0), Z[[5]])[0] == pytest.approx(1 - 0.025**0.1, abs=1e-6)
        assert exact_ends(Share(0.0, 10.0), Z[[1]])[0] == 0
        assert exact_ends(Share(1.0, 10.0), Z[[1]])[0] == pytest.approx(0.025**0.1, abs=1e-6)

    def test_many_trials(self) -> None:
        found = exact_ends(Share(0.3, 1e6), np.array([-4.0, 4.0]))
        assert found == pytest.approx([beta.ppf(norm.sf(4), 3e5, 7e5 + 1), beta.isf(norm.sf(4), 3e5 + 1, 7e5)])


class TestRanges:
    @pytest.mark.parametrize(
        ("count", "expected"), [(2, 2.2414), (3, 2.6038), (5, 2.9677), (10, 3.3828), (50, 4.1782), (500, 5.1105)]
    )
    def test_the_quantiles_of_the_page_of_tukey(self, count: int, expected: float) -> None:
        assert range_quantile(0.95, count) / sqrt(2) == pytest.approx(expected, abs=5e-5)

    @pytest.mark.parametrize("count", [2, 4, 20])
    def test_scipy_has_the_same(self, count: int) -> None:
        assert range_probability(3.0, count) == pytest.approx(studentized_range.cdf(3.0, count, np.inf), abs=1e-7)

    def test_two_normals(self) -> None:
        """Their distance is that of one normal with variance 2."""
        assert range_probability(1.0, 2) == pytest.approx(erf(1 / 2))


def models(count: int, seed: int, rows: int = 60) -> list[EvaluatedModel]:
    random = np.random.default_rng(seed)
    labels = np.arange(rows) < rows // 2
    return [EvaluatedModel.of(Sample(random.standard_normal(rows) + labels, labels)) for _ in range(count)]


class TestAdjusted:
    def test_the_area_has_a_wider_z(self) -> None:
        """Logit A ± z(m) SE/(A (1 - A)), written out."""
        (model,) = models(1, 3)
        value, metric, level = model.value(Metric("roc")), Metric("roc"), 1 - 0.05 / 40
        assert value is not None
        found = adjusted_interval(Models((model,)), metric, [value], level, "logit")
        z = norm.isf((1 - level) / 2)
        z += (z**3 + z) / (4 * (30 - 1))
        at, reach = log(value / (1 - value)), z * model.area_error("roc").error / (value * (1 - value))
        assert found is not None
        assert found.upper == pytest.approx(1 / (1 + np.exp(-at - reach)))
        assert found.lower == pytest.approx(1 / (1 + np.exp(-at + reach)))

    def test_recall_is_clopper_and_pearson(self) -> None:
        (model,) = models(1, 4)
        metric = Metric("recall", decision=Decision(at_threshold=0.5))
        value = model.value(metric)
        assert value is not None
        found = adjusted_interval(Models((model,)), metric, [value], 0.999, "auto")
        hits = round(30 * value)
        assert found is not None
        assert found.lower == pytest.approx(beta.ppf(0.0005, hits, 31 - hits))
        assert found.upper == pytest.approx(beta.isf(0.0005, hits + 1, 30 - hits))

    @pytest.mark.parametrize("name", ["precision", "specificity", "f1", "mcc", "accuracy"])
    def test_other_metrics_of_a_row_include_the_usual_interval(self, name: str) -> None:
        (model,) = models(1, 5)
        metric = Metric(name, decision=Decision(at_threshold=0.5))
        value = model.value(metric)
        assert value is not None
        usual = closed_interval(Models((model,)), metric, [value], 0.999, "score")
        found = adjusted_interval(Models((model,)), metric, [value], 0.999, "score")
        assert usual is not None
        assert found is not None
        assert found.lower < value < found.upper
        assert found.upper - found.lower > 0.95 * (usual.upper - usual.lower)


class TestGaps:
    def test_ends_are_the_greatest_of_all_ordered_pairs(self) -> None:
        several, metric = models(4, 7), Metric("roc")
        values = [value for each in several if (value := each.value(metric)) is not None]
        found = gap_interval(several, metric, values, 0.95, "auto")
        upper, lower, q = -1.0, 0.0, range_quantile(0.95, 4) / sqrt(2)
        z = q + (q**3 + q) / (4 * (30 - 1))
        for j, k in permutations(range(4), 2):
            pair = closed_interval(Models((several[j], several[k])), metric, [values[j], values[k]], 0.95, "mover")
            assert pair is not None
            upper = max(upper, pair.upper)
            a, b = values[j], values[k]
            errors = [several[place].area_error("roc").error for place in (j, k)]
            low = norm.cdf(norm.ppf(a) - z * errors[0] / norm.pdf(norm.ppf(a)))
            high = norm.cdf(norm.ppf(b) + z * errors[1] / norm.pdf(norm.ppf(b)))
            lower = max(lower, a - b - hypot(a - low, high - b))
        assert found is not None
        assert found.upper == pytest.approx(upper)
        assert found.lower == pytest.approx(lower)

    def test_a_proven_gap_begins_above_0(self) -> None:
        labels = np.arange(400) < 200
        random = np.random.default_rng(1)
        good, bad = (Sample(random.standard_normal(400) + shift * labels, labels) for shift in (2.5, 0.3))
        several, metric = [EvaluatedModel.of(each) for each in (good, bad)], Metric("roc")
        values = [value for each in several if (value := each.value(metric)) is not None]
        found = gap_interval(several, metric, values, 0.95, "auto")
        assert found is not None
        assert 0.2 < found.lower < values[0] - values[1] < found.upper

    def test_a_metric_without_differences_has_none(self) -> None:
        several = models(2, 9)
        assert gap_interval(several, Metric("ks"), [0.5, 0.4], 0.95, "auto") is None


class TestLaws:
    @given(st.integers(0, 2**32 - 1), st.integers(1, 4))
    def test_the_order_of_rows_and_names_of_slices_change_nothing(self, seed: int, count: int) -> None:
        """A rule is about a set of slices."""
        random = np.random.default_rng(seed)
        numbers, labels = random.integers(0, count, 80), random.random(80) < 0.5
        numbers[: 4 * count] = np.repeat(np.arange(count), 4)
        labels[: 4 * count] = [True, False] * (2 * count)
        scores, order = np.round(random.standard_normal(80), 1), random.permutation(80)
        rules = (Rule("roc", min=0.5, confidence=0.9, slices=("of",)), Rule("roc", max_gap=0.5, slices=("of",)))

        def checks(rows: np.ndarray, names: list[int]) -> list[tuple[object, ...]]:
            """The numbers of both checks, with the slices numbered anew."""
            slicing = Slicing(np.array(names)[numbers][rows], {"of": list(range(count))})
            options = GateOptions(rules, slicings={("of",): RowsInSlices(slicing)})
            gate = evaluate_gate(Sample(scores[rows], labels[rows]), None, options)
            return [(each.status, each.value, each.interval) for each in gate.checks]

        assert checks(np.arange(80), [*range(count)]) == checks(order, [*range(count)][::-1])

    @given(st.integers(0, 2**32 - 1))
    def test_more_slices_never_make_a_pass_of_a_fail(self, seed: int) -> None:
        """If a rule fails over the slices of a sample, it fails with the rows of another slice added."""
        random = np.random.default_rng(seed)
        numbers, labels = np.repeat(np.arange(3), 20), np.tile([True, False], 30)
        scores = np.round(random.standard_normal(60) + labels, 1)

        def status(count: int) -> str:
            rows = numbers < count
            slicing = Slicing(numbers[rows], {"of": list(range(count))})
            rule = Rule("roc", min=0.6, confidence=0.8, slices=("of",))
            options = GateOptions((rule,), slicings={("of",): RowsInSlices(slicing)})
            return evaluate_gate(Sample(scores[rows], labels[rows]), None, options).checks[0].status

        if status(2) == "failed":
            assert status(3) == "failed"
