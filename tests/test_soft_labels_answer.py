"""Soft labels: a positive that weighs y and a negative that weighs 1 - y, in every format."""

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import asking
from tests.support.strategies import examples, plain_weights, tied_scores

ask = partial(asking.ask, "curves")
curves = partial(asking.answered, "curves")
refusals = partial(asking.refusals, "curves")

INCLUDE = {"include": ["auc", "points", "calibration", "statistics"]}
SOFT = {"scores": [0.9, 0.7, 0.6, 0.2], "soft_labels": [1, 0.75, 0.25, 0]}
TABLE = "scores,soft_labels,other\n0.9,1,0\n0.7,0.75,1\n0.6,0.25,0.5\n0.2,0,0.5\n"


@st.composite
def soft_samples(draw: st.DrawFn) -> dict[str, list[float]]:
    shares = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 0.25, 0.1]), st.floats(0, 1))
    rows = draw(st.lists(st.tuples(tied_scores, shares, plain_weights), max_size=8))
    rows += [(0.5, 0.5, 1.0)]  # of both classes
    return {
        name: list(column)
        for name, column in zip(("scores", "soft_labels", "weights"), zip(*rows, strict=True), strict=True)
    }


@given(soft_samples(), st.booleans())
@examples(40)
def test_each_row_is_a_positive_and_a_negative(soft, weighted):
    scores, shares, weights = soft.values()
    weights = weights if weighted else [1.0] * len(scores)
    both = {"scores": scores * 2, "labels": [1] * len(scores) + [0] * len(scores)}
    both["weights"] = [share * weight for share, weight in zip(shares, weights, strict=True)]
    both["weights"] += [(1 - share) * weight for share, weight in zip(shares, weights, strict=True)]
    sent = soft if weighted else {"scores": scores, "soft_labels": shares}
    found, expected = curves(sent | INCLUDE), curves(both | INCLUDE)
    # Of soft labels nobody knows how many examples there are, which this alone needs.
    if found["statistics"]["ece_if_calibrated"] is None and expected["statistics"]["ece_if_calibrated"] is not None:
        assert found["warnings"].pop()["code"] == "unknown_examples"
        expected["statistics"]["ece_if_calibrated"] = None
    assert found == expected


def test_labels_of_0_and_1_give_the_answer_of_labels():
    scores, labels = [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], [1, 0, 1, 1, 0, 0]
    assert ask({"scores": scores, "soft_labels": labels}).body == ask({"scores": scores, "labels": labels}).body


def test_a_column_of_a_table_is_named_or_the_only_labels():
    expected = curves(SOFT)
    assert curves(TABLE, content_type="text/csv") == expected
    assert curves(TABLE.replace("other", "labels"), content_type="text/csv", soft_labels="soft_labels") == expected
    other = curves(TABLE, content_type="text/csv", soft_labels="other")
    assert other == curves(SOFT | {"soft_labels": [0, 1, 0.5, 0.5]})
    hard = TABLE.replace(
        "other\n0.9,1,0\n0.7,0.75,1\n0.6,0.25,0.5\n0.2,0,0.5", "labels\n0.9,1,1\n0.7,0.75,0\n0.6,1,1\n0.2,0,0"
    )
    assert curves(hard, content_type="text/csv")["positives"] == 2


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        (SOFT | {"intervals": {}}, "/intervals", "exclusive"),
        (SOFT | {"labels": [1, 0, 1, 0]}, "/labels", "exclusive"),
        (SOFT | {"positive_label": 1}, "/positive_label", "exclusive"),
        (SOFT | {"soft_labels": [1, 0.5]}, "/soft_labels", "lengths_differ"),
        (SOFT | {"weights": [1, 0.5]}, "/weights", "lengths_differ"),
        (SOFT | {"soft_labels": [0, 0, 0, 0]}, "/soft_labels", "one_class"),
        (SOFT | {"soft_labels": [1e-200, 0, 0, 0]}, "/soft_labels", "total_out_of_range"),
        (SOFT | {"soft_labels": [1.5, 0, 0, 0]}, "/soft_labels/0", "out_of_range"),
        ({"soft_labels": [1, 0]}, "/scores", "missing"),
        (
            {"counts": {"tp": [1], "fp": [0], "positives": 2, "negatives": 2}, "soft_labels": [1]},
            "/soft_labels",
            "exclusive",
        ),
    ],
)
def test_what_does_not_go_with_them(body, pointer, code):
    assert refusals(body) == [(pointer, code)]


def test_a_table_has_one_kind_of_labels():
    both = refusals(TABLE, content_type="text/csv", soft_labels="soft_labels", labels="other")
    assert both == [("/soft_labels", "exclusive")]
    assert refusals(TABLE, content_type="text/csv", soft_labels="none") == [("/soft_labels", "missing")]
    assert refusals(json.dumps(SOFT), content_type="application/json", soft_labels="y") == [
        ("/soft_labels", "exclusive")
    ]
