"""The programs that count how often gates err: they run, and the truths that they compare with are right."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from service.curves.areas import roc_area
from service.curves.classes import evaluate_classes
from service.curves.confusion import ConfusionTable
from service.curves.target_prevalence import TargetPrevalence
from service.inference.gate import evaluate_gate
from service.inference.metric import PARTIAL, Metric
from service.inference.models import EvaluatedModel
from service.inference.sliced import RowsInSlices
from service.inference.verdicts import GateOptions
from tests.tools.error_rates_of_gates.__main__ import markdown, row
from tests.tools.error_rates_of_gates.cells import Cell
from tests.tools.error_rates_of_gates.cells import markdown as markdown_of_cells
from tests.tools.error_rates_of_gates.cells import simulated as simulated_cell
from tests.tools.error_rates_of_gates.classes import Average, GapOfClasses
from tests.tools.error_rates_of_gates.classes import markdown as markdown_of_classes
from tests.tools.error_rates_of_gates.clusters import ClusteredCell, Tally, misses
from tests.tools.error_rates_of_gates.clusters import markdown as markdown_of_clusters
from tests.tools.error_rates_of_gates.clusters import simulated as simulated_clusters
from tests.tools.error_rates_of_gates.clusters_in_slices import SlicedCell
from tests.tools.error_rates_of_gates.clusters_in_slices import markdown as markdown_of_clusters_in_slices
from tests.tools.error_rates_of_gates.folds import CELLS as CELLS_OF_FOLDS
from tests.tools.error_rates_of_gates.folds import FoldsCell
from tests.tools.error_rates_of_gates.folds import markdown as markdown_of_folds
from tests.tools.error_rates_of_gates.folds import simulated as simulated_folds
from tests.tools.error_rates_of_gates.parts import PARTS
from tests.tools.error_rates_of_gates.parts import markdown as markdown_of_parts
from tests.tools.error_rates_of_gates.parts import simulated as simulated_parts
from tests.tools.error_rates_of_gates.parts import truth as truth_of_part
from tests.tools.error_rates_of_gates.plans import CELLS as PLAN_CELLS
from tests.tools.error_rates_of_gates.plans import markdown as markdown_of_plans
from tests.tools.error_rates_of_gates.plans import simulated as simulated_plans
from tests.tools.error_rates_of_gates.prevalence import CELLS as CELLS_IN_USE
from tests.tools.error_rates_of_gates.prevalence import CellInUse
from tests.tools.error_rates_of_gates.prevalence import markdown as markdown_in_use
from tests.tools.error_rates_of_gates.prevalence import simulated as simulated_in_use
from tests.tools.error_rates_of_gates.relative_drops import RelativeDrop
from tests.tools.error_rates_of_gates.relative_drops import markdown as markdown_of_drops
from tests.tools.error_rates_of_gates.simulation import Case, simulated
from tests.tools.error_rates_of_gates.slices import ManySlices, OneShare, OneSlice

pytestmark = pytest.mark.all

LARGE = {"positives": 100_000, "negatives": 200_000}
CELL = Cell(**LARGE, area=0.85, drop=0.05, correlation=0.9)


def test_a_case_has_its_row() -> None:
    rates = simulated(Case(40, 80, 0.8, 0.0, metric="pr", resamples=100), 10, seed=4)
    assert row(rates).startswith("| `pr`, 40 positives, 80 negatives, paired, `roc` 0.8, 0 less | ")
    assert len(markdown([rates]).splitlines()) == 5
    assert markdown([rates]).splitlines()[-1].endswith(f" | {100 * rates.least:.1f} |")


@pytest.mark.parametrize(
    ("simulation", "as_table"), [(simulated_cell, markdown_of_cells), (simulated_parts, markdown_of_parts)]
)
def test_a_cell_has_its_row(simulation: Any, as_table: Any) -> None:
    found = simulation(Cell(100, 300, 0.9, 0.05, 0.9), 5)
    assert as_table(found).splitlines()[-1].startswith("| 100 / 300, 0.9 less 0.05, alike | ")


@pytest.mark.parametrize("more", [{}, {"ties": True}, {"weights": True}])
def test_a_cell_of_clusters_has_its_row(more: dict[str, bool]) -> None:
    cell = ClusteredCell(constant=True, skewed=False, clusters=20, alike=0.3, area=0.9, **more)
    found = simulated_clusters(cell, 4)
    assert {tally.sets for tally in found[1].values()} == {4}
    table = markdown_of_clusters([found], 4)
    assert "| in 1 cells with ties" in table if more else "| in 1 cells |" in table
    assert "| constant, 5, 20, 0.3, 0.9" in table


@pytest.mark.parametrize(("counts", "missing"), [([930, 70, 0], False), ([929, 36, 35], True), ([940, 0, 60], False)])
def test_what_is_bold_misses(counts: list[int], missing: bool) -> None:  # noqa: FBT001  # a parameter of the test
    assert misses(Tally(counts, sum(counts))) == missing


@pytest.mark.parametrize("more", [{}, {"ties": True}])
def test_the_truth_of_clusters_is_that_of_many(more: dict[str, bool]) -> None:
    cell = ClusteredCell(constant=False, skewed=True, clusters=60_000, alike=0.3, area=0.9, **more)
    current, better = (EvaluatedModel.of(sample) for sample in cell.samples(np.random.default_rng(3)))
    roc, less = cell.areas
    assert better.value(Metric("roc")) == pytest.approx(roc, abs=0.004)
    assert current.value(Metric("roc")) == pytest.approx(roc + less, abs=0.004)
    assert better.value(Metric("average_precision")) == pytest.approx(cell.pr(0.5), abs=0.004)


def test_slices_have_their_rows() -> None:
    alone = OneSlice("average_precision", 20, 30, 0.9).alarms(5, 1)
    assert len(alone) == len(OneShare(20, 0.9).alarms(5, 1)) == 4
    many = ManySlices(3, 20, 30, 0.85, 1)
    for rule in (lambda truth: {"min": truth}, lambda truth: {"max_gap": truth}):
        contains, passes, misses = many.verdicts(rule, 5, 1)
        assert 0 <= passes <= 1
        assert contains + misses <= 1


def test_slices_of_clusters_have_their_row() -> None:
    cell = SlicedCell(whole=False, constant=True, count=3, clusters=30, alike=0.3)
    found = cell.counted(5)
    assert found == cell.counted(5)
    assert all(counts["contains"] + counts["proven"] <= 5 for counts in found.values())
    (*_, row) = markdown_of_clusters_in_slices({cell: found}, 5)
    assert row.startswith("| 3 slices across 30 clusters, constant, 0.3 | ")


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("constant", [True, False])
def test_the_truth_of_slices_of_clusters_is_that_of_many(whole: bool, constant: bool) -> None:  # noqa: FBT001  # as above
    cell = SlicedCell(whole, constant, 3, 24_000, 0.3, one_worse=True)
    sample, slicing = cell.sample(np.random.default_rng(3))
    options = GateOptions((*cell.rules.values(),), slicings={("slice",): RowsInSlices(slicing)})
    for check in evaluate_gate(sample, None, options).checks:
        assert check.value == check.slices["value"][0] == pytest.approx(check.rule.min, abs=0.008)
        assert check.slices["positives"] == check.slices["negatives"] == [20_000] * 3
        assert min(check.slices["value"][1:]) > check.value + 0.05


@pytest.mark.parametrize("worse", [None, 0.2])
def test_an_average_has_its_row(worse: float | None) -> None:
    average = Average("roc", "macro", (10, 20, 30), 1.5, worse)
    assert markdown_of_classes(4, cases=[average]).splitlines()[-1].startswith("| macro `roc`, 10, 20, 30")


@pytest.mark.parametrize("clusters", [None, 5])
def test_a_gap_of_classes_has_its_row_and_its_truth(clusters: int | None) -> None:
    gap = GapOfClasses("roc", (10, 20, 30), (1.5, 1.5, 0.5), clusters)
    assert markdown_of_classes(4, cases=[gap]).splitlines()[-1].startswith("| gap of `roc`, 10, 20, 30, 0.")
    areas = evaluate_classes(gap.draw(np.random.default_rng(5), 2000)).areas.roc
    assert areas == pytest.approx([gap.area(number) for number in range(3)], abs=0.01)


@pytest.mark.parametrize("metric", ["average_precision", "recall"])
def test_a_relative_drop_has_its_row(metric: str) -> None:
    drop = RelativeDrop(metric, 100, 300, 0.9, 0.1, 0.8 if metric == "recall" else None)
    assert markdown_of_drops(4, cases=[drop]).splitlines()[-1].startswith(f"| `{metric}`")
    case = drop.case()
    assert case.truth(0.9 - case.drop) == pytest.approx(0.9 * case.truth(0.9), rel=1e-6)


@pytest.mark.parametrize("cell", [CELL, replace(CELL, ties=True)])
def test_the_truth_of_a_cell_is_that_of_many_examples(cell: Cell) -> None:
    current, baseline = (EvaluatedModel.of(sample) for sample in cell.samples(np.random.default_rng(3)))
    for model, area in ((current, 0.8), (baseline, 0.85)):
        for name, truth in cell.truth(area).items():
            assert model.value(Metric(name)) == pytest.approx(truth, abs=0.005)


def test_the_truth_of_a_part_is_that_of_many_examples() -> None:
    current, _ = (EvaluatedModel.of(sample) for sample in CELL.samples(np.random.default_rng(3)))
    for part in PARTS.values():
        assert current.value(Metric(PARTIAL, part=part)) == pytest.approx(truth_of_part(CELL, 0.8, part), abs=0.008)


@pytest.mark.parametrize(
    "of",
    [
        {"metric": "recall", "at_threshold": 0.3},
        {"metric": "precision", "at_threshold": 0.3},
        {"metric": "f_measure", "at": 0.3, "at_threshold": 0.3},
        {"metric": "tpr_at_fpr", "at": 0.2},
        {"metric": "precision_at_recall", "at": 0.7},
        {"metric": "brier"},
        {"metric": "log_loss"},
    ],
)
def test_the_truth_is_that_of_many_examples(of: dict[str, Any]) -> None:
    case = Case(**LARGE, area=0.85, drop=0, **of)
    found = EvaluatedModel.of(case.samples(np.random.default_rng(8))[0]).value(case.rules[0].of)
    assert found == pytest.approx(case.truth(0.85), abs=0.006)


def test_models_have_their_stated_areas() -> None:
    case = Case(20_000, 30_000, 0.8, 0.05)
    current, baseline = case.samples(np.random.default_rng(5))
    assert roc_area(ConfusionTable.of(current)) == pytest.approx(0.75, abs=0.01)
    assert roc_area(ConfusionTable.of(baseline)) == pytest.approx(0.8, abs=0.01)
    negatives = [each.scores[~each.labels] for each in (current, baseline)]
    assert np.corrcoef(*negatives)[0, 1] == pytest.approx(0.6, abs=0.02)


def test_a_cell_at_a_prevalence_has_its_row() -> None:
    few = simulated_in_use(CELLS_IN_USE[0], 5)
    assert few.tallies["pr"].sets == few.tallies["difference"].sets == few.tallies["precision"].sets == 5
    (*_, row) = markdown_in_use([few], 5).splitlines()
    assert row.startswith("| 100 / 300, 0.9, at 0.1 | 33 | ")
    many = Cell(20_000, 60_000, 0.9, 0.05, 0.7).samples(np.random.default_rng(6))[1]
    cell = CellInUse(20_000, 60_000, 0.9, 0.1)
    found = EvaluatedModel.of(replace(many, target=TargetPrevalence(0.1))).value(Metric("average_precision"))
    assert found == pytest.approx(cell.truth(0.9), abs=0.01)


def test_a_cell_of_folds_has_its_row() -> None:
    few = simulated_folds(CELLS_OF_FOLDS[0], 5)
    assert [each.sets for each in few.values()] == [5, 5]
    (*_, row) = markdown_of_folds({CELLS_OF_FOLDS[0]: few}, 5).splitlines()
    assert row.startswith("| 100, 5 | ")
    assert str(FoldsCell(100, 5, 0.0)) == "100, 5, no signal"


def test_a_cell_of_plans_has_its_row() -> None:
    few = simulated_plans(PLAN_CELLS[0], 5, 20)
    assert few == simulated_plans(PLAN_CELLS[0], 5, 20)
    assert 2 < few.factors[0] <= few.factors[1] <= few.factors[2] < 6
    (*_, row) = markdown_of_plans([few], 20)
    assert row.startswith("| 50 / 200, `roc` 0.85: roc at least 0.8, with 95 % confidence | ")
