"""Families of comparisons and gates."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from service.curves.comparison import MOST_EVALUATIONS
from service.curves.indices import INDICES
from service.curves.partial_areas import OVER
from service.curves.row_metrics import ROW_METRICS
from service.inference.metric import METRIC_NAMES, PARTIAL
from service.operations import OPERATIONS
from service.wire.media_types import JSON, MARKDOWN, SVG, XML
from service.wire.requests.gates_schemas import MOST_RULES
from tests.support.costs.families import ANSWERS, Family, family
from tests.support.costs.tables import TABLES, Table, counts, sample, weighted

NAMES = {
    "short": lambda number: f"{number}",
    "long": lambda number: f"{number:02d}" + "a" * 98,
    "quoted": lambda number: f"{number:02d}" + '"' * 98,
    "of four bytes": lambda number: f"{number:02d}" + "\N{GRINNING FACE}" * 98,
}


def crossing(rows: int, seed: int, scale: float, noise: float) -> Table:
    """Counts of a curve that crosses others of its kind at nearly every row."""
    random = np.random.default_rng(seed)
    at = np.arange(1, rows) * 10.0
    fp = np.sort((at + random.integers(0, 3, rows - 1)) * scale + noise * random.random(rows - 1))
    tp = np.maximum.accumulate((at + random.integers(-3, 4, rows - 1)) * scale + noise * random.random(rows - 1))
    return counts(tp, fp, rows * 10.0 * scale, rows * 10.0 * scale)


def shuffled(rows: int, seed: int) -> Table:
    """A sample with the same labels and other scores."""
    scores = np.random.default_rng(100 + seed).random(rows).round(3).tolist()
    return sample(rows) | {"scores": scores}


EVALUATIONS = {
    "samples": shuffled,
    "equal samples": lambda rows, _: sample(rows),
    "weights": lambda rows, seed: weighted(rows, -2, 2) | {"scores": shuffled(rows, seed)["scores"]},
    "crossings": lambda rows, seed: crossing(rows + 1, seed, 1.0, 0.0),
    "fractional crossings": lambda rows, seed: crossing(rows + 1, seed, 1.0, 1.0),
    "crossings, 1e15": lambda rows, seed: crossing(rows + 1, seed, 1e13 // rows, 0.0),
    "tiny crossings": lambda rows, seed: crossing(rows + 1, seed, 3e-145, 1e-145),
    "one that crosses equal ones": lambda rows, seed: crossing(rows + 1, 1 if seed else 2, 1.0, 0.0),
    "circles": lambda rows, _: TABLES["counts, a circle"](rows),
    "lines": lambda rows, _: TABLES["counts, a line"](rows),
    "near a ray": lambda rows, _: TABLES["counts near a ray, 2^-46"](rows),
    "no sweeps": lambda rows, _: TABLES["counts, no sweep"](rows),
}


def compared(kind: str, evaluations: int, rows: int, names: str = "short") -> Any:
    """A request that compares this many evaluations."""
    one, name = EVALUATIONS[kind], NAMES[names]
    return {"evaluations": [{"name": name(number)} | one(rows, number) for number in range(evaluations)]}


def comparisons_families() -> Iterator[Family]:
    """Few or many evaluations, with few or many rows, and short or long names."""
    for kind in EVALUATIONS:
        for number in (2, 5, 10, 20, MOST_EVALUATIONS):

            def rows(size: int, kind=kind, number=number):
                return compared(kind, number, size + 1)

            yield family("comparisons", f"{number} {kind}", rows, 20_000)
        for names in NAMES:
            for size in (2, 30, 300):

                def many(number: int, kind=kind, names=names, size=size):
                    return compared(kind, number + 1, size, names)

                yield family("comparisons", f"{kind} of {size} rows, {names} names", many, MOST_EVALUATIONS - 1)
    yield from _compared_as_tables()


def _compared_as_tables() -> Iterator[Family]:
    def crossings(size: int):
        return compared("crossings", 3, size + 1, "of four bytes")

    for name, form in ANSWERS.items():
        yield family("comparisons", f"crossings as {name}", crossings, 20_000, **form)
        for table in [table.name for table in OPERATIONS["comparisons"].tables] if "accept" in form else ():
            query = {"query": [("table", table)], **form}
            yield family("comparisons", f"crossings, table {table} as {name}", crossings, 20_000, **query)


BOUNDS = {
    "min": {"min": 0.5},
    "sure": {"min": 0.5, "confidence": 0.9},
    "drop": {"max_drop": 0.1},
    "sure drop": {"max_drop": 0.1, "confidence": 0.9},
    "proven drop": {"max_drop": 0.1, "confidence": 0.9, "prove": "drop"},
}


def places(metric: str) -> list[dict[str, Any]]:
    """The places at which a metric may be read."""
    if metric == PARTIAL:
        return [{"over": over, "from": 0.1, "to": 0.6} for over in OVER]
    if metric in INDICES:
        return [{"at": 0.5}, {"at": 0.5, "at_threshold": 0.5}]
    if metric in ROW_METRICS:
        others = [{"at_share": 0.3}, {"best": "f1", "min_recall": 0.1}] if metric in ("precision", "mcc") else []
        return [{"at_threshold": 0.5}, *others]
    return [{"at": 0.3}] if "_at_" in metric else [{}]


def rule(metric: str, place: dict[str, Any], bound: str, number: int) -> dict[str, Any]:
    """A rule that differs a little from the others of its kind."""
    asked = {"metric": metric} | BOUNDS[bound]
    asked |= {name: value if isinstance(value, str) else value + number * 1e-3 for name, value in place.items()}
    return asked | ({"confidence": 0.9 + number * 1e-4} if "confidence" in asked else {})


def gates_families() -> Iterator[Family]:
    """Rules with every metric, place and bound, for few rows and for many."""
    tables = {
        "4 rows": (sample(4), shuffled(4, 1)),
        "1,000 rows": (sample(1000), shuffled(1000, 1)),
        "200 weights": (weighted(200, -2, 2), weighted(200, -2, 2) | {"scores": shuffled(200, 1)["scores"]}),
        "300 counts": (TABLES["counts, a circle"](300), TABLES["counts, a root"](300)),
        "7,000 rows": (sample(7000, digits=3), shuffled(7000, 1)),
    }
    for kind, (one, other) in tables.items():
        for metric in METRIC_NAMES:
            for place in places(metric):
                for bound in BOUNDS:
                    for paired in (False, True):
                        if paired and ("drop" not in bound or "counts" in one):
                            continue

                        def rules(size: int, one=one, other=other, of=(metric, place, bound), paired=paired):
                            asked = {"rules": [rule(*of, number) for number in range(size)]}
                            return one | asked | ({"baseline": other, "paired": paired} if "drop" in of[2] else {})

                        of = ", ".join(place["over"] if key == "over" else key for key in place)
                        name = f"{kind}, {metric} {of} {bound}{' paired' if paired else ''}"
                        yield family("gates", name, rules, MOST_RULES)
    yield from _reported()
    yield from _resampled()
    for kind, table in TABLES.items():
        for asked in (rule("pr", {}, "sure", 0), rule("f_measure", {"at": 0.5}, "min", 0)):
            name = f"{kind}, {asked['metric']}"
            yield family("gates", name, lambda size, t=table, a=asked: t(size + 5) | {"rules": [a]}, 60_000)


def _reported() -> Iterator[Family]:
    for accept in (JSON, MARKDOWN, XML, SVG):
        for bound in BOUNDS:

            def reported(size: int, bound=bound):
                rules = [rule("recall", {"at_threshold": 0.1}, bound, number) for number in range(size)]
                return sample(50) | {"baseline": shuffled(50, 1), "rules": rules}

            yield family("gates", f"recall {bound} as {accept}", reported, MOST_RULES, accept=accept)


def _resampled() -> Iterator[Family]:
    for rows in (6, 100, 1000):
        both = sample(rows) | {"baseline": shuffled(rows, 1)}
        for method in ("bootstrap", "bca"):
            for metric in ("roc", "pr", "average_precision", PARTIAL, "tpr_at_fpr", "precision_at_recall"):
                for paired in (False, True):

                    def resamples(size: int, both=both, method=method, metric=metric, paired=paired):
                        how = {"method": method, "resamples": size + 99, "level": 0.9}
                        asked = [rule(metric, places(metric)[0], "drop", number) for number in range(2)]
                        return both | {"paired": paired, "intervals": how, "rules": asked}

                    name = f"{rows} rows, {method} of {metric}{' paired' if paired else ''}"
                    yield family("gates", name, resamples, 9_901)

    def sorted_often(size: int):
        how = {"method": "bootstrap", "resamples": 2000}
        return sample(6) | {"intervals": how, "rules": [rule("roc", {}, "sure", number) for number in range(size)]}

    yield family("gates", "6 rows, many levels of one bootstrap", sorted_often, MOST_RULES)
