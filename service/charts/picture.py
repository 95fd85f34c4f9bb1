"""How a picture is asked for."""

from dataclasses import dataclass

CHARTS = {
    "curves": ("both", "roc", "pr"),
    "tradeoffs": ("tradeoffs",),
    "comparisons": ("both", "roc", "pr", "best_tradeoff"),
    "gates": ("gate",),
}
"""{operation: its charts}, the default first."""

THEMES = ("auto", "light", "dark")
NARROWEST, WIDEST = 160, 1200
MOST_MARKS = 10


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn, and how.

    chart   one of CHARTS.
    side    of a plane, in CSS pixels, NARROWEST to WIDEST.
    theme   one of THEMES; auto follows the reader's.
    marks   thresholds whose rows get a dot, up to MOST_MARKS.
    """

    chart: str
    side: int = 320
    theme: str = "auto"
    title: str = ""
    marks: tuple[float, ...] = ()

    @property
    def planes(self) -> tuple[str, ...]:
        """The planes of a chart that has one or both of ROC and PR."""
        return ("roc", "pr") if self.chart == "both" else (self.chart,)


Pictures = tuple[Picture, ...]
"""The pictures of one answer, which differ in their chart alone."""
