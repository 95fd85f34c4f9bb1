"""`python -m tests.tools.coverage_of_intervals`: simulate, and print how often 95 % intervals contain the true area."""

import argparse
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path

from tests.tools.bench import report as bench
from tests.tools.coverage_of_intervals.populations import Population
from tests.tools.coverage_of_intervals.simulation import Coverage, simulated

SIZES = ((100, 100), (100, 400), (400, 100), (100, 1000), (20, 20), (20, 200))
POPULATIONS = [Population(*size, area) for size in SIZES for area in (0.7, 0.8, 0.9)]
POPULATIONS += [Population(20, 200, 0.97), Population(100, 1000, 0.97), Population(100, 400, 0.9, spread=2.0)]
"""For the methods that resample, which take hours."""

MANY = [
    Population(positives, negatives, area)
    for positives in (15, 30, 100, 400)
    for negatives in (100, 300, 2000)
    for area in (0.7, 0.9, 0.97)
]
"""For the methods in closed form."""

_MARK = "<!-- tests.tools.coverage_of_intervals{}: {} -->"

REACHED = {"logit": (0.94, 0.96), "bootstrap": (0.93, 0.96)}
"""The required coverage of ROC areas from .7 to .9, with 100 examples of each class."""


def main() -> int:
    """Simulate, report."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.coverage_of_intervals", description=__doc__)
    parser.add_argument("--sets", type=int, default=10_000, help="data sets for each population (10000)")
    parser.add_argument(
        "--resamples", type=int, default=1_000, help="resamples of each bootstrap (1000); 0 for the other methods"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the figures as JSON")
    parser.add_argument("--readme", action="store_true", help="put the table into tests/README.md")
    asked = parser.parse_args()
    found: list[Coverage] = []
    populations = POPULATIONS if asked.resamples else MANY
    for number, population in enumerate(populations, 1):
        print(f"{time.strftime('%H:%M:%S')} {number}/{len(populations)} {population}", file=sys.stderr, flush=True)
        found += simulated(population, asked.sets, asked.resamples, asked.seed, asked.processes)
        if asked.json:
            asked.json.write_text(json.dumps([asdict(each) for each in found], indent=1), encoding="utf-8")
    section = markdown(found, asked.sets, asked.resamples)
    print(section)
    if asked.readme:
        of = "" if asked.resamples else " --resamples 0"
        bench.rewrite(bench.README, section, _MARK.format(of, "begin"), _MARK.format(of, "end"))
    missed = [each for each in found if not within(each)]
    for each in missed:
        print(f"missed: {each.area} by {each.method} of {each.population}: {100 * each.share:.2f} %", file=sys.stderr)
    return int(bool(missed))


def within(each: Coverage) -> bool:
    """Whether a coverage meets its requirement, if there is one."""
    judged = min(each.population.positives, each.population.negatives) >= 100 and 0.7 <= each.population.roc <= 0.9
    if not judged or each.area != "roc" or each.method not in REACHED or each.population.spread != 1:
        return True
    least, most = REACHED[each.method]
    return least <= round(each.share, 3) <= most


def markdown(found: list[Coverage], sets: int, resamples: int) -> str:
    """Lay out the coverages: a row for each population, a column for each area and method."""
    columns = list(dict.fromkeys((each.area, each.method) for each in found))
    about = (
        f"The percentages of {sets:,} simulated data sets whose 95 % interval contains the true area (near 95, the "
        f"standard error is {100 * (0.95 * 0.05 / sets) ** 0.5:.2f}), lies above it, and lies below it"
        f"{f'; {resamples:,} resamples' if resamples else ''}."
    )
    lines = [
        about,
        "",
        f"| P | N | true `roc` | true `pr` | {' | '.join(f'`{area}` {method}' for area, method in columns)} |",
        f"|{'---:|' * (len(columns) + 4)}",
    ]
    for population in dict.fromkeys(each.population for each in found):
        cells = {(each.area, each.method): each.cell for each in found if each.population == population}
        wide = "" if population.spread == 1 else f", positives spread {population.spread:g}"
        given = [
            f"{population.positives}",
            f"{population.negatives}",
            f"{population.roc:g}{wide}",
            f"{population.pr:.3f}",
        ]
        lines.append(f"| {' | '.join([*given, *(cells[column] for column in columns)])} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
