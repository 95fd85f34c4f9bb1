"""Families of plans, and of rules and intervals for data as they are: slices, several classes, clusters, ids."""

from collections.abc import Iterator

from service.inference.metric import METRIC_NAMES
from service.wire.requests.gates_schemas import MOST_RULES
from tests.support.costs.families import Family, family
from tests.support.costs.other_families import places, rule, shuffled
from tests.support.costs.tables import classes, sample

_ROWS = (4, 1000)


def verdict_families() -> Iterator[Family]:
    """All of them."""
    yield from _plans()
    yield from _rules_over_slices()
    yield from _rules_of_classes()
    yield from _clustered()


def _plans() -> Iterator[Family]:
    for rows in _ROWS:
        for metric in METRIC_NAMES:
            for bound in ("sure", "sure drop"):

                def planned(size: int, rows=rows, metric=metric, bound=bound):
                    asked = {"rules": [rule(metric, places(metric)[0], bound, number) for number in range(size)]}
                    return sample(rows) | asked | ({"baseline": shuffled(rows, 1)} if "drop" in bound else {})

                yield family("plans", f"{rows} rows, {metric} {bound}", planned, MOST_RULES)

    def assumed(size: int):
        rules = [{"metric": "roc", "max_drop": 0.03, "confidence": 0.9 + number * 1e-4} for number in range(size)]
        return {"assumptions": {"roc": 0.85, "baseline_roc": 0.85, "correlation": 0.7}, "rules": rules}

    yield family("plans", "assumptions", assumed, MOST_RULES)


def _rules_over_slices() -> Iterator[Family]:
    bounds = {"sure": {"min": 0.5}, "drop": {"max_drop": 0.1}, "gap": {"max_gap": 0.1}}
    for number in (1, 10, MOST_RULES):
        for rows_of_slice in (2, 10, 100):
            for metric, place in (("roc", {}), ("pr", {}), ("mcc", {"at_threshold": 0.5})):
                for name, bound in bounds.items():

                    def sliced(size: int, number=number, each=rows_of_slice, of=(metric, place, bound)):
                        metric, place, bound = of
                        rows = size * each
                        asked = {"metric": metric, "slices": ["of"]} | place | bound
                        rules = [asked | {"confidence": 0.9 + which * 1e-4} for which in range(number)]
                        both = sample(rows) | {"slices": {"of": [row // each for row in range(rows)]}, "rules": rules}
                        return both | ({"baseline": shuffled(rows, 1), "paired": True} if "max_drop" in bound else {})

                    kind = f"{number} rules over slices of {rows_of_slice} rows, {metric} {name}"
                    yield family("gates", kind, sliced, 1000)


def _rules_of_classes() -> Iterator[Family]:
    asked = {
        "each": {"metric": "roc", "classes": "all", "min": 0.5},
        "each, decided": {"metric": "mcc", "classes": "all", "decide": "highest", "min": 0.5},
        "each drop": {"metric": "pr", "classes": "all", "max_drop": 0.1},
        "gap": {"metric": "pr", "classes": "all", "max_gap": 0.5},
        "macro": {"metric": "roc", "average": "macro", "min": 0.5},
        "micro drop": {"metric": "average_precision", "average": "micro", "max_drop": 0.1},
    }
    for kind, asks in asked.items():
        for count, rows in ((2, 2), (10, 10), (50, 4), (2, 400), (10, 200)):

            def of_rules(size: int, count=count, rows=rows, asks=asks):
                both = classes(count, count * rows)
                rules = [asks | {"confidence": 0.9 + which * 1e-4} for which in range(size)]
                given = both | {"rules": rules}
                return given | ({"baseline": both, "paired": True} if "max_drop" in asks else {})

            yield family("gates", f"rules on {count} classes of {rows} rows, {kind}", of_rules, MOST_RULES)


def _clustered() -> Iterator[Family]:
    for rows_of_cluster in (2, 50):

        def clustered(size: int, each=rows_of_cluster):
            rows = size * each
            return sample(rows) | {"clusters": [row // each for row in range(rows)], "intervals": {}}

        def paired(size: int, of=clustered):
            both = of(size)
            rules = [rule("average_precision", {}, "sure drop", 0)]
            ids = [f"id {row}" for row in range(len(both["scores"]))]
            baseline = shuffled(len(ids), 1) | {"ids": ids}
            return both | {"ids": ids, "baseline": baseline, "rules": rules}

        yield family("curves", f"clusters of {rows_of_cluster} rows", clustered, 20_000)
        yield family("gates", f"ids and clusters of {rows_of_cluster} rows", paired, 20_000)
