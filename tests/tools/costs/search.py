"""For every way to ask for a lot, find the most that a server would still answer in its own process.

Prints what the largest small request of each family costs, the most expensive first, and what it costs to find out
that the next larger one is big. The exit status is 1 if a request takes too long or its answer is too large.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from service.settings import Settings
from tests.support.costs.families import BIG_BODY_BYTES, Family
from tests.support.costs.measure import Cost, largest, measured
from tests.support.costs.other_families import comparisons_families, gates_families
from tests.support.costs.written import longest_answers
from tests.tools.costs.body_families import body_families
from tests.tools.costs.classes_families import classes_families
from tests.tools.costs.columnar_families import columnar_families
from tests.tools.costs.columns_families import columns_families
from tests.tools.costs.curves_families import curves_families, tradeoffs_families
from tests.tools.costs.groups_families import groups_families
from tests.tools.costs.picture_families import picture_families
from tests.tools.costs.slices_families import slices_families

MOST_SECONDS, MOST_BYTES = 0.02, 1_100_000


@dataclass(frozen=True)
class Found:
    """The largest small request of a family, and the next one if its work makes it big."""

    family: str
    size: int
    request_bytes: int
    cost: Cost

    @property
    def is_within(self) -> bool:
        """Whether its cost is allowed."""
        return self.cost.seconds <= MOST_SECONDS and self.cost.answer <= MOST_BYTES

    def __str__(self) -> str:
        status = self.cost.status or "big"
        return (
            f"{self.cost.seconds * 1e3:8.2f} ms {self.cost.answer / 1024:8.1f} KB {self.cost.work:9.0f} rows "
            f"{self.request_bytes:7d} bytes {status} {self.family} × {self.size}"
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
        classes_families(),
        picture_families(),
        columns_families(),
        body_families(),
        columnar_families(),
    )


def found(family: Family, big_work: int) -> Iterator[Found]:
    """Measure a family on both sides of the limit for small requests."""
    small = largest(family, big_work)
    for size in (small, small + 1 + small // 25):
        request = family.request(min(size, family.most)) if size else None
        if request is not None and len(request.body) <= BIG_BODY_BYTES and size <= family.most:
            length = len(request.body) + sum(len(name) + len(text) + 2 for name, text in request.parameters)
            yield Found(family.name, size, length, measured(request, big_work))


def main() -> int:
    """Measure, report."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.costs", description="What small requests cost.")
    parser.add_argument("--only", metavar="TEXT", default="", help="only families whose name contains this")
    parser.add_argument("--top", type=int, default=40, metavar="N", help="print so many (40); 0 is all")
    parser.add_argument("--big-work", type=int, default=Settings().big_work, metavar="ROWS", help="ROCPR_BIG_WORK")
    parser.add_argument("--written", action="store_true", help="instead, the longest answers to short requests")
    asked = parser.parse_args()
    if asked.written:
        return longest_answers()
    results: list[Found] = []
    for family in families():
        if asked.only in family.name:
            print(f"\r{len(results)} {family.name[:90]:90}", end="", file=sys.stderr, flush=True)
            results += found(family, asked.big_work)
    print("\r" + " " * 100 + "\r", end="", file=sys.stderr)
    for key in (lambda each: each.cost.seconds, lambda each: each.cost.answer):
        results.sort(key=key, reverse=True)
        print("\n".join(map(str, results[: asked.top or None])), end="\n\n")
    beyond = [each for each in results if not each.is_within]
    print(f"{len(results)} requests, {len(beyond)} of them beyond {MOST_SECONDS * 1e3:g} ms or {MOST_BYTES:,} bytes.")
    return bool(beyond)
