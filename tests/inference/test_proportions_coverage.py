"""How often score intervals miss the truth, by exact enumeration: each end of a 95 % one should miss 2.5 %."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from service.inference.proportions import PairedShares, wilson
from tests.inference.shares import Z, ends_of, value_at
from tests.support.sampling import some


@pytest.mark.parametrize(("count", "most"), [(100, 0.040), (300, 0.033)])
def test_wilsons_ends_at_95_percent_miss_a_share_about_as_seldom_as_they_say(count, most):
    hits = np.arange(count + 1)
    lower, upper = (wilson(hits / count, count, np.full(hits.size, z)) for z in (-Z, Z))
    for share in np.arange(0.05, 0.9501, 0.01):
        chances = binom.pmf(hits, count, share)
        assert chances[lower > share].sum() <= most
        assert chances[upper < share].sum() <= most
        assert chances[(lower <= share) & (share <= upper)].sum() >= 0.92


@pytest.mark.parametrize(
    ("count", "share", "most"), [(100, 0.8, 0.0254), (100, 0.9, 0.0238), (100, 0.95, 0.006), (300, 0.95, 0.016)]
)
def test_the_lower_end_at_95_percent_seldom_exceeds_a_high_recall(count, share, most):
    hits = np.arange(count + 1)
    lower = wilson(hits / count, count, np.full(hits.size, -Z))
    assert binom.pmf(hits, count, share)[lower > share].sum() <= most


@pytest.mark.parametrize(
    ("b", "c"), some([(0.1, 0.2), (0.05, 0.05), (0.1, 0.1), (0.02, 0.1), (0.3, 0.1), (0.0, 0.1)], 6)
)
def test_tangos_ends_at_95_percent_miss_a_difference_about_5_times_in_100(b, c):
    count, below, above = 20, 0.0, 0.0
    for first in range(count + 1):
        for second in range(count + 1 - first):
            chance = multinomial.pmf([first, second, count - first - second], count, [b, c, 1 - b - c])
            if chance > 1e-9:
                pairs = PairedShares((first / count, second / count), (first + second) / count, count)
                lower, upper = pairs.interval(Z)
                below += chance * (upper < b - c)
                above += chance * (lower > b - c)
    assert max(below, above) <= 0.028


@pytest.mark.parametrize(
    ("positives", "negatives", "recall", "fpr"),
    [(20, 30, 0.8, 0.1), (20, 60, 0.9, 0.05), (30, 30, 0.7, 0.2), (30, 100, 0.8, 0.05)],
)
def test_ends_of_precision_at_95_percent_miss_it_about_as_seldom_as_they_say(positives, negatives, recall, fpr):
    sizes = float(positives), float(negatives)
    true, below, above = value_at(("precision", None), recall, fpr, sizes), 0.0, 0.0
    for tp, chance in enumerate(binom.pmf(np.arange(positives + 1), positives, recall)):
        for fp, other in enumerate(binom.pmf(np.arange(negatives + 1), negatives, fpr)):
            if tp + fp and chance * other > 1e-9:
                classes = [(tp / positives, positives), (fp / negatives, negatives)]
                lower, upper = ends_of(("precision", None), classes, sizes, Z)
                above += chance * other * (lower > true)
                below += chance * other * (upper < true)
    assert above <= 0.019
    assert below <= 0.037
