"""The option `charts` from bytes to bytes: pictures within a JSON answer, the same as those that are an answer."""

import json
import re
from functools import partial

import pytest

from service.charts.picture import CHARTS
from service.charts.svg import STYLE_ELEMENT
from service.wire.media_types import ARROW_STREAM, CSV, JSON, MARKDOWN, SVG, XML
from tests.support.asking import answered, ask, refusals

SAMPLE = {"scores": [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], "labels": [1, 0, 1, 1, 0, 0]}
OTHER = SAMPLE | {"scores": [0.9, 0.7, 0.8, 0.7, 0.4, 0.3]}
BODIES = {
    "curves": SAMPLE | {"intervals": {}, "operating_points": [{"metric": "tpr_at_fpr", "at": 0.1}]},
    "tradeoffs": SAMPLE,
    "comparisons": {"evaluations": [{"name": "a", **SAMPLE}, {"name": "b & <i>", **OTHER}]},
    "gates": SAMPLE | {"rules": [{"metric": "roc", "min": 0.9}]},
}
EVERY_CHART = [(operation, chart) for operation in BODIES for chart in CHARTS[operation]]
DRAWN = {"side": "200", "theme": "dark", "title": "</style><b>&"}


def picture(operation, **query):
    """The picture as a separate answer."""
    result = ask(operation, BODIES[operation], accept=SVG, **query)
    assert result.status == 200
    return result.body.decode()


@pytest.mark.parametrize(("operation", "chart"), EVERY_CHART)
class TestEveryChart:
    def test_is_the_picture_without_its_style(self, operation, chart):
        alone = picture(operation, chart=chart)
        assert STYLE_ELEMENT in alone
        found = answered(operation, BODIES[operation] | {"charts": [chart]})["charts"]
        assert found == {chart: alone.replace(STYLE_ELEMENT, "")}
        assert "<style" not in found[chart]

    def test_is_drawn_as_asked_for(self, operation, chart):
        marks = {"mark": "0.7,0.2"} if operation == "curves" else {}
        in_query = answered(operation, BODIES[operation], charts=chart, **DRAWN, **marks)["charts"]
        assert in_query == {chart: picture(operation, chart=chart, **DRAWN, **marks)}
        in_body = DRAWN | {"side": 200, "charts": [chart]} | ({"mark": [0.7, 0.2]} if marks else {})
        assert answered(operation, BODIES[operation] | in_body)["charts"] == in_query


@pytest.mark.parametrize("operation", BODIES)
class TestEveryOperation:
    def test_all_of_its_charts_change_nothing_else(self, operation):
        plain = answered(operation, BODIES[operation])
        found = answered(operation, BODIES[operation] | {"charts": [*CHARTS[operation], CHARTS[operation][0]]})
        assert list(found.pop("charts")) == list(CHARTS[operation])
        assert found == plain

    def test_none_are_drawn_unasked(self, operation):
        for charts in ({}, {"charts": []}, {"charts": None}):
            assert "charts" not in answered(operation, BODIES[operation] | charts)

    @pytest.mark.parametrize("charts", [["none"], ["chart"], [None], "roc", {"roc": 1}, [["roc"]]])
    def test_other_names_are_refused(self, operation, charts):
        ((pointer, code),) = refusals(operation, BODIES[operation] | {"charts": charts})
        assert (pointer, code) in {("/charts/0", "not_one_of"), ("/charts", "not_a_list")}

    @pytest.mark.parametrize("name", ["side", "theme", "title"])
    def test_drawing_options_need_pictures(self, operation, name):
        value = {"side": 200, "theme": "dark", "title": "a"}[name]
        assert refusals(operation, BODIES[operation] | {name: value}) == [(f"/{name}", "exclusive")]
        assert refusals(operation, BODIES[operation], **{name: str(value)}) == [(f"/{name}", "exclusive")]

    def test_chart_is_that_of_a_picture(self, operation):
        chart = CHARTS[operation][0]
        assert refusals(operation, BODIES[operation], charts=chart, chart=chart) == [("/chart", "exclusive")]

    def test_one_of_both_says_it(self, operation):
        chart = CHARTS[operation][0]
        asked = BODIES[operation] | {"charts": [chart], "side": 200}
        assert refusals(operation, asked, charts=chart) == [("/charts", "exclusive")]
        assert refusals(operation, asked, side="300") == [("/side", "exclusive")]

    @pytest.mark.parametrize(
        ("drawn", "pointer"),
        [
            ({"side": 159}, "/side"),
            ({"side": 1201}, "/side"),
            ({"theme": "grey"}, "/theme"),
            ({"title": "a" * 121}, "/title"),
            ({"title": "\n"}, "/title"),
        ],
    )
    def test_bounds_are_those_of_pictures(self, operation, drawn, pointer):
        body = BODIES[operation] | {"charts": [CHARTS[operation][0]]} | drawn
        assert [place for place, _ in refusals(operation, body)] == [pointer]


