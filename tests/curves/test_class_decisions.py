"""Predicted classes: against a count row by row in fractions, scikit-learn, worked numbers.

The eight animals are those of the guide; their numbers are scikit-learn's, except `top`, which splits ties.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from service.curves.class_decisions import ClassDecisionOptions, class_decisions
from service.curves.class_scores import ClassScores
from service.curves.errors import TotalOutOfRange

ANIMALS = {
    "cat": [0.8, 0.4, 0.6, 0.2, 0.5, 0.3, 0.1, 0.3],
    "dog": [0.1, 0.5, 0.3, 0.7, 0.3, 0.6, 0.3, 0.4],
    "owl": [0.1, 0.1, 0.1, 0.1, 0.2, 0.1, 0.6, 0.3],
}
OWN = [0, 0, 0, 1, 1, 1, 2, 2]
HIGHEST = ClassDecisionOptions("highest")


def scores_of(
    columns: list[list[float]], own: list[int], weights: list[float] | None = None, **more: bool
) -> ClassScores:
    return ClassScores(
        tuple(f"c{number}" for number in range(len(columns))),
        [np.array(column, dtype=np.float64) for column in columns],
        [np.array(own) == number for number in range(len(columns))],
        None if weights is None else np.array(weights, dtype=np.float64),
        **more,
    )


def animals() -> ClassScores:
    return scores_of([*ANIMALS.values()], OWN)


@st.composite
def classified(draw: st.DrawFn) -> ClassScores:
    """Rows of two to four classes, with ties, perhaps with weights and lower scores first."""
    count, rows = draw(st.integers(2, 4)), draw(st.integers(1, 12))
    grid = st.integers(0, 4).map(lambda number: number / 4)
    columns = [draw(st.lists(grid, min_size=rows, max_size=rows)) for _ in range(count)]
    own = draw(st.lists(st.integers(0, count - 1), min_size=rows, max_size=rows))
    heavy = st.none() | st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=rows, max_size=rows)
    return scores_of(columns, own, draw(heavy), lower_is_positive=draw(st.booleans()))


def rows_of(given: ClassScores) -> list[tuple[list[float], int, Fraction]]:
    """The scores of each row, signed so that more is better; its class; its weight."""
    sign = -1 if given.lower_is_positive else 1
    own = np.stack(given.members).argmax(axis=0).tolist()
    weights = [1.0] * given.rows if given.weights is None else given.weights.tolist()
    scores = [[sign * float(column[row]) for column in given.scores] for row in range(given.rows)]
    return list(zip(scores, own, map(Fraction, weights), strict=True))


def counted(given: ClassScores) -> dict[tuple[int, int], Fraction]:
    """The confusion matrix, row by row."""
    found: Counter[tuple[int, int]] = Counter()
    for scores, own, weight in rows_of(given):
        best = [number for number, score in enumerate(scores) if score == max(scores)]
        for number in best:
            found[own, number] += weight / len(best)  # type: ignore[assignment]  # a fraction
    return found  # type: ignore[return-value]


class TestHighest:
    @given(classified())
    def test_the_matrix_is_counted_row_by_row(self, given: ClassScores) -> None:
        found, expected = class_decisions(given, HIGHEST), counted(given)
        assert found.confusion is not None
        for (own, called), cell in np.ndenumerate(found.confusion):
            assert cell == pytest.approx(float(expected.get((own, called), Fraction(0))), rel=1e-14)
        assert found.tied == sum(row[0].count(max(row[0])) > 1 for row in rows_of(given))

    @given(classified())
    def test_the_numbers_of_the_matrix_are_those_of_the_definitions(self, given: ClassScores) -> None:
        found, cells, count = class_decisions(given, HIGHEST).overall, counted(given), len(given.names)
        assert found is not None
        of_class = [sum((cells.get((i, j), Fraction(0)) for j in range(count)), Fraction(0)) for i in range(count)]
        called = [sum((cells.get((i, j), Fraction(0)) for i in range(count)), Fraction(0)) for j in range(count)]
        right, total = sum((cells.get((i, i), Fraction(0)) for i in range(count)), Fraction(0)), sum(of_class)
        observed, chance = right / total, sum(t * p for t, p in zip(of_class, called, strict=True)) / total**2
        recalls = [cells.get((i, i), Fraction(0)) / t for i, t in enumerate(of_class) if t]
        assert found.accuracy == pytest.approx(float(observed), rel=1e-14)
        assert found.balanced_accuracy == pytest.approx(float(sum(recalls) / len(recalls)), rel=1e-14)
        if chance == 1:
            assert found.kappa is None
        else:
            assert found.kappa == pytest.approx(float((observed - chance) / (1 - chance)), rel=1e-12, abs=1e-14)
        covariances = [
            right * total - sum(t * p for t, p in zip(of_class, called, strict=True)),
            total**2 - sum(t * t for t in of_class),
            total**2 - sum(p * p for p in called),
        ]
        if 0 in covariances[1:]:
            assert found.mcc is None
        else:
            root = math.sqrt(covariances[1]) * math.sqrt(covariances[2])
            assert found.mcc == pytest.approx(float(covariances[0]) / root, rel=1e-12, abs=1e-14)

    def test_is_scikit_learns_without_ties(self) -> None:
        generator = np.random.default_rng(8)
        scores, own = generator.dirichlet([1, 1, 1], 200), generator.integers(0, 3, 200)
        given = scores_of(scores.T.tolist(), own.tolist())
        found = class_decisions(given, ClassDecisionOptions("highest", metrics=("precision", "recall", "f1")))
        called = scores.argmax(axis=1)
        assert found.overall is not None
        assert found.matrices is not None
        assert found.confusion is not None
        assert found.confusion.tolist() == sk.confusion_matrix(own, called).tolist()
        assert found.overall.accuracy == pytest.approx(sk.accuracy_score(own, called))
        assert found.overall.balanced_accuracy == pytest.approx(sk.balanced_accuracy_score(own, called))
        assert found.overall.kappa == pytest.approx(sk.cohen_kappa_score(own, called))
        assert found.overall.mcc == pytest.approx(sk.matthews_corrcoef(own, called))
        assert found.overall.log_loss == pytest.approx(sk.log_loss(own, scores))
        for place, average in enumerate(("macro", "weighted", "micro")):
            expected = sk.precision_recall_fscore_support(own, called, average=average)[:3]
            assert [found.matrices.averages[name][place] for name in ("precision", "recall", "f1")] == pytest.approx(
                list(expected)
            )

    def test_worked_numbers(self) -> None:
        found = class_decisions(animals(), HIGHEST)
        assert found.confusion is not None
        assert found.confusion.tolist() == [[2, 1, 0], [1, 2, 0], [0, 1, 1]]
        assert found.overall is not None
        assert (found.overall.accuracy, found.overall.balanced_accuracy) == (5 / 8, 11 / 18)
        assert found.overall.kappa == 17 / 41
        assert found.overall.mcc == pytest.approx(0.425532248173495, abs=5e-16)
        assert found.overall.log_loss == pytest.approx(0.6795664633846177, rel=1e-15)
        assert found.matrices is not None
        assert found.matrices.metrics["f1"].tolist() == [2 / 3, 4 / 7, 2 / 3]
        assert found.matrices.averages["f1"] == pytest.approx([40 / 63, 53 / 84, 5 / 8], rel=1e-15)

    @pytest.mark.parametrize("change", [2.0, -0.5])
    def test_log_loss_needs_probabilities(self, change: float) -> None:
        columns = [[*ANIMALS["cat"][:-1], change], ANIMALS["dog"], ANIMALS["owl"]]
        found = class_decisions(scores_of(columns, OWN), HIGHEST).overall
        assert found is not None
        assert found.log_loss is None

    def test_a_class_without_rows_has_no_recall(self) -> None:
        """So the macro average of the recalls does not exist; the balanced accuracy is of classes with rows."""
        found = class_decisions(scores_of([[0.9, 0.2], [0.1, 0.3], [0.0, 0.5]], [0, 0]), HIGHEST)
        assert found.matrices is not None
        assert math.isnan(found.matrices.metrics["recall"][1])
        assert math.isnan(found.matrices.averages["recall"][0])
        assert found.matrices.averages["recall"][1] == 0.5
        assert found.overall is not None
        assert found.overall.balanced_accuracy == 0.5


class TestThreshold:
    @given(classified(), st.integers(0, 4).map(lambda number: number / 4))
    def test_each_class_is_a_matrix_of_its_own(self, given: ClassScores, threshold: float) -> None:
        found = class_decisions(given, ClassDecisionOptions(at_threshold=threshold)).matrices
        assert found is not None
        cut = -threshold if given.lower_is_positive else threshold
        for number in range(len(given.names)):
            cells: Counter[tuple[bool, bool]] = Counter()
            for scores, own, weight in rows_of(given):
                cells[own == number, scores[number] >= cut] += weight  # type: ignore[assignment]  # a fraction
            expected = [cells[True, True], cells[False, True], cells[True, False], cells[False, False]]
            answered = [column[number] for column in (found.tp, found.fp, found.fn, found.tn)]
            assert answered == pytest.approx([float(each) for each in expected], abs=1e-12)


class TestTop:
    @given(classified(), st.integers(1, 5))
    def test_a_tie_for_the_last_place_counts_in_part(self, given: ClassScores, most: int) -> None:
        """Over every order of the classes that tie, the share of orders in which the row's own is among the first."""
        total, right = Fraction(0), Fraction(0)
        for scores, own, weight in rows_of(given):
            above, ties = sum(each > scores[own] for each in scores), scores.count(scores[own])
            places = [above + place < most for place in range(ties)]
            right, total = right + weight * Fraction(sum(places), ties), total + weight
        found = class_decisions(given, ClassDecisionOptions(top=(most,))).top
        assert found[most] == pytest.approx(float(right / total), rel=1e-14)

    def test_worked_numbers(self) -> None:
        assert class_decisions(animals(), ClassDecisionOptions(top=(1, 2, 3))).top == {1: 5 / 8, 2: 15 / 16, 3: 1}


@pytest.mark.parametrize("weight", [0.0, 1e-160, 1e155])
def test_weights_beyond_the_range_are_refused(weight: float) -> None:
    with pytest.raises(TotalOutOfRange):
        class_decisions(scores_of([*ANIMALS.values()], OWN, [weight] * 8), HIGHEST)


def test_nothing_is_decided_unasked() -> None:
    found = class_decisions(animals(), ClassDecisionOptions())
    assert found.matrices is found.confusion is found.overall is None
    assert found.top == {}
