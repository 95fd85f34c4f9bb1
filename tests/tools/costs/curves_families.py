"""Families of requests for curves and for trade-offs."""

from collections.abc import Iterator
from typing import Any

from service.curves.decisions import BEST_BY
from service.curves.evaluation import INCLUDES
from service.curves.indices import INDICES
from service.curves.operating_points import METRICS
from service.curves.partial_areas import OVER
from service.curves.points import KEEPS
from service.curves.row_metrics import ROW_METRICS
from service.operations import OPERATIONS
from service.wire.media_types import SVG, TEXT
from service.wire.requests.curves_schemas import MOST_PARTIAL, MOST_PREVALENCES
from tests.support.costs.families import ANSWERS, Family, family
from tests.support.costs.tables import FEW, TABLES, counts, sample

RECALLS = (0.1, 1 / 3, 1e-16, 1e-150, 1e-300, 3e-308, 5e-324)
DENSITIES = ((1, 1), (0.5, 2), (0.01, 0.01), (1000, 1000), (1000, 0.01), (2, 5))
MOST_ROWS = 65_000
AREAS = {"include": ["auc"]}


def curves_families() -> Iterator[Family]:
    """Every option of curves."""
    for kind, table in TABLES.items():
        for include in ((), *INCLUDES):
            options = {"include": [include]} if include else {}
            name = f"{kind}, {include or 'everything'}"
            yield family("curves", name, lambda size, t=table, o=options: t(size + 1) | o, MOST_ROWS)
        for keep in KEEPS[1:]:
            options = {"include": ["points"], "keep": keep}
            yield family("curves", f"{kind}, {keep}", lambda size, t=table, o=options: t(size + 1) | o, MOST_ROWS)
    for kind, table in TABLES.items():
        make = lambda size, t=table: t(size + 1) | AREAS | {"costs": {"prevalence": [0.1, 0.5]}}  # noqa: E731  # short
        yield family("curves", f"{kind}, costs", make, MOST_ROWS)
    for name, form in ANSWERS.items():
        for kind in ("sample", "weights", "counts, a circle"):
            table = TABLES[kind]
            yield family("curves", f"{kind}, as {name}", lambda size, t=table: t(size + 1), MOST_ROWS, **form)
    for kind, table in TABLES.items():
        for accept in (SVG, TEXT):
            make = lambda size, t=table: t(size + 1) | AREAS  # noqa: E731  # short
            yield family("curves", f"{kind}, areas as {accept}", make, MOST_ROWS, accept=accept)
    for table in [each.name for each in OPERATIONS["curves"].tables]:
        one = {"query": [("table", table)], **ANSWERS["CSV"]}
        asked = {"intervals": {}, "operating_points": [{"metric": "jaccard", "at": 0.5}], "partial": [{"over": "tpr"}]}
        asked |= {"include": list(INCLUDES), "costs": {}, "decisions": [{"best": "mcc"}], "gains": {}}
        asked |= {"reliability": {}, "net_benefit": {}, "band": {}}
        make = lambda size, o=asked: TABLES["counts, a circle"](size + 1) | o  # noqa: E731  # short
        yield family("curves", f"a circle, table {table}", make, MOST_ROWS, **one)
    yield from _probabilities()
    yield from _decisions()
    yield from _interpolations()
    yield from _cuts()
    yield from _readings()
    yield from _intervals()


def _probabilities() -> Iterator[Family]:
    """Statistics of probabilities, bins, gains and net benefit."""
    for kind in ("sample", "weights"):
        table, intervals = TABLES[kind], {"intervals": {}, "include": []}
        for name, options in (
            ("statistics with intervals", {"include": ["statistics"], "intervals": {}}),
            ("100 bins", {"reliability": {"bins": 100, "by": "mass"}} | intervals),
            ("1,000 shares", {"gains": {"shares": [share / 1000 for share in range(1, 1001)]}}),
            ("1,000 net benefits", {"net_benefit": {"thresholds": [at / 1001 for at in range(1, 1001)]}} | intervals),
        ):
            make = lambda size, t=table, o=options: as_probabilities(t(size + 1)) | o  # noqa: E731  # short
            yield family("curves", f"{kind}, {name}", make, MOST_ROWS)