@pytest.mark.parametrize(
    ("operation", "accept"),
    [
        *[
            (operation, accept)
            for operation in ("curves", "tradeoffs", "comparisons")
            for accept in (CSV, ARROW_STREAM)
        ],
        *[("gates", accept) for accept in (MARKDOWN, XML)],
        *[(operation, SVG) for operation in BODIES],
    ],
)
def test_only_json_has_room_for_them(operation, accept):
    body = BODIES[operation] | {"charts": [CHARTS[operation][0]]}
    assert refusals(operation, body, accept=accept) == [("/charts", "exclusive")]


def test_marks_are_for_curves_and_few():
    assert refusals("curves", SAMPLE | {"mark": [0.5]}) == [("/mark", "exclusive")]
    assert refusals("curves", SAMPLE | {"charts": ["roc"], "mark": [0.5] * 11}) == [("/mark", "wrong_length")]
    assert refusals("tradeoffs", SAMPLE | {"charts": ["tradeoffs"], "mark": [0.5]}) == [("/mark", "unknown_field")]


@pytest.mark.parametrize("include", [["points"], ["auc"], ["interpolated_pr"]])
def test_a_picture_names_areas_whatever_the_answer_holds(include):
    """The picture shows what it would show without `include`."""
    plain = answered("curves", SAMPLE | {"include": include})
    found = answered("curves", SAMPLE | {"include": include, "charts": ["both"]})
    drawn = found.pop("charts")["both"]
    assert found == plain
    assert "area 0.7778" in drawn


def test_tables_ask_in_the_query():
    body = "new,old,labels\n0.9,0.8,1\n0.4,0.5,0\n0.7,0.2,1\n"
    table = partial(answered, body=body, content_type=CSV)
    assert set(table("curves", scores="new", charts="roc,pr")["charts"]) == {"roc", "pr"}
    assert set(table("comparisons", scores="new,old", charts='["best_tradeoff"]')["charts"]) == {"best_tradeoff"}
    rules = json.dumps([{"metric": "roc", "max_drop": 0}])
    found = table("gates", scores="new", baseline_scores="old", rules=rules, charts="gate", theme="light")
    assert found["charts"]["gate"].startswith("<svg ")


def test_counts_that_are_not_a_sweep_are_drawn_as_dots():
    counts = {"counts": {"tp": [6, 9, 8], "fp": [1, 4, 6], "positives": 10, "negatives": 10}}
    found = answered("curves", counts | {"charts": ["both"]})
    assert "which form no curve" in found["charts"]["both"]


def test_colours_are_attributes_and_classes():
    """A page can override them for a dark theme: every shape and text has a class of the theme."""
    drawn = answered("curves", SAMPLE | {"charts": ["both"]})["charts"]["both"]
    shapes = re.findall(r"<(?:polyline|path|rect|text) [^>]*>", drawn)
    assert len(shapes) > 50
    assert all(re.search(r'class="\w+" color="#[0-9a-f]{6}"', shape) for shape in shapes)


def test_the_media_type_is_that_of_json():
    assert ask("curves", SAMPLE | {"charts": ["roc"]}).media_type == JSON
