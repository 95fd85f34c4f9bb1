"""The options of pictures, and their limits.

Knows names and numbers only.
"""

from dataclasses import dataclass

CHARTS = {
    "curves": ("both", "roc", "pr", "calibration", "costs", "gains", "lift", "net_benefit", "det"),
    "tradeoffs": ("tradeoffs",),
    "comparisons": ("both", "roc", "pr", "best_tradeoff", "gains", "det"),
    "gates": ("gate",),
    "slices": ("both", "roc", "pr"),
    "classes": ("both", "roc", "pr"),
}
"""{operation: its charts}, the default first."""

THEMES = ("auto", "light", "dark")
NARROWEST, WIDEST = 160, 1200
MOST_MARKS = 10
LARGEST_SCALE = 4
USUAL_SIDE, USUAL_SCALE = 320, 2


@dataclass(frozen=True, slots=True)
class Picture:
    """What to draw, and how.

    chart   one of CHARTS.
    side    of a plane, in CSS pixels, NARROWEST to WIDEST.
    theme   one of THEMES; auto follows the reader's.
    marks   thresholds whose rows get a dot, up to MOST_MARKS.
    scale   the enlargement of a PNG, 1 to LARGEST_SCALE.
    """

    chart: str
    side: int = USUAL_SIDE
    theme: str = "auto"
    title: str = ""
    marks: tuple[float, ...] = ()
    scale: int = USUAL_SCALE

    @property
    def planes(self) -> tuple[str, ...]:
        """The planes of the chart: ROC, PR or both."""
        return ("roc", "pr") if self.chart == "both" else (self.chart,)


Pictures = tuple[Picture, ...]
"""The pictures of one answer, which differ only in their chart."""
