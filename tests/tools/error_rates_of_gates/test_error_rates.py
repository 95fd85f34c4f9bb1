"""Gates err as rarely as they promise: the short form of `python -m tests.tools.error_rates_of_gates`."""

import numpy as np
import pytest

from service.curves.areas import roc_area
from service.curves.confusion import ConfusionTable
from service.inference.rules import PARTIAL, Metric
from service.inference.subject import Subject
from tests.tools.error_rates_of_gates.__main__ import markdown, right, row
from tests.tools.error_rates_of_gates.cells import Cell
from tests.tools.error_rates_of_gates.cells import markdown as markdown_of_cells
from tests.tools.error_rates_of_gates.cells import simulated as simulated_cell
from tests.tools.error_rates_of_gates.parts import PARTS
from tests.tools.error_rates_of_gates.parts import markdown as markdown_of_parts
from tests.tools.error_rates_of_gates.parts import simulated as simulated_parts
from tests.tools.error_rates_of_gates.parts import truth as truth_of_part
from tests.tools.error_rates_of_gates.simulation import TAIL, Case, simulated

SETS = 500


@pytest.mark.all
@pytest.mark.parametrize("case", [Case(60, 120, 0.8, 0.0), Case(60, 120, 0.8, 0.0, paired=False)])
def test_p_values_of_equal_models_are_uniform(case: Case) -> None:
    """Under the null hypothesis, p-values are uniform."""
    rates = simulated(case, SETS, seed=1)
    assert rates.uniform > 0.01
    assert right(rates)


@pytest.mark.all
@pytest.mark.parametrize("case", [Case(60, 120, 0.8, 0.05), Case(60, 120, 0.85, 0.05, paired=False)])
def test_non_inferiority_errs_as_often_as_its_level_says(case: Case) -> None:
    """A drop that is exactly at the bound passes in 5 % at 90 % confidence, and is proven as often."""
    rates = simulated(case, SETS, seed=2)
    assert abs(rates.at_bound - TAIL) < 4 * rates.error
    assert abs(rates.proven - TAIL) < 4 * rates.error


@pytest.mark.all
def test_non_inferiority_is_shown_as_often_as_the_error_allows() -> None:
    """Of equal models with 0.05 to spare, Φ(0.05/SE - z) pass."""
    rates = simulated(Case(100, 200, 0.85, 0.0, correlation=0.8), SETS, seed=3)
    assert 0.5 < rates.expected_within < 0.95
    assert abs(rates.within - rates.expected_within) < 0.06


def test_a_bootstrap_errs_about_as_often() -> None:
    rates = simulated(Case(40, 80, 0.8, 0.0, metric="pr", resamples=200), 150, seed=4)
    assert abs(rates.at_bound - TAIL) < 4 * rates.error
    assert row(rates).startswith("| `pr`, 40 positives, 80 negatives, paired, `roc` 0.8, 0 less | ")
    assert len(markdown([rates]).splitlines()) == 5
    assert markdown([rates]).splitlines()[-1].endswith(f" | {100 * rates.least:.1f} |")


@pytest.mark.all
def test_shares_at_a_threshold_err_no_more_often() -> None:
    """Few examples that change sides, and a recall near 1, where resamples would show too little."""
    for case in (
        Case(20, 100, 0.95, 0.05, metric="recall", at_threshold=0.6),
        Case(60, 120, 0.9, 0.05, metric="precision", at_threshold=1.0, paired=False),
        Case(60, 120, 0.8, 0.05, metric="tpr_at_fpr", at=0.2, resamples=100),
    ):
        rates = simulated(case, 200, seed=6)
        assert right(rates)
        assert rates.within > rates.at_bound


@pytest.mark.parametrize(
    "cell", [Cell(300_000, 600_000, 0.85, 0.05, 0.9), Cell(300_000, 600_000, 0.85, 0.05, 0.9, ties=True)]
)
def test_the_truth_of_a_cell_is_that_of_many_examples(cell: Cell) -> None:
    current, baseline = (Subject.of(sample) for sample in cell.samples(np.random.default_rng(3)))
    for subject, area in ((current, 0.8), (baseline, 0.85)):
        for name, truth in cell.truth(area).items():
            assert subject.value(Metric(name)) == pytest.approx(truth, abs=0.003)


def test_a_cell_where_differences_by_delong_are_too_narrow() -> None:
    """100 positives, 300 negatives and areas near 1: 14 % passed by DeLong's interval."""
    found = simulated_cell(Cell(100, 300, 0.99, 0.01, 0.9), 150)
    assert not any(each.misses for each in found)
    assert markdown_of_cells(found).splitlines()[-1].startswith("| 100 / 300, 0.99 less 0.01, alike | ")


def test_the_truth_of_a_part_is_that_of_many_examples() -> None:
    cell = Cell(300_000, 600_000, 0.85, 0.05, 0.9)
    current, _ = (Subject.of(sample) for sample in cell.samples(np.random.default_rng(3)))
    for part in PARTS.values():
        assert current.value(Metric(PARTIAL, part=part)) == pytest.approx(truth_of_part(cell, 0.8, part), abs=0.005)


@pytest.mark.all
def test_gates_on_parts_hold_their_level() -> None:
    found = simulated_parts(Cell(100, 300, 0.9, 0.05, 0.9), 150)
    assert not any(each.misses for each in found)
    assert markdown_of_parts(found).splitlines()[-1].startswith("| 100 / 300, 0.9 less 0.05, alike | ")


def test_the_truth_is_that_of_many_examples() -> None:
    for case in (
        Case(300_000, 600_000, 0.85, 0, metric="recall", at_threshold=0.3),
        Case(300_000, 600_000, 0.85, 0, metric="precision", at_threshold=0.3),
        Case(300_000, 600_000, 0.85, 0, metric="f_measure", at=0.3, at_threshold=0.3),
        Case(300_000, 600_000, 0.85, 0, metric="tpr_at_fpr", at=0.2),
        Case(300_000, 600_000, 0.85, 0, metric="precision_at_recall", at=0.7),
    ):
        found = Subject.of(case.samples(np.random.default_rng(8))[0]).value(case.rules[0].of)
        assert found == pytest.approx(case.truth(0.85), abs=0.004)


def test_models_have_their_stated_areas() -> None:
    case = Case(20_000, 30_000, 0.8, 0.05)
    current, baseline = case.samples(np.random.default_rng(5))
    assert roc_area(ConfusionTable.of(current)) == pytest.approx(0.75, abs=0.01)
    assert roc_area(ConfusionTable.of(baseline)) == pytest.approx(0.8, abs=0.01)
    negatives = [each.scores[~each.labels] for each in (current, baseline)]
    assert np.corrcoef(*negatives)[0, 1] == pytest.approx(0.6, abs=0.02)