def as_probabilities(table: dict[str, Any]) -> dict[str, Any]:
    """The same table with scores between 0 and 1."""
    most = max(map(abs, table["scores"]))
    return table | {"scores": [abs(score) / (most + 1) for score in table["scores"]]}


def _decisions() -> Iterator[Family]:
    """Rows by threshold, by a budget and by each metric, with intervals."""
    for kind in ("sample", "weights"):
        for name, one in (
            ("thresholds", {"at_threshold": 3}),
            ("shares", {"at_share": 0.3}),
            *((f"best {metric}", {"best": metric, "min_recall": 0.2}) for metric in BEST_BY),
        ):

            def decided(size: int, table=TABLES[kind], one=one):
                return table(10) | {"decisions": [one] * size, "metrics": list(ROW_METRICS), "intervals": {}}

            yield family("curves", f"{kind} of 10 rows, {name}", decided, 1_000)

        def measured(size: int, table=TABLES[kind]):
            return table(size + 1) | {"include": ["points"], "metrics": list(ROW_METRICS)}

        yield family("curves", f"{kind}, every metric of every row", measured, MOST_ROWS)


def _interpolations() -> Iterator[Family]:
    for kind, table in FEW.items():
        total = table["counts"]["positives"]
        yield family("curves", f"few rows, {kind}", lambda _, t=table: t, 1)

        def in_steps(size: int, table=table, total=total):
            return table | {"interpolation": {"every": total / (size + 0.001)}}

        yield family("curves", f"few rows, {kind}, in steps", in_steps, 100_000)
        for recall in RECALLS:

            def at_recalls(size: int, table=table, recall=recall):
                return table | {"interpolation": {"at_recall": [recall] * size}}

            yield family("curves", f"few rows, {kind}, at recall {recall:.2g}", at_recalls, 20_000)
    for rows, positives in ((10, 1990), (1000, 1000), (1999, 1), (5000, 999)):

        def by_ones(size: int, rows=rows, positives=positives):
            tp = [positives] * rows
            return counts(tp, range(1, rows + 1), positives, 10**15 + size) | {"interpolation": {"every": 1}}

        yield family("curves", f"{rows} rows, {positives} positives of 1e15, by ones", by_ones, 1)
    yield family(
        "curves", "P by ones", lambda size: counts([1], [3], size, 10**14) | {"interpolation": {"every": 1}}, 10**6
    )
    yield family(
        "curves", "half steps", lambda size: counts([1], [3], size, 100) | {"interpolation": {"every": 0.5}}, 10**6
    )


def _cuts() -> Iterator[Family]:
    few = sample(4)
    yield family("curves", "thresholds", lambda size: few | {"thresholds": [at / size for at in range(size)]}, 40_000)
    yield family("curves", "equal thresholds", lambda size: few | {"thresholds": [1] * size}, 100_000)
    for kind in ("sample", "weights", "weights of 280 powers of ten"):
        table = TABLES[kind]
        yield family("curves", f"tuning, {kind}", lambda size, t=table: few | {"tuning": t(size + 1)}, MOST_ROWS)


def _readings() -> Iterator[Family]:
    for kind, table in FEW.items():
        for metric in METRICS:
            for at in (0.3, 5e-324):

                def read(size: int, table=table, point=(metric, at)):
                    points = [dict(zip(("metric", "at"), point, strict=True))] * size
                    return table | AREAS | {"operating_points": points}

                yield family("curves", f"few rows, {kind}, {metric} at {at:.2g}", read, 1000)

        def priced(size: int, table=table):
            return table | AREAS | {"costs": {"prevalence": [at / size for at in range(size)], "fn_cost": 1 / 3}}

        yield family("curves", f"few rows, {kind}, costs", priced, MOST_PREVALENCES)
        for over in OVER:

            def part(size: int, table=table, over=over):
                return table | AREAS | {"partial": [{"over": over, "from": 1e-300, "to": 1 - 2**-53}] * size}

            yield family("curves", f"few rows, {kind}, partial over {over}", part, MOST_PARTIAL)


