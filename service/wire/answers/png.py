"""A picture as PNG, if the extra png is installed and there is a font.

resvg holds the GIL while it draws, and ends the process for sizes that do not fit in memory, so a server draws in an
evaluator process, and sizes are checked first. Without a font it silently omits texts, so a letter is drawn first, in a
separate process.
"""

import re
import subprocess
import sys
from functools import cache
from html import escape
from importlib.util import find_spec

from service.charts.svg import FONT
from service.wire.problems import invalid_value

NEEDS = "PNG needs the extra png and a font, such as DejaVu Sans, where rocpr runs."
"""What is missing if PNG is not offered."""

MOST_PIXELS = 16_000_000
"""Pixels of a whole picture; about 90 ns and 8 bytes each."""

_SANS_SERIF = "DejaVu Sans"
"""The fallback if none of a picture's fonts is there; resvg's own is Arial."""

_SECONDS = 20.0
"""The time limit for drawing the letter."""

_SVG_SIZE = re.compile(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"')


def png_of(svg: str, scale: int) -> bytes:
    """Draw one of our pictures, `scale` times as large. Raises Problem if it is too large."""
    size = _SVG_SIZE.match(svg)
    assert size is not None, "every picture begins with its size"  # noqa: S101  # pictures are always ours
    wide, high = (round(float(side) * scale) for side in size.groups())
    if wide * high > MOST_PIXELS:
        message = f"The picture would have {wide} x {high} pixels; at most {MOST_PIXELS} in all can be drawn."
        raise invalid_value("/scale", "out_of_range", f"{message} Ask for a smaller scale or side, or for SVG.")
    return _drawn(svg, scale)


@cache
def is_drawn() -> bool:
    """Whether PNG can be drawn here, including text; takes a tenth of a second once."""
    if find_spec("resvg_py") is None:
        return False
    program = f"import sys; from {__name__} import shows_ink; sys.exit(not shows_ink())"
    try:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603  # ours
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def shows_ink() -> bool:
    """Draw a letter, and check whether it appears."""
    blank, letter = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">'
        f'<text x="2" y="16" font-family="{escape(FONT)}">{content}</text></svg>'
        for content in ("", "M")
    )
    return _drawn(letter, 1) != _drawn(blank, 1)


def _drawn(svg: str, scale: int) -> bytes:
    import resvg_py  # noqa: PLC0415  # an extra

    return resvg_py.svg_to_bytes(svg_string=svg, zoom=scale, sans_serif_family=_SANS_SERIF)
