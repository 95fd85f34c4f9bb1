"""Comparisons whose answers are known: printed in the papers, or made to resemble those, and worked out on paper."""

from __future__ import annotations

from fractions import Fraction

import pytest

from service.curves.comparison import Best, Comparison, evaluate_comparison
from tests.reference import correctly_rounded
from tests.support.strategies import Rows


def listed(best: Best | None) -> list[tuple[float, float, tuple[str, ...]]]:
    """The intervals, row by row."""
    assert best is not None
    return list(zip(best.start.tolist(), best.end.tolist(), best.best, strict=True))


def figure_7() -> Comparison:
    """D&G 2006, figure 7: two curves over 20 positives and 2000 negatives.

    Curve II has the corner (TP 20, FP 500). Of curve I only the areas are printed, and that over half of its positives
    rank high: these counts are made to give both areas as printed, by a curve that is a hull in itself.
    """
    curve_1, curve_2 = Rows([4, 11, 20], [0, 3, 1660], 20, 2000), Rows([20], [500], 20, 2000)
    return evaluate_comparison({"I": curve_1.counts(), "II": curve_2.counts()})


def test_davis_goadrich_figure_7_reversal() -> None:
    """D&G 2006, section 5: AUC-ROC .813 against .875, AUC-PR .514 against .038; 'the direct opposite choice'."""
    one, two = figure_7().auc
    assert (f"{one.roc:.3f}", f"{two.roc:.3f}") == ("0.813", "0.875")
    assert (f"{one.pr:.3f}", f"{two.pr:.3f}") == ("0.514", "0.038")
    assert (one.roc_hull, two.roc_hull) == (one.roc, two.roc)


def test_davis_goadrich_figure_7_curves_cross() -> None:
    """'Two overlapping curves': neither dominates, and they cross once, at the same point in both spaces.

    Between (11, 3) and (20, 1660) curve I has tp = 11 + 9 (fp - 3)/1657; curve II has tp = fp/25 up to 500. They are
    equal at fp = 25 (11 · 1657 - 27)/(1657 - 225) = 455000/1432, which is tp = 18200/1432. From fp = 1660 on both have
    all 20 positives.
    """
    found = figure_7()
    assert found.dominance is not None
    assert found.dominance.curve == ("I", "II")
    assert found.dominance.over == ("II", "I")
    assert found.dominance.dominates.tolist() == [False, False]
    fpr, recall = Fraction(455000, 1432 * 2000), Fraction(18200, 1432 * 20)
    assert listed(found.best_roc) == [
        (0.0, correctly_rounded(fpr), ("I",)),
        (correctly_rounded(fpr), 0.83, ("II",)),
        (0.83, 1.0, ("I", "II")),
    ]
    assert listed(found.best_pr) == [
        (0.0, correctly_rounded(recall), ("I",)),
        (correctly_rounded(recall), 1.0, ("II",)),
    ]


def section_5_2() -> Comparison:
    """A comparison like H&N 2014, figure 6: 34 positives, 72 negatives; the paper's own biclusters are not printed."""
    cc = Rows([16, 28, 32], [1, 32, 64], 34, 72)
    isa = Rows([25, 26, 33], [9, 30, 66], 34, 72)
    return evaluate_comparison({"CC": cc.counts(), "ISA": isa.counts()}, frozenset({"f_measure"}))


def test_hanczar_nadif_section_5_2() -> None:
    """'For λ < 0.28 CC is better, for 0.28 < λ < 0.83 ISA is, for λ > 0.83 both return the whole matrix.'

    For a row, 1/F = (λ P + (1 - λ)(tp + fp)) / tp. The rows (a, x) and (b, y) are equal where
    λ/(1 - λ) = (a y - b x) / (P (b - a)):

        CC (16, 1) and ISA (25, 9):   (16·9 - 25·1) / (34·9) = 119/306 = 7/18, which is λ = 7/25 = 0.28
        ISA (25, 9) and all (34, 72): (25·72 - 34·9) / (34·9) = 1494/306 = 83/17, which is λ = 83/100 = 0.83

    At λ = 0.83 the others are beneath 25/34: CC's (28, 32) has 28/38.42 and (32, 64) 32/44.54, ISA's (26, 30) 26/37.74
    and (33, 66) 33/45.05. Nor do they reach the best elsewhere: they have less precision than (25, 9), less recall than
    (34, 72), and 1/F is straight.
    """
    found = section_5_2()
    assert list(found.best_tradeoff) == ["f_measure"]
    best = found.best_tradeoff["f_measure"]
    assert best.best == (("CC",), ("ISA",), ("CC", "ISA"))
    assert best.start.tolist() == pytest.approx([0.0, 0.28, 0.83], abs=1e-12)
    assert best.end.tolist() == pytest.approx([0.28, 0.83, 1.0], abs=1e-12)


def test_hanczar_nadif_section_5_2_in_pr_space() -> None:
    """'In PR space the two curves cross three times', while the best algorithm changes once.

    Crossings, by fp at equal tp = t:
        CC (16, 1)-(28, 32) and ISA (0, 0)-(25, 9):    1 + 31 (t - 16)/12 = 9 t/25          t = 12100/667
        CC (16, 1)-(28, 32) and ISA (25, 9)-(26, 30):  1 + 31 (t - 16)/12 = 9 + 21 (t - 25)   t = 5708/221
        CC (28, 32)-(32, 64) and ISA (26, 30)-(33, 66): 32 + 8 (t - 28) = 30 + 36 (t - 26)/7  t = 309/10
    """
    ends = [
        correctly_rounded(Fraction(t) / 34)
        for t in (0, Fraction(12100, 667), Fraction(5708, 221), Fraction(309, 10), 34)
    ]
    names = [("CC",), ("ISA",), ("CC",), ("ISA",)]
    assert listed(section_5_2().best_pr) == list(zip(ends, ends[1:], names, strict=False))
