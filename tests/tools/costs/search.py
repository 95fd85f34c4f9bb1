"""For every way to ask for a lot, measure how long its requests hold a server's own process.

Each family is tried at the largest sizes whose requests have at most 20 KB, and at most 256 KB. Prints what they cost,
the most expensive first. The exit status is 1 if a request holds the process for too long.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from service.curves.sweep.sweep import COMPILED
from service.environment import freeze_loaded_objects
from tests.support.costs.families import BIG_BODY_BYTES, Family
from tests.support.costs.measure import MOST_LONG, MOST_SHORT, SHORT_BYTES, Cost, longest, measured
from tests.support.costs.other_families import comparisons_families, gates_families
from tests.support.costs.written import longest_answers
from tests.tools.costs.body_families import body_families
from tests.tools.costs.classes_families import classes_families
from tests.tools.costs.columns_families import columns_families
from tests.tools.costs.curves_families import curves_families, tradeoffs_families
from tests.tools.costs.groups_families import groups_families
from tests.tools.costs.picture_families import picture_families
from tests.tools.costs.slices_families import slices_families
from tests.tools.costs.verdict_families import verdict_families


@dataclass(frozen=True)
class Found:
    """What a request of a family costs."""

    family: str
    size: int
    cost: Cost

    def __str__(self) -> str:
        status = self.cost.status or "moves on"
        return (
            f"{self.cost.runs:6.1f} of {self.cost.most:g} {self.cost.sent:7d} bytes sent {self.cost.answer:8d} written "
            f"{status} {self.family} × {self.size}"
        )


def families() -> Iterator[Family]:
    """All of them."""
    return chain(
        curves_families(),
        tradeoffs_families(),
        comparisons_families(),
        gates_families(),
        groups_families(),
        slices_families(),
        verdict_families(),
        classes_families(),
        picture_families(),
        columns_families(),
        body_families(),
    )


def found(family: Family) -> Iterator[Found]:
    """Measure the largest short request of a family, and its largest small one."""
    for size in sorted({longest(family, SHORT_BYTES - 1), longest(family, BIG_BODY_BYTES)} - {0}):
        yield Found(family.name, size, measured(family.request(size)))


def main() -> int:
    """Measure, report."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.costs", description="What small requests cost.")
    parser.add_argument("--only", metavar="TEXT", default="", help="only families whose name contains this")
    parser.add_argument("--top", type=int, default=40, metavar="N", help="print so many (40); 0 is all")
    parser.add_argument("--written", action="store_true", help="instead, the longest answers to short requests")
    asked = parser.parse_args()
    COMPILED.use_installed()  # as a server does
    freeze_loaded_objects()
    if asked.written:
        return longest_answers()
    results: list[Found] = []
    for family in families():
        if asked.only in family.name:
            print(f"\r{len(results)} {family.name[:90]:90}", end="", file=sys.stderr, flush=True)
            results += found(family)
    print("\r" + " " * 100 + "\r", end="", file=sys.stderr)
    results.sort(key=lambda each: each.cost.runs / each.cost.most, reverse=True)
    print("\n".join(map(str, results[: asked.top or None])), end="\n\n")
    beyond = sum(each.cost.runs > each.cost.most for each in results)
    print(
        f"{len(results)} requests; {beyond} hold the process for more than {MOST_SHORT:g} runs of the reference loop, "
        f"or {MOST_LONG:g} from {SHORT_BYTES:,} bytes."
    )
    return bool(beyond)
