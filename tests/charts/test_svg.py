"""Laws of all pictures: valid XML that runs nothing, with a description in words for screen readers."""

from __future__ import annotations

import base64
import hashlib
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from service.charts import theme
from service.charts.picture import CHARTS, NARROWEST, WIDEST
from service.charts.svg import LONGEST_NAME, Sheet, clean, named, text_width, wrapped
from service.wire.answers.encoders import PICTURE_POLICY
from service.wire.media_types import CSV, JSON, SVG
from tests.charts.drawing import BODIES, NAMESPACE, comparison, described, drawn, svg_of, texts
from tests.support.asking import ask, refusals
from tests.support.sampling import some

HOSTILE = [
    "</text><script>alert(1)</script>",
    "<style>@import 'http://example.org'</style>",
    '"\' onload="alert(1)',
    "&amp; &#x3c; ]]>",
    "\u202eabc\u2066",
    "\ufffe\uffff",
    "漢字" * 40,
    "😀" * 60,
    "x" * 100,
]
SHAPES = {"svg", "title", "desc", "style", "rect", "polyline", "polygon", "path", "text"}
ATTRIBUTES = {
    *(
        "class",
        "color",
        "fill",
        "opacity",
        "stroke",
        "stroke-width",
        "stroke-dasharray",
        "stroke-linecap",
        "stroke-linejoin",
    ),
    *("x", "y", "width", "height", "points", "d", "transform"),
    *("text-anchor", "font-size", "font-weight", "font-family"),
    *("role", "viewBox", "aria-hidden"),
}
EVERY = [(name, each) for name, found in CHARTS.items() for each in found]


def assert_harmless(picture: ET.Element) -> None:
    for element in picture.iter():
        assert element.tag.removeprefix(NAMESPACE) in SHAPES
        assert set(element.attrib) <= ATTRIBUTES
        assert all(":" not in value for value in element.attrib.values())
        if element.tag == f"{NAMESPACE}style":
            assert element.text == theme.STYLE


@pytest.mark.parametrize(
    ("operation", "chart", "look"), some([(*each, look) for each in EVERY for look in ("auto", "light", "dark")], 2)
)
def test_a_picture_is_shapes_and_texts_alone(operation: str, chart: str, look: str) -> None:
    picture = drawn(operation, BODIES[operation], chart=chart, theme=look)
    assert_harmless(picture)
    assert picture.get("role") == "img"
    assert picture.findtext(f"{NAMESPACE}title")
    assert len(described(picture)) > 40
    assert len(picture.findall(f"{NAMESPACE}style")) == (look == "auto")


@pytest.mark.parametrize(("operation", "chart"), EVERY)
def test_the_description_says_every_number_of_the_legend(operation: str, chart: str) -> None:
    picture = drawn(operation, BODIES[operation], chart=chart)
    legend = [each.text or "" for each in picture.iter(f"{NAMESPACE}text") if "text-anchor" not in each.attrib]
    written = re.findall(r"\d\.\d{4}", " ".join(legend))
    assert [number for number in written if number not in described(picture)] == []
    assert written or chart in {"calibration", "costs", "lift", "net_benefit", "best_tradeoff"}


@pytest.mark.parametrize("text", some(HOSTILE, 2))
def test_names_and_titles_of_any_content_are_text(text: str) -> None:
    for chart in CHARTS["comparisons"]:
        picture = drawn("comparisons", comparison(text, "b"), chart=chart, title=text)
        assert_harmless(picture)
        assert picture.findtext(f"{NAMESPACE}title") == clean(text)
        shown = " ".join(texts(picture)).replace("\xa0", " ")
        assert named(text).split(" ")[0].rstrip("…")[:10] in shown


def test_what_no_text_may_hold_is_replaced() -> None:
    sheet = Sheet("light", 100)
    sheet.text("ink", (0, 0), "a\x00\x1b[2J\ud800\u202eb")
    picture = ET.fromstring(sheet.written("\x07", ["\ud800"]))
    assert texts(picture) == ["a\ufffd\ufffd[2J\ufffd\ufffdb"]
    assert (picture.findtext(f"{NAMESPACE}title"), described(picture)) == ("\ufffd", "\ufffd")


def test_long_names_are_cut() -> None:
    assert named("x" * 41) == "x" * (LONGEST_NAME - 1) + "…"
    assert named("x" * 40) == "x" * 40


@pytest.mark.parametrize(
    ("operation", "chart", "side"), some([(*each, side) for each in EVERY for side in (NARROWEST, 240, 320, WIDEST)], 3)
)
def test_no_text_leaves_the_picture(operation: str, chart: str, side: int) -> None:
    options = {"mark": "[0.123456789, 1e-300]"} if operation == "curves" else {}
    body: Any = BODIES[operation]
    picture = drawn(operation, body, chart=chart, side=str(side), title="A title of many words, " * 4, **options)
    wide, high = (float(picture.get(key, "")) for key in ("width", "height"))
    for element in picture.iter(f"{NAMESPACE}text"):
        x, y, size = (float(element.get(key, default)) for key, default in (("x", ""), ("y", ""), ("font-size", "12")))
        assert 0 < y <= high
        if "transform" not in element.attrib:
            length = text_width(element.text or "", size) * (1.15 if "font-weight" in element.attrib else 1)
            start = x - {"middle": length / 2, "end": length}.get(element.get("text-anchor", ""), 0)
            assert start >= 0, element.text
            assert start + length <= wide + 1, element.text