def _intervals() -> Iterator[Family]:
    kinds = ("sample", "weights", "counts", "counts, 1e15", "counts, equal rows")
    for kind in kinds:
        for rows in (6, 100, 1000):
            table = TABLES[kind](rows)
            for method in ("bootstrap", "bca"):

                def resampled(size: int, table=table, method=method):
                    how = {"method": method, "resamples": size + 99, "level": 0.9}
                    return table | AREAS | {"intervals": how}

                yield family("curves", f"{kind}, {rows} rows, {method}", resampled, 9_901)
        table = TABLES[kind]
        for method in ("auto", "delong", "bca"):
            how = {"intervals": {"method": method, "resamples": 100, "level": 0.9}}
            name = f"{kind}, {method}, rows"
            yield family("curves", name, lambda size, t=table, h=how: t(size + 5) | AREAS | h, MOST_ROWS)
    crowd = {"intervals": {"method": "bootstrap", "resamples": 100, "level": 0.9}} | AREAS
    yield family(
        "curves",
        "counts, resampled in crowds",
        lambda size: counts(range(1, size + 1), range(1, size + 1), 31 * size, 31 * size) | crowd,
        MOST_ROWS,
    )


def tradeoffs_families() -> Iterator[Family]:
    """Every option of trade-offs."""
    for kind, table in TABLES.items():
        yield family("tradeoffs", kind, lambda size, t=table: t(size + 1), MOST_ROWS)
        least = {"min_precision": 1e-9, "min_recall": 1e-9}
        yield family("tradeoffs", f"{kind}, bounds", lambda size, t=table, o=least: t(size + 1) | o, MOST_ROWS)
    for name, form in ANSWERS.items():
        table = TABLES["counts, a circle"]
        yield family("tradeoffs", f"a circle, as {name}", lambda size, t=table: t(size + 1), MOST_ROWS, **form)
        if "accept" in form:
            for one in [each.name for each in OPERATIONS["tradeoffs"].tables]:
                query = {"query": [("table", one)], **form}
                make = lambda size, t=table: t(size + 1) | {"at_lambda": [0.5] * size}  # noqa: E731  # short
                yield family("tradeoffs", f"a circle, table {one} as {name}", make, MOST_ROWS, **query)
    for a, b in DENSITIES:
        density = {"lambda_density": {"a": a, "b": b}}
        for name in INDICES:
            options = density | {"indices": [name]}
            yield family("tradeoffs", f"density {a} {b}, {name}", lambda _, o=options: FEW["plain"] | o, 1)
        for kind in ("sample", "weights", "counts, a circle", "counts, a root", "counts, powers of two"):
            table = TABLES[kind]
            yield family(
                "tradeoffs", f"{kind}, density {a} {b}", lambda size, t=table, o=density: t(size + 1) | o, 20_000
            )
        narrow = density | {"lambda_range": [1e-300, 1e-290]}
        yield family("tradeoffs", f"density {a} {b}, next to 0", lambda _, o=narrow: FEW["plain"] | o, 1)
        wide = density | {"lambda_range": [0.001, 0.999999]}
        yield family("tradeoffs", f"density {a} {b}, not quite all", lambda _, o=wide: FEW["plain"] | o, 1)
    for kind, table in FEW.items():
        for at in (0.3, 1e-300):
            yield family(
                "tradeoffs",
                f"few rows, {kind}, at λ {at:.2g}",
                lambda size, t=table, a=at: t | {"at_lambda": [a] * size},
                20_000,
            )
