"""DeLong, DeLong & Clarke-Pearson's own data: three tests of 43 patients with ovarian cancer, to twelve digits.

The data are those of DeLong et al. 1988, "Comparing the areas under two or more correlated receiver operating
characteristic curves: a nonparametric approach", as printed in the SAS/STAT User's Guide, The LOGISTIC Procedure,
example 72.8, "Comparing Receiver Operating Characteristic Curves" (support.sas.com, statug/68162): albumin, total
protein, K-G score and popind, of which 0 is the event; six patients without all three tests are left out there.
The figures are no publication's. They are the paper's formulas over all pairs of patients in exact fractions, with
normal quantiles and tails in fifty digits; the tests do that again.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from service.curves.areas import roc_area
from service.curves.confusion import ConfusionTable
from service.curves.evaluation import CurvesOptions
from service.curves.sample import Sample
from service.inference.curves_with_intervals import evaluate_with_intervals
from service.inference.intervals import IntervalOptions, difference_interval, difference_p_value
from service.inference.spread import paired_spread, standard_error
from service.inference.strata import Strata, paired_strata, strata
from tests import reference_inference as reference

PATIENTS = """
3.0 5.8 10 0   3.2 6.3 5 1   3.9 6.8 3 1   2.8 4.8 6 0   3.2 5.8 3 1   0.9 4.0 5 0   2.5 5.7 8 0   1.6 5.6 5 1
3.8 5.7 5 1    3.7 6.7 6 1   3.2 5.4 4 1   3.8 6.6 6 1   4.1 6.6 5 1   3.6 5.7 5 1   4.3 7.0 4 1   3.6 6.7 4 0
2.3 4.4 6 1    4.2 7.6 4 0   4.0 6.6 6 0   3.5 5.8 6 1   3.8 6.8 7 1   3.0 4.7 8 0   4.5 7.4 5 1   3.7 7.4 5 1
3.1 6.6 6 1    4.1 8.2 6 1   4.3 7.0 5 1   4.3 6.5 4 1   3.2 5.1 5 1   2.6 4.7 6 1   3.3 6.8 6 0   1.7 4.0 7 0
3.7 6.1 5 1    3.3 6.3 7 1   4.2 7.7 6 1   3.5 6.2 5 1   2.9 5.7 9 0   2.1 4.8 7 1   2.8 6.2 8 0   4.0 7.0 7 1
3.3 5.7 6 1    3.7 6.9 5 1   3.6 6.6 5 1
"""
NAMES = ("albumin", "total_protein", "kg_score", "popind")
COLUMNS = dict(zip(NAMES, np.array(PATIENTS.split(), float).reshape(-1, 4).T, strict=True))
LABELS = COLUMNS["popind"] == 0

AREAS = {"albumin": Fraction(137, 186), "total_protein": Fraction(241, 372), "kg_score": Fraction(45, 62)}
VARIANCES = {
    "albumin": Fraction(784759, 91333440),
    "total_protein": Fraction(22855, 2283336),
    "kg_score": Fraction(965603, 91333440),
}
ERRORS = {"albumin": 0.0926943460524027, "total_protein": 0.1000473755837419, "kg_score": 0.1028216089800476}
ENDS = {
    "delong": {
        "albumin": (0.5548815599517445, 0.9182367196181480),
        "total_protein": (0.4517602094737053, 0.8439387152574775),
        "kg_score": (0.5242798011795497, 0.9273331020462568),
    },
    "logit": {
        "albumin": (0.5229514128441331, 0.8770138505186288),
        "total_protein": (0.4378453607708978, 0.8129221337023057),
        "kg_score": (0.4902039178263895, 0.8793286129591125),
    },
}
PAIRS = {
    # covariance; difference; its standard error, 95 % interval and p-value
    ("albumin", "kg_score"): (
        Fraction(115013, 22833360),
        Fraction(1, 93),
        0.0953436177300938,
        (-0.1761173687346954, 0.1976227450787814),
        0.9102063472010350,
    ),
    ("total_protein", "kg_score"): (
        Fraction(48907, 10148160),
        Fraction(-29, 372),
        0.1046095887181327,
        (-0.2829880155723994, 0.1270740370777758),
        0.4561397075074732,
    ),
    ("albumin", "total_protein"): (
        Fraction(1414669, 182666880),
        Fraction(11, 124),
        0.0557912233093395,
        (-0.0206391109203821, 0.1980584657590918),
        0.1118282101206958,
    ),
}
DIGITS = 1e-12


def sample(test: str) -> Sample:
    """Low albumin and low protein are bad signs, as is a high score."""
    return Sample(COLUMNS[test], LABELS, lower_is_positive=test != "kg_score")


def single(test: str) -> Strata:
    return strata(sample(test), ConfusionTable.of(sample(test)))


def by_pairs(test: str) -> reference.Placements:
    return reference.placements(
        COLUMNS[test].tolist(), LABELS.tolist(), lower_is_positive=sample(test).lower_is_positive
    )


def test_the_data() -> None:
    assert LABELS.size == 43
    assert LABELS.sum() == 12


@pytest.mark.parametrize("test", AREAS)
def test_areas_and_their_errors(test: str) -> None:
    placed = by_pairs(test)
    assert placed.area == AREAS[test]
    assert reference.covariance(placed, placed) == VARIANCES[test]
    assert roc_area(ConfusionTable.of(sample(test))) == float(AREAS[test])
    assert standard_error(single(test)) ** 2 == pytest.approx(float(VARIANCES[test]), rel=DIGITS)
    assert standard_error(single(test)) == pytest.approx(ERRORS[test], rel=DIGITS)


@pytest.mark.parametrize("test", AREAS)
@pytest.mark.parametrize("method", ENDS)
def test_intervals(test: str, method: str) -> None:
    interval = evaluate_with_intervals(sample(test), CurvesOptions(), IntervalOptions(method=method)).intervals["roc"]
    assert interval is not None
    assert (interval.lower, interval.upper) == pytest.approx(ENDS[method][test], rel=DIGITS)
    assert (interval.method, interval.level) == (method, 0.95)


@pytest.mark.parametrize("pair", PAIRS)
def test_paired_comparisons(pair: tuple[str, str]) -> None:
    exact, difference, error, ends, p_value = PAIRS[pair]
    one, other = (by_pairs(test) for test in pair)
    assert reference.covariance(one, other) == exact
    assert one.area - other.area == difference
    samples = sample(pair[0]), sample(pair[1])
    tables = ConfusionTable.of(samples[0]), ConfusionTable.of(samples[1])
    both = paired_strata(samples, tables)
    found = roc_area(tables[0]) - roc_area(tables[1])
    assert found == pytest.approx(float(difference), rel=DIGITS)
    assert paired_spread(both).error == pytest.approx(error, rel=DIGITS)
    interval = difference_interval(found, paired_spread(both).error, 0.95)
    assert (interval.lower, interval.upper) == pytest.approx(ends, rel=DIGITS)
    assert difference_p_value(found, paired_spread(both).error) == pytest.approx(p_value, rel=DIGITS)


def test_the_direction_of_a_score_is_only_its_sign() -> None:
    """SAS uses 10 minus the K-G score, of which low values are a bad sign."""
    turned = replace(sample("kg_score"), scores=10 - COLUMNS["kg_score"], lower_is_positive=True)
    assert standard_error(strata(turned, ConfusionTable.of(turned))) == standard_error(single("kg_score"))
