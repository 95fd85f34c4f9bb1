"""Strategies for proportions, and rates made from them, for the tests of score intervals."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from service.inference.intervals import normal_quantile
from service.inference.proportions import Ends, Share
from service.inference.rates import Rate, rate_ends

Z = normal_quantile(0.95)

Metric = tuple[str, float | None]
"""A name, and the λ of an index."""
Of = tuple[float, float]
"""A proportion, and the number of trials."""
Parts = tuple[float, float, float, float]
"""The proportions that both call positive, only the first and only the second, and the number of trials."""

shares = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-6, 0.999]), st.floats(0, 1))
counts = st.one_of(st.sampled_from([2.0, 2.7, 50.0, 1e6, 1e12]), st.floats(2, 1e4))
depths = st.sampled_from([1e-6, 0.3, Z, 4.0, 20.0])


@st.composite
def parts(draw: st.DrawFn, share: st.SearchStrategy[float] = shares, count: st.SearchStrategy[float] = counts) -> Parts:
    """Both, only the first, only the second and neither add up to 1."""
    cuts = sorted(draw(st.lists(share, min_size=3, max_size=3)))
    pieces = draw(st.permutations([cuts[0], cuts[1] - cuts[0], cuts[2] - cuts[1], 1 - cuts[2]]))
    return pieces[0], pieces[1], pieces[2], draw(count)


def value_at(metric: Metric, recall: float, fpr: float, sizes: tuple[float, float]) -> float:
    """A rate, for totals P and N; NaN where there is none."""
    return float(Rate(*metric, *sizes)(np.array([recall]), np.array([fpr]))[0])


def ends_of(metric: Metric, classes: list[Of], sizes: tuple[float, float], z: float) -> Ends:
    """The interval of a rate, from those of recall and fpr."""
    recall, fpr = classes
    found = value_at(metric, recall[0], fpr[0], sizes)
    return rate_ends(Rate(*metric, *sizes), found, (Share(*recall), Share(*fpr)), z)
