"""DeLong's intervals and tests of three markers in 113 patients, and partial areas, against what R's pROC publishes.

The patients had an aneurysmal subarachnoid haemorrhage: Turck et al. 2010, "A multiparameter panel method for outcome
prediction following aneurysmal subarachnoid hemorrhage", Intensive Care Medicine 36, 107-115. The data come with pROC
under the GPL and are not kept here. In R, `write.csv(pROC::aSAH, "asah.csv", row.names = FALSE)` writes them, and
ROCPR_ASAH is the path of that file; without it these tests are skipped, but for the partial areas of the marker with
five values, for which its table of counts is enough.

The figures are those that pROC's own tests expect (github.com/xrobin/pROC, tests/testthat; each table names its files).
pROC's conventions, where they are not these: it chooses the direction of a marker by the medians of the two classes,
here always that more is worse; its cases are the second level of the outcome, Poor; and unpaired it refers the
difference to Student's t with Welch's degrees of freedom, not to the normal distribution, so that only its statistic,
not its p-value, is to be found here.
"""

from __future__ import annotations

import csv
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.evaluation import CurvesOptions
from service.curves.partial_areas import PartialRange, partial_areas
from service.curves.sample import Sample
from service.inference.curves_with_intervals import evaluate_with_intervals
from service.inference.gate import evaluate_gate
from service.inference.intervals import IntervalOptions
from service.inference.rules import Rule
from service.inference.verdicts import GateOptions

DELONG = IntervalOptions(method="delong")
DIGITS = 1e-13
"""The figures are printed to 14 to 16 digits, of which the last may be rounding."""

MARKERS = {
    "wfns": (0.823678861788618, 0.00146991470882363),
    "s100b": (0.731368563685637, 0.00266868245717244),
    "ndka": (0.611957994579946, 0.0031908105493913),
}
"""The area, of helper-deLongPlacementsCpp-expected.R, and its variance, of test-var.R."""

NDKA, NDKA_OF_WOMEN = (0.501244999271703, 0.722670989888189), (0.5261398281, 0.8081458862)
"""The 95 % interval of all patients, and to ten digits of the women alone, of test-ci.auc.R."""

PAIRS = {
    ("wfns", "s100b"): (2.20898359144091, 0.0271757822291882, 0.0104061769564846, 0.174214419249478),
    ("wfns", "ndka"): (2.79777591868904, 0.00514557970691098, 0.0634011709339876, 0.3600405634833566),
    ("ndka", "s100b"): (-1.39077002573558, 0.164295175223054, -0.2876917446341914, 0.0488706064228094),
}
"""Z of the paired difference, its p-value and the ends of its 95 % interval, of test-roc.test.R."""

BY_PAIR = {
    ("wfns", "s100b"): (1.43490640926908, 0.00119615567376754),
    ("wfns", "ndka"): (3.10125096778969, -0.000532967856762438),
    ("ndka", "s100b"): (-1.55995743389685, -0.000756164938056579),
}
"""The unpaired statistic D, of test-roc.test.R, and the covariance of the two areas, of test-cov.R."""


@pytest.fixture(scope="module")
def patients():
    path = os.environ.get("ROCPR_ASAH")
    if not path:
        pytest.skip("ROCPR_ASAH names no file; R's write.csv(pROC::aSAH, 'asah.csv', row.names = FALSE) writes one")
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def sample(patients, marker):
    scores = np.array([float(patient[marker]) for patient in patients])
    return Sample(scores, np.array([patient["outcome"] == "Poor" for patient in patients]))


def area_of(evaluation):
    found = evaluate_with_intervals(evaluation, CurvesOptions(include=frozenset({"auc"})), DELONG)
    return found.curves.auc.roc, found.intervals["roc"]


def compared(patients, pair, *, paired):
    rules = (Rule("roc", max_drop=1.0, confidence=0.95),)
    return evaluate_gate(*(sample(patients, marker) for marker in pair), GateOptions(rules, paired, DELONG)).checks[0]


@pytest.mark.parametrize("marker", MARKERS)
def test_areas_and_their_variances(patients, marker):
    area, interval = area_of(sample(patients, marker))
    assert (area, interval.standard_error**2) == pytest.approx(MARKERS[marker], rel=DIGITS)


def test_intervals_whichever_way_the_marker_points(patients):
    more, women = (sample(rows, "ndka") for rows in (patients, [row for row in patients if row["gender"] == "Female"]))
    for evaluation in (more, replace(more, scores=-more.scores, lower_is_positive=True)):
        interval = area_of(evaluation)[1]
        assert (interval.lower, interval.upper) == pytest.approx(NDKA, rel=DIGITS)
        assert (interval.method, interval.level) == ("delong", 0.95)
    area, interval = area_of(women)
    assert (interval.lower, interval.upper, area) == pytest.approx((*NDKA_OF_WOMEN, 0.6671428571), abs=0.5e-10)


@pytest.mark.parametrize("pair", PAIRS)
def test_pairs(patients, pair):
    check = compared(patients, pair, paired=True)
    z = check.difference / check.interval.standard_error
    assert (z, check.p_value, check.interval.lower, check.interval.upper) == pytest.approx(PAIRS[pair], rel=DIGITS)
    apart = compared(patients, pair, paired=False).interval.standard_error
    # Var(A - B) = Var A + Var B - 2 Cov(A, B), of which the unpaired error has only the variances.
    found = (apart**2 - check.interval.standard_error**2) / 2
    assert (check.difference / apart, found) == pytest.approx(BY_PAIR[pair], rel=DIGITS)
    assert compared(patients, (pair[0], pair[0]), paired=True).p_value == 1.0


GRADES = Counts(np.array([18.0, 26, 27, 39, 41]), np.array([4.0, 12, 15, 35, 72]), 41.0, 72.0)
"""The patients with at least grade 5, 4, 3, 2 and 1 of the WFNS: of the 41 with a poor outcome and of the 72 others."""

PARTS = {
    ("fpr", 0.0, 0.1): (0.0334417344173442, 0.649693339038653),
    ("fpr", 0.1, 0.2): (0.0598373983739837, 0.763749402199904),
    ("fpr", 0.5, 1.0): (0.488134475939354, 0.952537903757416),
    ("fpr", 0.0, 1.0): (0.823678861788618, 0.823678861788618),
    ("tpr", 0.9, 1.0): (0.0400999322493225, 0.68473648552275),
    ("tpr", 0.8, 0.9): (0.0609953703703703, 0.770561002178649),
    ("tpr", 0.0, 0.5): (0.483358739837398, 0.933434959349593),
    ("tpr", 0.0, 1.0): (0.823678861788618, 0.823678861788618),
}
"""Areas, and McClish's of them (test-auc.R; there the ranges are of specificity, 1 - fpr, and of sensitivity)."""


def test_partial_areas():
    found = partial_areas(ConfusionTable.from_counts(GRADES), [PartialRange(*key) for key in PARTS])
    areas, standardised = zip(*PARTS.values(), strict=True)
    assert found.area == pytest.approx(areas, abs=0.5e-14)
    assert found.mcclish == pytest.approx(standardised, abs=1e-14)
