"""The CSV files are what make_data.py makes, and what the service reads from them agrees with scikit-learn."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from service.answer import answer
from service.request import Request
from service.wire.limits import Limits
from tests.data.make_data import COUNTS, DECIMALS, HERE, SAMPLES, counts_lines


def read_sample(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a file without the service."""
    with (HERE / name).open(newline="", encoding="ascii") as stream:
        rows = list(csv.DictReader(stream))
    return np.array([float(row["scores"]) for row in rows]), np.array([int(row["labels"]) for row in rows])


def curves(path: Path, **options: str) -> dict:
    request = Request("curves", "/v1/curves", "text/csv", "application/json", tuple(options.items()), path.read_bytes())
    result = answer(request, Limits(5_000_000, 100_000))
    assert result.status == 200, result.body
    return json.loads(result.body)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_what_the_script_makes(name: str) -> None:
    """Up to the last decimal: another scikit-learn may round another way."""
    scores, labels = read_sample(name)
    expected_scores, expected_labels = SAMPLES[name]()
    np.testing.assert_array_equal(labels, expected_labels)
    np.testing.assert_allclose(scores, expected_scores, rtol=0, atol=2 * 10.0**-DECIMALS)


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_what_the_script_makes(name: str) -> None:
    assert (HERE / name).read_text(encoding="ascii").splitlines() == list(counts_lines(COUNTS[name]))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_areas_agree_with_scikit_learn(name: str) -> None:
    from sklearn.metrics import average_precision_score, roc_auc_score  # takes long, in each process that collects

    scores, labels = read_sample(name)
    answered = curves(HERE / name, include="auc")
    assert (answered["positives"], answered["negatives"]) == (labels.sum(), (1 - labels).sum())
    assert answered["auc"]["roc"] == pytest.approx(roc_auc_score(labels, scores), rel=1e-12)
    expected = average_precision_score(labels, scores)
    assert answered["auc"]["average_precision"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_have_ties(name: str) -> None:
    """Rounding made some, so the files show that equal scores are one row."""
    scores, _ = read_sample(name)
    distinct = np.unique(scores).size
    assert distinct < scores.size
    assert len(curves(HERE / name, include="points")["points"]["tp"]) == distinct + 1


def test_table_1_of_davis_and_goadrich() -> None:
    """Between (5, 5) and (10, 30) five false positives come with each true positive (section 4)."""
    table = curves(HERE / "davis_goadrich_table_1.csv", include="interpolated_pr")["interpolated_pr"]
    assert table["tp"][5:11] == [5, 6, 7, 8, 9, 10]
    assert table["fp"][5:11] == [5, 10, 15, 20, 25, 30]
    printed = [0.500, 0.375, 0.318, 0.286, 0.265, 0.250]
    assert table["precision"][5:11] == pytest.approx(printed, abs=0.0005)
