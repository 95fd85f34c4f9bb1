"""The curves of an evaluation in characters, for a terminal: 60 columns of braille dots.

Knows the result of `curves`, nothing of terminals.
"""

from collections.abc import Iterator

import numpy as np

from service.charts.curves import PLANE_NAMES
from service.charts.picture import Picture
from service.charts.svg import clean
from service.curves.arrays import FloatArray
from service.curves.clock import still_time
from service.curves.drawing import DrawnTable
from service.curves.thinning import Line
from service.inference.curves_with_intervals import EvaluatedCurves

_CELLS_WIDE, _CELLS_HIGH = 54, 16
"""Characters of a plane, of 2 by 4 dots each."""
_ACROSS, _DOWN = 2, 4
_DOT_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each dot of a braille character, by row and column."""
_BRAILLE = 0x2800
_UPPER, _LOWER = 0x1B, 0xE4
"""The bits of the two upper rows of dots, and of the lower ones."""
_ASCII = dict(zip(map(ord, "│└─"), "|+-", strict=True)) | {
    _BRAILLE + bits: ":" if bits & _UPPER and bits & _LOWER else "'" if bits & _UPPER else "." if bits else " "
    for bits in range(0x100)
}
_MARGIN = 5
_LABELS = {0: "1", _CELLS_HIGH // 2: "0.5", _CELLS_HIGH - 1: "0"}
_AXES = {"roc": ("true positive rate", "false positive rate"), "pr": ("precision", "recall")}


def curves_text(result: EvaluatedCurves, picture: Picture) -> str:
    """Draw an evaluation in lines of at most 60 characters, with the dotted line explained below each plane."""
    still_time()
    lines = [clean(picture.title), ""] if picture.title else []
    for number, name in enumerate(picture.planes):
        lines += [""] if number else []
        lines += _plane(result, name)
    return "\n".join([*lines, ""])


def in_ascii(text: str) -> str:
    """Write the same in ASCII, chosen by which halves of a character have dots."""
    return text.translate(_ASCII)


def _plane(result: EvaluatedCurves, name: str) -> Iterator[str]:
    if result.drawing is None:
        raise ValueError("This evaluation was made without a drawing.")
    area = getattr(result.curves.auc, name)
    upright, level = _AXES[name]
    dots = np.zeros((_CELLS_HIGH * _DOWN, _CELLS_WIDE * _ACROSS), dtype=np.bool_)
    reference = Line(np.array([0.0, 1.0]), np.array([0.0, 1.0] if name == "roc" else [result.prevalence] * 2))
    _draw(dots, reference, every=6)
    _draw_table(dots, result.drawing.curve, name)
    yield f"{PLANE_NAMES[name]}{'' if area is None else f', area {area:.4f}'}"
    yield f"{'':{_MARGIN}}{upright}"
    for row in range(_CELLS_HIGH):
        yield f"{_LABELS.get(row, ''):>{_MARGIN - 2}} │{_characters(dots[row * _DOWN : (row + 1) * _DOWN])}".rstrip()
    yield f"{'':{_MARGIN - 1}}└{'─' * _CELLS_WIDE}"
    yield f"{'':{_MARGIN}}0{'0.5':^{_CELLS_WIDE - 2}}1"
    yield f"{'':{_MARGIN}}{level:>{_CELLS_WIDE}}"
    dotted = "chance" if name == "roc" else f"prevalence {result.prevalence:.4g}"
    yield f"{'':{_MARGIN}}dotted: {dotted}"


def _draw_table(dots: np.ndarray, table: DrawnTable, name: str) -> None:
    line: Line = getattr(table, name)
    if table.rises:
        _draw(dots, line)
    else:
        dots[_places(line.x, line.y, dots)] = True


def _draw(dots: np.ndarray, line: Line, every: int = 1) -> None:
    """Set the dots along a line, or only every n-th of them, so that it is dotted."""
    high, wide = dots.shape
    across, up = np.diff(line.x), np.diff(line.y)
    steps = np.ceil(2 * np.maximum(np.abs(across) * wide, np.abs(up) * high)).astype(np.int64) + 1
    segment = np.arange(steps.size).repeat(steps)
    still_time()
    share = (np.arange(segment.size) - (steps.cumsum() - steps)[segment]) / steps[segment]
    x, y = line.x[segment] + across[segment] * share, line.y[segment] + up[segment] * share
    x, y = np.append(x, line.x[-1]), np.append(y, line.y[-1])
    step = 2 * every if every > 1 else 1
    dots[_places(x[::step], y[::step], dots)] = True


def _places(x: FloatArray, y: FloatArray, dots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns of points."""
    high, wide = dots.shape
    return np.rint((1 - y) * (high - 1)).astype(np.int64), np.rint(x * (wide - 1)).astype(np.int64)


def _characters(rows: np.ndarray) -> str:
    """Write four rows of dots as one line of braille, with spaces for characters without dots."""
    cells = rows.reshape(_DOWN, _CELLS_WIDE, _ACROSS)
    bits = (cells * np.array(_DOT_BITS)[:, np.newaxis, :]).sum(axis=(0, 2))
    return "".join(chr(_BRAILLE + value) if value else " " for value in bits.tolist())
