"""PNG: the pixels of the SVG picture, with its text, limited before it is drawn."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from service.answer import response_media_types
from service.charts.theme import colour
from service.wire.answers import png
from service.wire.media_types import PNG, SVG
from tests.charts.drawing import BODIES, NO_SWEEP, SAMPLE, drawn
from tests.support.asking import ask, refusals

DRAWS = png.is_drawn()
drawn_here = pytest.mark.skipif(not DRAWS, reason=png.NEEDS)


def paeth(left: int, up: int, corner: int) -> int:
    """The one of the three that is nearest to left + up - corner; the first of those as near."""
    of_left, of_up, of_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    if of_left <= of_up and of_left <= of_corner:
        return left
    return up if of_up <= of_corner else corner


def pixels(file: bytes) -> NDArray[np.uint8]:
    """The (height, width, 4) samples of a PNG with eight bits each, by the specification: filters 0 to 4."""
    assert file.startswith(b"\x89PNG\r\n\x1a\n")
    place, parts, head = 8, [], b""
    while place < len(file):
        (length,) = struct.unpack(">I", file[place : place + 4])
        kind, content = file[place + 4 : place + 8], file[place + 8 : place + 8 + length]
        head = content if kind == b"IHDR" else head
        parts += [content] if kind == b"IDAT" else []
        place += 12 + length
    wide, high, bits, colours = struct.unpack(">IIBB", head[:10])
    assert (bits, colours) == (8, 6)
    samples = zlib.decompress(b"".join(parts))
    width = 1 + 4 * wide
    above, lines = [0] * (width + 3), []
    for start in range(0, high * width, width):
        kind, line = samples[start], [0] * 4
        for up, corner, sample in zip(above[4:], above, samples[start + 1 : start + width], strict=False):
            left = line[-4]
            predicted = (0, left, up, (left + up) // 2)[kind] if kind < 4 else paeth(left, up, corner)
            line.append((sample + predicted) % 256)
        above = line
        lines.append(line[4:])
    return np.array(lines, np.uint8).reshape(high, wide, 4)


def size(file: bytes) -> tuple[int, int]:
    return struct.unpack(">II", file[16:24])


def png_of(operation: str, body: Any, **options: str) -> bytes:
    result = ask(operation, body, accept=PNG, **options)
    assert (result.status, result.media_type) == (200, PNG), result.body
    return result.body


@drawn_here
@pytest.mark.parametrize("operation", BODIES)
def test_every_operation_has_it_twice_as_large_as_its_svg(operation: str) -> None:
    svg = drawn(operation, BODIES[operation])
    wide, high = float(svg.get("width", "")), float(svg.get("height", ""))
    assert size(png_of(operation, BODIES[operation])) == (round(2 * wide), round(2 * high))


@drawn_here
@pytest.mark.parametrize("theme", [pytest.param("auto", marks=pytest.mark.all), "light", "dark"])
def test_the_paper_has_the_colour_of_its_theme(theme: str) -> None:
    image = pixels(png_of("curves", SAMPLE, chart="roc", side="160", scale="1", theme=theme))
    assert "#" + bytes(image[0, 0, :3]).hex() == colour("paper", theme)
    assert (image[..., 3] == 255).all()


@drawn_here
def test_texts_are_there() -> None:
    plain, titled = (
        pixels(png_of("curves", SAMPLE, chart="roc", side="160", scale="1", title=title)) for title in ("", "MMMMM")
    )
    taller = len(titled) - len(plain)
    assert taller > 10
    assert (titled[:taller, :, 0] < 128).sum() > 50


@drawn_here
@pytest.mark.parametrize(("side", "scale", "wide"), [("1200", None, 1), ("1000", None, 2), ("200", "4", 4)])
def test_the_scale_is_two_where_that_fits(side: str, scale: str | None, wide: int) -> None:
    options = {"chart": "roc", "side": side}
    whole = float(drawn("curves", SAMPLE, **options).get("width", ""))
    given = {} if scale is None else {"scale": scale}
    assert size(png_of("curves", SAMPLE, **options, **given))[0] == round(wide * whole)


@drawn_here
def test_warnings_are_in_its_header_too() -> None:
    assert ask("curves", NO_SWEEP, accept=PNG).headers == {
        "Rocpr-Warnings": ask("curves", NO_SWEEP, accept=SVG).headers["Rocpr-Warnings"]
    }


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"scale": "0"}, "out_of_range"),
        ({"scale": "5"}, "out_of_range"),
        ({"scale": "1.5"}, "not_whole"),
        ({"scale": "2", "side": "1001"}, "out_of_range"),
        ({"scale": "[2]"}, "not_a_number"),
    ],
)
@pytest.mark.parametrize("operation", BODIES)
def test_scales_that_are_wrong(operation: str, options: dict[str, str], code: str) -> None:
    assert refusals(operation, BODIES[operation], accept=PNG, **options) == [("/scale", code)]


def test_a_scale_needs_png() -> None:
    assert refusals("curves", SAMPLE, accept=SVG, scale="2") == [("/scale", "unknown_field")]
    assert refusals("curves", SAMPLE, scale="2") == [("/scale", "exclusive")]


def test_a_picture_that_is_too_large_is_never_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "_drawn", lambda *_: pytest.fail("it was drawn"))
    rules = [{"metric": "roc", "min": 0.001 * place} for place in range(100)]
    body = SAMPLE | {"rules": rules}
    assert refusals("gates", body, accept=PNG, scale="4") == [("/scale", "out_of_range")]


def test_it_is_not_offered_where_it_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_drawn in (True, False):
        monkeypatch.setattr(png, "is_drawn", lambda is_drawn=is_drawn: is_drawn)
        assert all((PNG in response_media_types(operation)) == is_drawn for operation in BODIES)


LOOK = """
import sys, types
drawn = []
resvg = types.ModuleType("resvg_py", None)
resvg.svg_to_bytes = lambda svg_string, **_: drawn.append(svg_string) or {answer}
sys.modules["resvg_py"] = resvg
from service.wire.answers import png
print(png.shows_ink(), len(drawn))
"""


@pytest.mark.parametrize(("answer", "ink"), [("b''", "False 2"), ("svg_string.encode()", "True 2")])
def test_ink_is_what_a_letter_adds(answer: str, ink: str) -> None:
    program = [sys.executable, "-c", LOOK.format(answer=answer)]
    assert subprocess.run(program, capture_output=True, text=True, check=True).stdout.strip() == ink


@pytest.mark.parametrize("failure", ["missing", "no interpreter", "no ink"])
def test_whatever_fails_it_is_not_drawn(failure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if failure == "missing":
        monkeypatch.setattr(png, "find_spec", lambda _: None)
    elif failure == "no interpreter":
        monkeypatch.setattr(png, "find_spec", lambda _: object())
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
    else:
        monkeypatch.setattr(png, "find_spec", lambda _: object())
        monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 1))
    assert not png.is_drawn.__wrapped__()
