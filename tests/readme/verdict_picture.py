"""The picture of a verdict in the guide: `python -m tests.readme.verdict_picture` draws it again.

Each rule is a row, and each row is shifted so that the bounds of all stand on one line: to the right of it a rule is
met. What is drawn is what `rocpr gate --json` says of the example in gates.md.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PICTURE = ROOT / "service" / "guide" / "verdict.svg"
COMMAND = ("gate", "tests/data/rules.toml", "tests/data/breast_cancer_ten.csv")
COMMAND += ("--baseline", "tests/data/breast_cancer.csv", "--json")

WIDTH, ROW, TOP = 820, 44, 60
LINE = 660
"""Where the bounds stand."""
SCALE = 3800
"""So many pixels are a difference of 1."""
REACH = 140
"""What lies further than this from the line is drawn as an arrow."""
COLOURS = {"passed": "#1a7f37", "failed": "#cf222e", "undecided": "#9a6700"}


def verdict() -> dict[str, Any]:
    """Ask for the example's verdict."""
    program = "from service.cli.main import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", program, *COMMAND], cwd=ROOT, capture_output=True, check=False, timeout=120
    )
    document: dict[str, Any] = json.loads(run.stdout)
    return document


def picture(document: dict[str, Any]) -> str:
    """Draw a verdict."""
    checks = document["checks"]
    height = TOP + ROW * len(checks) + 14
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff" stroke="#d0d7de"/>',
        _text(LINE, 24, "the bound", anchor="middle", colour="#57606a"),
        _text(LINE - 16, 46, "← fails", anchor="end", colour="#57606a"),
        _text(LINE + 16, 46, "meets it →", colour="#57606a"),
        f'<line x1="{LINE}" y1="32" x2="{LINE}" y2="{height - 10}" stroke="#57606a" stroke-dasharray="4 3"/>',
    ]
    for number, check in enumerate(checks):
        parts += _row(check, TOP + ROW * number + ROW // 2)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _row(check: dict[str, Any], y: int) -> list[str]:
    rule, colour = check["rule"], COLOURS[check["status"]]
    place = [f"{word} {rule[key]:g}" for key, word in (("at", "at"), ("at_threshold", "at threshold")) if key in rule]
    kind = next(name for name in ("min", "max", "max_drop") if name in rule)
    sure = f", {100 * rule['confidence']:g} % sure" if "confidence" in rule else ""
    sign = -1 if kind == "max" else 1
    bound = -rule[kind] if kind == "max_drop" else rule[kind]
    value = check["difference"] if kind == "max_drop" else check["value"]
    found = [
        _text(16, y - 2, " ".join([rule["metric"], *place])),
        _text(16, y + 15, f"{kind} {rule[kind]:g}{sure}", colour="#57606a", size=12),
        _text(235, y + 5, check["status"], colour=colour),
    ]
    interval = check["interval"] if "confidence" in rule else None
    what = "difference " if kind == "max_drop" else ""
    found.append(_text(310, y - 2, f"{what}{value:.4f}"))
    if interval:
        ends = f"{interval['lower']:.4f} to {interval['upper']:.4f}"
        found.append(_text(310, y + 15, ends, colour="#57606a", size=12))
    if interval:
        places = sorted(sign * SCALE * (interval[end] - bound) for end in ("lower", "upper"))
        left, right = (LINE + max(-REACH, min(REACH, place)) for place in places)
        ends_of_line = f'x1="{left:.1f}" y1="{y}" x2="{right:.1f}" y2="{y}"'
        found.append(f'<line {ends_of_line} stroke="{colour}" stroke-width="5" stroke-linecap="round"/>')
    x = sign * SCALE * (value - bound)
    if abs(x) > REACH:
        found.append(_text(LINE + (REACH if x > 0 else -REACH), y + 5, "→" if x > 0 else "←", colour=colour, size=18))
    else:
        found.append(
            f'<circle cx="{LINE + x:.1f}" cy="{y}" r="6.5" fill="#ffffff" stroke="{colour}" stroke-width="3"/>'
        )
    return found


def _text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = "#1f2328", size: int = 14) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{escape(text)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(picture(verdict()), encoding="utf-8")
