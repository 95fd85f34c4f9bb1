"""`python -m tests.tools.error_rates_of_gates.parts`: whether gates on parts of curves keep their level.

The same cells as in cells.py, with the mean height over a range in place of an area: the 90 % interval of a difference
is compared with the true difference, and 95 % intervals, of the difference and of one mean, with the true values.
"""

import sys
from collections import Counter
from math import sqrt

import numpy as np
from scipy.stats import norm

from service.curves.partial_areas import PartialRange
from service.inference.metric import PARTIAL, Metric
from service.inference.models import Models
from tests.tools.coverage_of_intervals.populations import Population
from tests.tools.error_rates_of_gates.cells import KINDS, Cell, Found, kinds_of, report

PARTS = {
    "fpr 0 to 0.1": PartialRange("fpr", 0.0, 0.1),
    "tpr 0.8 to 1": PartialRange("tpr", 0.8, 1.0),
    "recall 0 to 0.3": PartialRange("recall", 0.0, 0.3),
    "fpr 0 to 0.2, tpr above 0.5": PartialRange("fpr", 0.0, 0.2, 0.5),
}
CELLS = [
    Cell(*size, area, drop, 0.9)
    for size in ((20, 2000), (30, 200), (50, 100), (100, 300), (200, 2000), (200, 15))
    for area, drop in ((0.85, 0.05), (0.97, 0.02))
]
_STEPS = 20_001


def truth(cell: Cell, area: float, part: PartialRange) -> float:
    """The mean height over a range, in the whole population."""
    cuts = np.linspace(9, -9, _STEPS)
    tpr, fpr = norm.sf(cuts - Population(1, 1, area).shift), norm.sf(cuts)
    places, least = np.linspace(part.start, part.end, _STEPS), part.min_tpr or 0.0
    if part.over == "fpr":
        heights = np.maximum(np.interp(places, fpr, tpr) - least, 0)
    elif part.over == "tpr":
        heights = 1 - np.interp(places, tpr, fpr)
    else:
        places[0] = places[1] / 2  # precision is undefined at recall 0
        tp, fp = places * cell.positives, np.interp(places, tpr, fpr) * cell.negatives
        heights = tp / (tp + fp)
    return float(heights.mean() / (1 - least))


def simulated(cell: Cell, sets: int, seed: int = 1) -> list[Found]:
    """Simulate data sets; the same for a seed."""
    truths = {
        name: [truth(cell, area, part) for area in (cell.area - cell.drop, cell.area)] for name, part in PARTS.items()
    }
    counts: Counter[tuple[str, str]] = Counter()
    for number in range(sets):
        pair = Models.of(*cell.samples(np.random.default_rng([seed, number])), paired=True)
        for name, part in PARTS.items():
            metric = Metric(PARTIAL, part=part)
            counts.update((name, kind) for kind in kinds_of(pair, metric, *truths[name]))
    return [Found(cell, name, sets, *(counts[name, kind] / sets for kind in KINDS)) for name in PARTS]


def markdown(found: list[Found]) -> str:
    """A row for each cell, four figures for each range."""
    sets = found[0].sets
    about = (
        f"The same three figures for the mean height over ranges, from {sets:,} pairs of data sets in each cell; a "
        f"fourth is the percentage with a warning. Standard errors are {100 * sqrt(0.05 * 0.95 / sets):.1f}."
    )
    lines = [
        about,
        "",
        f"| P / N, `roc`, models | {' | '.join(PARTS)} |",
        f"|---|{'---:|' * len(PARTS)}",
    ]
    for cell in dict.fromkeys(each.cell for each in found):
        texts = []
        for each in found:
            if each.cell == cell:
                shares = each.passed, each.held, each.held_alone
                text = f"{', '.join(f'{100 * share:.1f}' for share in shares)}, {100 * each.warned:.0f}"
                texts.append(f"**{text}**" if each.misses else text)
        lines.append(f"| {cell} | {' | '.join(texts)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(report("tests.tools.error_rates_of_gates.parts", __doc__, CELLS, simulated, markdown))