def test_the_style_is_allowed_by_its_hash_and_nothing_else_is() -> None:
    result = ask("curves", BODIES["curves"], accept=SVG)
    policy = result.headers["Content-Security-Policy"]
    assert policy == PICTURE_POLICY
    style = re.search("<style>(.*)</style>", result.body.decode())[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; frame-ancestors 'none'"


def test_the_dark_theme_has_the_colours_that_auto_has_in_the_dark() -> None:
    dark = drawn("curves", BODIES["curves"], theme="dark")
    in_style = dict(re.findall(r"\.(\w+)\{color:(#\w+)\}", theme.STYLE))
    assert {element.get("class"): element.get("color") for element in dark.iter() if element.get("class")}.items() <= (
        in_style.items()
    )


def luminance(colour: str) -> float:
    """The luminance of WCAG 2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("name", sorted(theme.COLOURS.keys() - {"paper", "grid", "good"}))
def test_what_is_read_has_contrast(name: str, look: str) -> None:
    on_paper = sorted(luminance(theme.colour(each, look)) + 0.05 for each in (name, "paper"))
    assert on_paper[1] / on_paper[0] >= 4.5


def test_fifty_curves_are_told_apart() -> None:
    assert len({(theme.hue(number), theme.dash(number)) for number in range(50)}) == 50


@pytest.mark.parametrize(
    ("text", "as_wide_as", "lines"),
    [
        ("one two three", "one two", ["one two", "three"]),
        (" one  two ", "one two", ["one two"]),
        ("a\xa0b c", "a b", ["a\xa0b", "c"]),
        ("aaa bbb ccc ddd", "ccc…", ["aaa", "bbb", "ccc…"]),
        ("xxxxxxxxx y", "xxx…", ["xxx…", "y"]),
        ("xx…xxx", "xx……", ["xx…"]),
    ],
)
def test_a_text_is_broken_or_cut_where_it_does_not_fit(text: str, as_wide_as: str, lines: list[str]) -> None:
    assert wrapped(text, text_width(as_wide_as)) == lines


def test_no_letter_is_wider_than_assumed() -> None:
    """The widths of letters in DejaVu Sans, in ems of 2,048 units, from its table hmtx."""
    units = {"W": 2025, "m": 1995, "%": 1946, "M": 1767, "w": 1675, "O": 1612, "0": 1303, "n": 1298, "r": 842, "I": 604}
    assert all(units / 2048 <= text_width(letter, 1) <= units / 2048 + 0.08 for letter, units in units.items())


@pytest.mark.parametrize("operation", CHARTS)
@pytest.mark.parametrize("name", ["chart", "side", "theme", "title"])
def test_options_of_pictures_need_pictures(operation: str, name: str) -> None:
    options = {name: {"chart": CHARTS[operation][0], "side": "320", "theme": "dark", "title": "A"}[name]}
    assert svg_of(operation, BODIES[operation], **options)
    assert refusals(operation, BODIES[operation], accept=JSON, **options) == [(f"/{name}", "exclusive")]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"chart": "gate"}, ("/chart", "not_one_of")),
        ({"side": "159"}, ("/side", "out_of_range")),
        ({"side": "1201"}, ("/side", "out_of_range")),
        ({"side": "a"}, ("/side", "not_json")),
        ({"theme": "blue"}, ("/theme", "not_one_of")),
        ({"title": "x" * 121}, ("/title", "wrong_length")),
        ({"title": "a\nb"}, ("/title", "not_text")),
        ({"mark": str([0.5] * 11)}, ("/mark", "wrong_length")),
        ({"mark": "[null]"}, ("/mark/0", "not_a_number")),
        ({"table": "points"}, ("/table", "exclusive")),
    ],
)
def test_wrong_options_of_pictures_are_reported(options: dict[str, str], error: tuple[str, str]) -> None:
    assert refusals("curves", BODIES["curves"], accept=SVG, **options) == [error]


def test_marks_are_of_curves() -> None:
    assert refusals("tradeoffs", BODIES["tradeoffs"], accept=SVG, mark="[0.5]") == [("/mark", "unknown_field")]


def test_options_of_pictures_go_with_a_table_as_the_body_too() -> None:
    body = "scores,labels\n0.9,1\n0.2,0\n"
    picture = drawn("curves", body, content_type=CSV, chart="roc", side="160")
    assert float(picture.get("width", "")) == 226
