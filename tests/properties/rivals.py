"""Hypothesis strategies for curves to compare: two or more, with equal totals, often close to each other."""

from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import strategies as st

from tests.properties.comparison_agreement import (
    Pair,
)
from tests.support.strategies import (
    LARGEST,
    Data,
    Rows,
    plain_weights,
    samples,
    scores,
    tied_scores,
)


def fresh(draw: st.DrawFn, positives: int, negatives: int, most: int) -> list[Pair]:
    """Rows (tp, fp) of any sweep, or of one whose steps are equal except for one count here and there."""
    kind = draw(st.sampled_from(["spread", "spread", "spread", "drawn", "line"]))
    size = draw(st.integers(0, most))
    if kind == "spread":
        chance = draw(st.randoms(use_true_random=True))
        tp = sorted(chance.randint(0, positives) for _ in range(most))
        fp = sorted(chance.randint(0, negatives) for _ in range(most))
    elif kind == "drawn":
        tp = sorted(draw(st.lists(st.integers(0, positives), min_size=size, max_size=size)))
        fp = sorted(draw(st.lists(st.integers(0, negatives), min_size=size, max_size=size)))
    else:
        steps = sorted(draw(st.lists(st.integers(0, 12), min_size=size, max_size=size)))
        ratio = draw(st.integers(1, 3))
        line = [(min(step * ratio, 12) * positives // 12, step * negatives // 12) for step in steps]
        return nudged(draw, line, positives, negatives)
    return list(zip(tp, fp, strict=True))


def nudged(draw: st.DrawFn, rows: list[Pair], positives: int, negatives: int) -> list[Pair]:
    """Each count moved by at most one; still a sweep."""
    nudge = st.integers(-1, 1)
    tp = sorted(min(max(t + draw(nudge), 0), positives) for t, _ in rows)
    fp = sorted(min(max(f + draw(nudge), 0), negatives) for _, f in rows)
    return list(zip(tp, fp, strict=True))


def relative(draw: st.DrawFn, rows: list[Pair], positives: int, negatives: int) -> list[Pair]:
    """A curve similar to another: a copy, with more or fewer rows, or with a part of it."""
    ends = [(0, 0), *rows, (positives, negatives)]
    place = draw(st.integers(0, len(rows)))
    (s, e), (t, f) = ends[place : place + 2]
    kind = draw(st.sampled_from(["copy", "thin", "thick", "nudged", "prefix", "suffix", "step"]))
    if kind == "thin":
        rows = [row for row in rows if draw(st.booleans())]
    elif kind == "thick":
        pairs = [(a, b) for a, b in itertools.pairwise(ends) if (a[0] + b[0]) % 2 == (a[1] + b[1]) % 2 == 0]
        rows = sorted([*rows, *(((a[0] + b[0]) // 2, (a[1] + b[1]) // 2) for a, b in pairs)])
    elif kind == "nudged":
        rows = nudged(draw, rows, positives, negatives)
    elif kind == "prefix":
        rows = rows[:place] + [(s + up, e + right) for up, right in fresh(draw, positives - s, negatives - e, 3)]
    elif kind == "suffix":
        rows = fresh(draw, t, f, 3) + rows[place:]
    elif kind == "step":
        rows = sorted([*rows, (s, f), (t, f)])
    return rows


def rivals(draw: st.DrawFn, positives: int, negatives: int, most: int) -> list[Rows]:
    """Two to five sweeps over the same totals, many of them similar to earlier ones."""
    curves = [fresh(draw, positives, negatives, most)]
    for _ in range(draw(st.integers(1, 4))):
        if draw(st.sampled_from([False, False, True])):
            curves.append(relative(draw, draw(st.sampled_from(curves)), positives, negatives))
        else:
            curves.append(fresh(draw, positives, negatives, most))
    return [Rows([t for t, _ in rows], [f for _, f in rows], positives, negatives) for rows in curves]


@st.composite
def rival_sweeps(draw: st.DrawFn, total: int = 16) -> list[Rows]:
    """Small whole counts."""
    small, large = st.integers(1, 3), st.integers(total - 4, total)
    totals = draw(st.sampled_from([(large, large), (large, large), (small, large), (large, small)]))
    return rivals(draw, draw(totals[0]), draw(totals[1]), 8)


@st.composite
def rival_giants(draw: st.DrawFn) -> list[Rows]:
    """Counts up to 2^53, of both classes or of one."""
    many, few = st.integers(LARGEST - 3, LARGEST), st.integers(1, 40)
    totals = draw(st.sampled_from([(many, many), (many, many), (few, many), (many, few)]))
    return rivals(draw, draw(totals[0]), draw(totals[1]), 8)


@st.composite
def rival_fractions(draw: st.DrawFn) -> list[Rows]:
    """Fractional counts, where lines and common points of whole counts are no longer exact."""
    scale = st.sampled_from([0.1, 1 / 3, 0.7, 1e-100, 3e-16, 7e99])
    of_positives, of_negatives = draw(scale), draw(scale)
    return [
        Rows(
            [t * of_positives for t in rows.tp],
            [f * of_negatives for f in rows.fp],
            rows.positives * of_positives,
            rows.negatives * of_negatives,
        )
        for rows in draw(rival_sweeps())
    ]


@st.composite
def rival_scales(draw: st.DrawFn) -> list[Rows]:
    """Counts of all sizes down to the least double; the rows of one curve are slightly off those of another."""
    chance = draw(st.randoms(use_true_random=True))
    total = st.sampled_from([1.0, 7e99, 1e150, 1e-150])
    positives, negatives = draw(total), draw(total)
    lowest = draw(st.sampled_from([-4, -40, -320]))
    shared = [[most * 10 ** chance.uniform(lowest, 0) for _ in range(6)] for most in (positives, negatives)]
    beside = [1.0, 1.0, 1 + 2.0**-52, 1 - 2.0**-40, 0.99, 0.5, 2.0]
    curves = []
    for _ in range(draw(st.integers(2, 4))):
        tp = sorted(min(count * chance.choice(beside), positives) for count in shared[0])
        fp = sorted(min(count * chance.choice(beside), negatives) for count in shared[1])
        curves.append(Rows(tp, fp, positives, negatives))
    return curves


@st.composite
def rival_samples(draw: st.DrawFn, weight: st.SearchStrategy[float] | None = None, most: int = 14) -> list[Data]:
    """Columns of scores over the same labels and weights; some are copies of others with two rows swapped."""
    chance = draw(st.randoms(use_true_random=True))
    data = [draw(samples(score=draw(st.sampled_from([scores, tied_scores])), weight=weight, most=most))]
    size = len(data[0].scores)
    for _ in range(draw(st.integers(1, 4))):
        known = draw(st.sampled_from(data))
        kind = draw(st.sampled_from(["spread", "spread", "drawn", "changed"]))
        column = list(known.scores)
        if kind == "drawn":
            column = draw(st.lists(draw(st.sampled_from([scores, tied_scores])), min_size=size, max_size=size))
        elif kind == "spread":
            column = [chance.random() + label * chance.random() for label in known.labels]
        else:
            i, j = draw(st.integers(0, size - 1)), draw(st.integers(0, size - 1))
            column[i], column[j] = column[j], column[i]
        lower = known.lower_is_positive if kind == "changed" else draw(st.booleans())
        data.append(replace(known, scores=column, lower_is_positive=lower))
    return data


@st.composite
def rival_classifiers(draw: st.DrawFn) -> list[Rows]:
    """Sets of classifiers that no sweep could give, among others that a sweep could."""
    entries = draw(rival_sweeps())
    positives, negatives = entries[0].positives, entries[0].negatives
    cells = st.lists(st.tuples(st.integers(0, positives), st.integers(0, negatives)), max_size=6)
    place = draw(st.integers(0, len(entries) - 1))
    rows = draw(cells)
    entries[place] = Rows([t for t, _ in rows], [f for _, f in rows], positives, negatives)
    return entries


any_rivals = st.one_of(rival_sweeps(), rival_giants(), rival_fractions(), rival_samples(), rival_samples(plain_weights))
