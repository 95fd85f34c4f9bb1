"""Families of groups: exact and open ones, of examples and of weights, whole and fractional."""

from collections.abc import Iterator

import numpy as np

from tests.support.costs.families import Family, family
from tests.support.costs.tables import Table

RULES = [
    {"metric": "roc", "max_drop": 0.1, "confidence": 0.9},
    {"metric": "average_precision", "min": 0.1, "confidence": 0.9},
    {"metric": "recall", "at_threshold": 3, "min": 0.1},
]
EVERYTHING = {
    "include": ["auc", "points", "interpolated_pr", "achievable_pr", "calibration", "statistics"],
    "intervals": {},
}
PLACES = [number / 1000 for number in range(1000)]


def groups(size: int, *, width: float = 0.0, part: float = 0.0, weighs: bool = False) -> Table:
    """Groups of both classes: open ones if they have a width, fractions if there is a part."""
    random = np.random.default_rng(10)
    start = np.sort(random.permutation(10 * size)[:size]).astype(float)
    columns = {name: random.integers(1, 20, size) + part for name in ("positives", "negatives")}
    squares = {f"{name}_squared": column.astype(float) for name, column in columns.items()} if weighs else {}
    ends = {"score_from": start, "score_to": start + width}
    return {"groups": {name: column.tolist() for name, column in (ends | columns | squares).items()}}


def groups_families() -> Iterator[Family]:
    """Every operation that takes groups."""
    for kind, options in {
        "exact": {},
        "exact of fractions": {"part": 0.25},
        "exact of weights": {"part": 0.25, "weighs": True},
        "open": {"width": 0.5},
        "open of fractions": {"width": 0.5, "part": 0.25},
        "open of weights": {"width": 0.5, "part": 0.25, "weighs": True},
    }.items():
        of = lambda size, options=options: groups(size + 1, **options)  # noqa: E731  # short
        is_open = "width" in options
        whole = {"intervals": {}} if is_open else EVERYTHING
        yield family("curves", f"groups, {kind}, areas", lambda n, of=of: of(n) | {"include": ["auc"]}, 20_000)
        yield family("curves", f"groups, {kind}, everything", lambda n, of=of, w=whole: of(n) | w, 20_000)
        yield family("tradeoffs", f"groups, {kind}", of, 20_000)
        yield family("gates", f"groups, {kind}", lambda n, of=of: of(n) | {"baseline": of(n), "rules": RULES}, 20_000)

        def cut(size: int, of=of):
            return of(300) | {"include": ["auc"], "thresholds": list(range(-size, 0))}

        def read(size: int, of=of):
            points = [{"metric": "tpr_at_fpr", "at": at} for at in PLACES[:size]]
            return of(300) | {"include": ["auc"], "operating_points": points}

        yield family("curves", f"groups, {kind}, thresholds", cut, 20_000)
        yield family("curves", f"groups, {kind}, operating points", read, len(PLACES) - 1)
        if not is_open:
            for name, more in {"alone": {}, "intervals": {"intervals": {}}}.items():

                def sliced(size: int, of=of, more=more):
                    return of(2 * size - 1) | {"slices": {"a": [row // 2 for row in range(2 * size)]}} | more

                yield family("slices", f"groups, {kind}, 2 each, {name}", sliced, 5_000)
            yield family(
                "comparisons",
                f"groups, {kind}",
                lambda n, of=of: {"evaluations": [{"name": name} | of(n) for name in "ab"]},
                20_000,
            )
    yield family("curves", "groups, fractions in ties", ties, 20_000)


def ties(size: int) -> Table:
    """Pairs of groups of one score, whose fractions are added exactly."""
    columns = {"score": [row // 2 for row in range(size + 2)]}
    columns |= {name: [share] * (size + 2) for name, share in (("positives", 0.1), ("negatives", 0.3))}
    return {"groups": columns, "include": ["auc"]}
