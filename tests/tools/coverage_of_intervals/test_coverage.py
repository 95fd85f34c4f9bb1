"""The simulation itself: its true areas are correct, and its figures do not depend on how it was run."""

import math

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from service.curves.areas import roc_area
from service.curves.classes import AVERAGES, evaluate_classes
from service.curves.confusion import ConfusionTable
from tests.tools.coverage_of_intervals import bands
from tests.tools.coverage_of_intervals.__main__ import markdown, within
from tests.tools.coverage_of_intervals.classes import COLUMNS, Cell
from tests.tools.coverage_of_intervals.classes import markdown as markdown_of_classes
from tests.tools.coverage_of_intervals.classes import simulated as simulated_averages
from tests.tools.coverage_of_intervals.populations import Population
from tests.tools.coverage_of_intervals.simulation import CLOSED, RESAMPLED, Coverage, simulated

pytestmark = pytest.mark.all


def test_scores_that_say_nothing_have_the_prevalence_as_area() -> None:
    population = Population(20, 60, 0.5)
    assert population.shift == 0
    assert population.pr == pytest.approx(0.25, abs=1e-9)


@pytest.mark.parametrize("population", [Population(30_000, 60_000, 0.8), Population(20_000, 40_000, 0.9, spread=2.0)])
def test_a_large_sample_comes_near_the_true_areas(population: Population) -> None:
    sample = population.sample(np.random.default_rng(5))
    assert roc_area(ConfusionTable.of(sample)) == pytest.approx(population.roc, abs=0.01)
    assert average_precision_score(sample.labels, sample.scores) == pytest.approx(population.pr, abs=0.01)


def test_the_figures_do_not_depend_on_the_number_of_processes() -> None:
    population = Population(10, 15, 0.8)
    for resamples, tried in ((100, RESAMPLED), (0, CLOSED)):
        one, two = (simulated(population, 20, resamples, 3, processes) for processes in (1, 2))
        assert one == two
        found = [(each.area, each.method) for each in one]
        assert found == [(area, method) for area, methods in tried.items() for method in methods]
        assert all(10 < each.held <= 20 - each.above for each in one)


def test_a_coverage_beyond_what_is_asked_is_a_miss() -> None:
    judged, small = Population(100, 100, 0.8), Population(20, 20, 0.8)
    assert within(Coverage(judged, "roc", "logit", 9450, 0, 10_000))
    assert not within(Coverage(judged, "roc", "logit", 9300, 0, 10_000))
    assert not within(Coverage(judged, "roc", "bootstrap", 9650, 0, 10_000))
    assert within(Coverage(small, "roc", "bootstrap", 5000, 0, 10_000))
    assert within(Coverage(judged, "pr", "logit", 9900, 0, 10_000))


def test_the_table_has_a_row_for_each_population() -> None:
    found = [
        Coverage(Population(10, 15, 0.8), area, method, 95, 3, 100)
        for area, methods in CLOSED.items()
        for method in methods
    ]
    *_, row = markdown(found, 100, 1000).splitlines()
    assert row.startswith("| 10 | 15 | 0.8 | ")
    assert row.count("95.0/3.0/2.0") == len(found)


def test_a_large_sample_comes_near_the_true_averages() -> None:
    cell = Cell((20_000, 10_000, 40_000), 0.85)
    averages = evaluate_classes(cell.draw(np.random.default_rng(6))).averages
    for area, average in COLUMNS:
        assert getattr(averages, area)[AVERAGES.index(average)] == pytest.approx(cell.truth(area, average), abs=0.01)


def test_a_cell_of_classes_has_its_row() -> None:
    cell = Cell((10, 12, 15), 0.8)
    found = simulated_averages(cell, 20)
    assert found == simulated_averages(cell, 20)
    assert all(share is not None and share > 0.5 for share in found.values())
    (*_, row) = markdown_of_classes({cell: found}, 20).splitlines()
    assert row.startswith("| 10, 12, 15; 0.8 | ")
    assert row.count("|") == len(COLUMNS) + 2


def test_the_figures_of_bands_do_not_depend_on_the_number_of_processes() -> None:
    for cell in (bands.BandCell(10, 15, 0.8), bands.BandCell(10, 15, 0.8, ties=True)):
        one, two = (bands.simulated(cell, 20, 100, 3, processes) for processes in (1, 2))
        assert one == two
        assert all(share >= 0.8 for share in one.held.values())
        assert one.wide["joint"] > one.wide["fixed_width"]
    row = bands.markdown([one], 20, 100).splitlines()[-1]
    assert row.startswith("| 10 / 15, 0.8, five levels | ")


@pytest.mark.parametrize("ties", [False, True])
def test_a_large_sample_comes_near_the_true_curve(*, ties: bool) -> None:
    """By Massart, either rate is farther than this from its true value anywhere in one of a million samples."""
    rows = 40_000
    far = math.sqrt(math.log(2 / 1e-6) / (2 * rows))
    table = ConfusionTable.of(bands.BandCell(rows, rows, 0.9, ties).sample(np.random.default_rng(2)))
    across, up = bands.BandCell(rows, rows, 0.9, ties).curve()
    fpr, tpr = table.fp / rows, table.tp / rows
    assert np.all(tpr >= np.interp(fpr - far, across, up, left=0) - far)
    assert np.all(tpr <= np.interp(fpr + far, across, up, right=1) + far)
