"""Everything that can be evaluated can be drawn: valid XML, finite coordinates in the picture, text for terminals."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.charts.picture import CHARTS
from service.wire.media_types import SVG, TEXT
from tests.charts.drawing import NAMESPACE
from tests.support.asking import ask
from tests.support.costs.tables import TABLES
from tests.support.strategies import (
    Data,
    Rows,
    big_sweeps,
    classifiers,
    examples,
    fractional_sweeps,
    lopsided_sweeps,
    nudged_lines,
    samples,
    sweeps,
    weighted_samples,
)

COUNTS = st.one_of(sweeps(), classifiers(), big_sweeps(), fractional_sweeps(), lopsided_sweeps(), nudged_lines())
EVALUATIONS = st.one_of(samples(), weighted_samples(), COUNTS)
RULES = [
    {"metric": "roc", "min": 0.5, "confidence": 0.9},
    {"metric": "pr_achievable", "max_drop": 0.1},
    {"metric": "tpr_at_fpr", "at": 0.1, "max": 0.5},
    {"metric": "precision", "at_threshold": 0.5, "min": 0.5},
]
POINTS = [
    {"metric": "precision_at_recall", "at": 0.5},
    {"metric": "jaccard", "at": 0.1},
    {"metric": "tpr_at_fpr", "at": 0},
]


def body_of(given_: Data | Rows) -> dict[str, Any]:
    if isinstance(given_, Data):
        weights = {} if given_.weights is None else {"weights": given_.weights}
        return {
            "scores": given_.scores,
            "labels": given_.labels,
            "lower_is_positive": given_.lower_is_positive,
        } | weights
    thresholds = {} if given_.thresholds is None else {"threshold": given_.thresholds}
    totals = {"positives": float(given_.positives), "negatives": float(given_.negatives)}
    return {"counts": {"tp": list(map(float, given_.tp)), "fp": list(map(float, given_.fp))} | totals | thresholds}


def assert_drawn(operation: str, body: dict[str, Any], side: int, **options: str) -> None:
    """Draw each chart, unless the answer itself is a refusal."""
    status = ask(operation, body).status
    for chart in CHARTS[operation]:
        result = ask(operation, body, accept=SVG, side=str(side), chart=chart, **options)
        assert result.status == status, result.body
        if status == 200:
            assert_within(ET.fromstring(result.body))


def assert_within(picture: ET.Element) -> None:
    wide, high = (float(picture.get(key, "")) for key in ("width", "height"))
    for element in picture.iter():
        places = [*element.get("points", "").split(), *re.findall(r"M(\S+ \S+?)h", element.get("d", ""))]
        for place in places:
            x, y = map(float, re.split("[, ]", place))
            assert 0 <= x <= wide
            assert 0 <= y <= high
        if element.tag == f"{NAMESPACE}rect":
            x, y, over, down = (float(element.get(key, "0")) for key in ("x", "y", "width", "height"))
            assert min(x, y, over, down) >= 0
            assert x + over <= wide + 0.02
            assert y + down <= high + 0.02


@examples(80)
@given(EVALUATIONS, st.sampled_from([160, 320, 1200]))
def test_evaluations_and_trade_offs_are_drawn(given_: Data | Rows, side: int) -> None:
    body = body_of(given_)
    assert_drawn("curves", body | {"operating_points": POINTS}, side, mark="[0.5, -1e300, 0]")
    assert_drawn("tradeoffs", body, side)
    text = ask("curves", body, accept=TEXT)
    assert text.status == ask("curves", body).status
    assert text.status != 200 or max(map(len, text.body.decode().splitlines())) <= 60


@examples(40)
@given(EVALUATIONS, EVALUATIONS, st.sampled_from([160, 320]))
def test_comparisons_and_gates_are_drawn(first: Data | Rows, second: Data | Rows, side: int) -> None:
    named = [body_of(each) | {"name": name} for each, name in ((first, "a"), (first, "b"), (second, "c"))]
    assert_drawn("comparisons", {"evaluations": named[:2]}, side)
    assert_drawn("comparisons", {"evaluations": named}, side)
    assert_drawn("gates", body_of(first) | {"baseline": body_of(second), "rules": RULES}, side)


@pytest.mark.parametrize("kind", TABLES)
def test_costly_tables_are_drawn(kind: str, *, runs_all: bool) -> None:
    body = TABLES[kind](300 if runs_all else 100)
    assert_drawn("curves", body, 320)
    assert_drawn("tradeoffs", body, 320)
