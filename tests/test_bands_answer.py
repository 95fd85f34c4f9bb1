"""Confidence bands requested with curves: what is answered, and what is refused."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
import pytest

from service.wire.media_types import SVG
from tests.charts.drawing import NAMESPACE, NO_SWEEP, described, drawn, sample
from tests.support import asking

ask = partial(asking.ask, "curves")
curves = partial(asking.answered, "curves")
refusals = partial(asking.refusals, "curves")

TWELVE = {
    "scores": [0.95, 0.9, 0.8, 0.7, 0.7, 0.6, 0.55, 0.4, 0.35, 0.3, 0.2, 0.1],
    "labels": [1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0],
}
SMALL = ["positives", "negatives", "roc_band", "pr_band", "warnings"]
BOTH = [{"kind": "pointwise"}, {"kind": "simultaneous"}]


@pytest.mark.parametrize("band", BOTH)
class TestBoth:
    def test_make_an_answer_small(self, band):
        assert list(curves(TWELVE | {"band": band})) == SMALL
        assert "auc" in curves(TWELVE | {"band": band, "include": ["auc"]})

    def test_are_read_at_every_hundredth_or_where_asked(self, band):
        answer = curves(TWELVE | {"band": band})
        assert answer["roc_band"]["fpr"] == answer["pr_band"]["recall"] == [each / 100 for each in range(101)]
        at = [0.5, 0.13, 0.13]
        some = curves(TWELVE | {"band": band | {"at": at}})
        for name in ("roc_band", "pr_band"):
            for column, cells in some[name].items():
                assert cells == [answer[name][column][round(100 * place)] for place in at]

    @pytest.mark.parametrize("name", ["roc_band", "pr_band"])
    def test_are_tables(self, band, name):
        whole = curves(TWELVE | {"band": band, "intervals": {"level": 0.8}})[name]
        body = TWELVE | {"band": band, "intervals": {"level": 0.8}}
        answer = ask(body, accept="application/vnd.apache.arrow.stream", table=name).body
        assert pa.ipc.open_stream(answer).read_all().to_pydict() == whole
        assert asking.read_csv(ask(body, accept="text/csv", table=name).body.decode()) == whole
        assert refusals(TWELVE, accept="text/csv", table=name) == [("/table", "missing")]

    def test_have_the_level_of_the_intervals(self, band):
        wide, narrow = (
            curves(TWELVE | {"band": band, "intervals": {"level": level}})["roc_band"] for level in (0.99, 0.8)
        )
        assert wide["lower"][50] < narrow["lower"][50]
        assert curves(TWELVE | {"band": band, "intervals": {}})["pr_band"] == curves(TWELVE | {"band": band})["pr_band"]

    def test_of_no_sweep_are_null_with_a_word(self, band):
        answer = curves(NO_SWEEP | {"band": band})
        assert (answer["roc_band"], answer["pr_band"]) == (None, None)
        assert answer["warnings"][-1]["detail"].startswith("The intervals of roc_band, pr_band are null: the rows form")

    def test_need_two_examples_of_each_class(self, band):
        answer = curves({"scores": [0.9, 0.5, 0.2], "labels": [1, 0, 0], "band": band, "intervals": {}})
        assert answer["roc_band"]["tpr"][:2] == [1, 1]
        assert set(answer["roc_band"]["lower"]) == set(answer["pr_band"]["method"]) == {None}
        assert [warning["code"] for warning in answer["warnings"]].count("too_few_examples") == 1

    def test_are_in_the_pictures_of_the_curves_alone(self, band):
        for chart in ("both", "roc", "pr", "calibration"):
            picture = drawn("curves", TWELVE | {"band": band}, chart=chart)
            areas = [each for each in picture.iter(f"{NAMESPACE}polygon") if len(each.get("points", "")) > 100]
            assert len(areas) == {"both": 2, "calibration": 0}.get(chart, 1)
            assert (f"95\xa0% band, {band['kind']}." in described(picture)) == (chart != "calibration")


def test_the_default_is_pointwise():
    assert curves(TWELVE | {"band": {}}) == curves(TWELVE | {"band": {"kind": "pointwise"}})
    assert set(curves(TWELVE | {"band": {}})["roc_band"]["method"]) == {"score"}


def test_it_is_asked_for_in_a_query():
    rows = zip(TWELVE["scores"], TWELVE["labels"], strict=True)
    table = "scores,labels\n" + "".join(f"{score},{label}\n" for score, label in rows)
    assert curves(table, content_type="text/csv", band='{"at": [0.5]}') == curves(TWELVE | {"band": {"at": [0.5]}})


def test_groups_with_squared_weights_have_a_joint_band():
    groups = {"score": [0.9, 0.5, 0.2], "positives": [3.5, 2, 1], "negatives": [1, 2, 5]}
    squares = {"positives_squared": [3.5, 2, 1], "negatives_squared": [1, 2, 5]}
    answer = curves({"groups": groups | squares, "band": {"kind": "simultaneous"}})
    assert set(answer["roc_band"]["method"]) == {"joint"}
    told = curves({"groups": groups, "band": {}})
    assert [warning["code"] for warning in told["warnings"]] == ["unknown_examples"]


def test_a_simultaneous_band_is_wider_than_a_pointwise_one():
    body = sample(400, 1.2)
    point, whole = (curves(body | {"band": band})["roc_band"] for band in BOTH)
    assert sum(whole["upper"]) - sum(whole["lower"]) > 1.2 * (sum(point["upper"]) - sum(point["lower"]))


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"scores": [0.9, 0.2], "soft_labels": [0.7, 0.1], "band": {}}, ("/band", "exclusive")),
        (
            {"groups": {"score_from": [0.5, 0], "score_to": [1, 0.4], "positives": [3, 1], "negatives": [1, 3]}}
            | {"band": {}},
            ("/band", "needs_exact_groups"),
        ),
        (TWELVE | {"band": {"kind": "wide"}}, ("/band/kind", "not_one_of")),
        (TWELVE | {"band": {"at": [0.5, 1.5]}}, ("/band/at/1", "out_of_range")),
        (TWELVE | {"band": {"at": [each / 2000 for each in range(1001)]}}, ("/band/at", "wrong_length")),
        (
            TWELVE | {"band": {"kind": "simultaneous"}, "intervals": {"level": 0.9999}},
            ("/intervals/level", "out_of_range"),
        ),
    ],
)
def test_what_is_wrong_is_named(body, error):
    assert refusals(body) == [error]


def test_open_groups_cut_between_groups_have_a_band():
    groups = {"score_from": [0.5, 0], "score_to": [1, 0.4], "positives": [3, 1], "negatives": [1, 3]}
    answer = curves({"groups": groups, "thresholds": [0.5], "band": {"at": [0.5]}})
    assert answer["roc_band"]["tpr"] == [pytest.approx(0.75 + 0.25 / 3)]


def test_a_picture_needs_no_table():
    result = ask(sample(3000, 1), accept=SVG, band='{"kind": "simultaneous"}')
    assert result.status == 200
