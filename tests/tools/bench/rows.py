"""The rows of the report: what is compared with what, and the goal.

A row's ratio says how many times faster rocpr is if more is better (>=), and how many times longer it takes if less is
better (<=). A row in bytes has no peer; its ratio is the bytes.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, Self

SERVER = "server"
"""The environment that the server sets for its workers."""
PLAIN = "plain"
"""The environment without those variables."""

SKLEARN = "scikit-learn"
TORCHMETRICS = "torchmetrics"
SCIPY = "scipy"
VECTORISED = "scipy with a vectorised statistic"
SORT = "np.sort"
CURVES = "all outputs of one sample"
OURS = "rocpr"
NUMPY = "rocpr, without compiled loops"
"""The same where it is installed with them, which are then not used."""
PEER = "peer"

HULL_SHAPES = ("random", "concave staircase", "lattice", "lattice, last row above all")


@dataclass(frozen=True)
class Row:
    """What every row says. `reach` is None if there is no goal, and the row is for comparison only."""

    what: str
    sign: Literal[">=", "<="]
    reach: float | None

    @property
    def inputs(self) -> tuple[int, ...]:
        """How many rows each input has."""
        return ()

    def quick(self) -> Self:
        """The same on a tiny input, without a goal: goals are for the sizes that `what` names."""
        return replace(self, reach=None)


TINY = 1_000
"""How many rows the inputs of a quick run have."""


@dataclass(frozen=True)
class Sized(Row):
    """A row with one input of this many rows."""

    rows: int

    @property
    def inputs(self) -> tuple[int, ...]:
        return (self.rows,)

    def quick(self) -> Self:
        return replace(super().quick(), rows=TINY)


@dataclass(frozen=True)
class Timed(Sized):
    """One call of a case against another, taking turns in one process."""

    case: str
    theirs: str
    ours: str = OURS
    environment: str = SERVER


@dataclass(frozen=True)
class Worst(Row):
    """The largest ratio of rows that were measured."""

    of: tuple[str, ...]


@dataclass(frozen=True)
class Memory(Sized):
    """Peak bytes per row of the input, not counting the input itself and `beside` bytes for each threshold."""

    case: str
    beside: int = 0


@dataclass(frozen=True)
class Scaling(Row):
    """The largest cost per row divided by log n over the smallest one."""

    case: str
    sizes: tuple[int, ...]

    @property
    def inputs(self) -> tuple[int, ...]:
        return self.sizes

    def quick(self) -> Self:
        return replace(super().quick(), sizes=(TINY // 10, TINY))


@dataclass(frozen=True)
class Served(Sized):
    """One request to the service, or to CONSTANT, against the same request to the peer, all over loopback."""

    media_type: str
    include: tuple[str, ...]
    ours: str = OURS


@dataclass(frozen=True)
class Rate(Sized):
    """Answers a second of OURS against those of another server, over this many busy connections."""

    connections: int
    theirs: str


JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"
CONSTANT = "constant"
"""A server of the same stack that answers with a fixed number of bytes, whatever was sent."""
ALL = ("auc", "points")


def _against_sklearn(what: str, case: str, rows: int, reach: float) -> Timed:
    return Timed(f"{what}, against scikit-learn", ">=", reach, rows, case, SKLEARN)


def _hull(shape: str, reach: float | None) -> Timed:
    return Timed(f"hull alone, {shape}, against np.sort", "<=", reach, 1_000_000, f"hull: {shape}", SORT)


def _rates(rows: int, reach: float) -> tuple[Rate, ...]:
    """With one connection, then with 16, for which the goal against the peer is set."""
    return tuple(
        Rate(
            f"requests a second, areas, {rows:,} rows, {connections}, against {other}",
            sign,
            figure,
            rows,
            count,
            theirs,
        )
        for count, connections, of_peer in ((1, "1 connection", None), (16, "16 connections", reach))
        for theirs, other, sign, figure in (
            (PEER, "the peer", ">=", of_peer),
            (CONSTANT, "a constant answer", "<=", None),
        )
    )


ROWS: tuple[Row, ...] = (
    _against_sklearn("all outputs, 1e3 distinct scores", "distinct", 1_000, 40),
    _against_sklearn("all outputs, 1e5 distinct scores", "distinct", 100_000, 15),
    _against_sklearn("all outputs, 1e6 distinct scores", "distinct", 1_000_000, 20),
    _against_sklearn("all outputs, 1e7 distinct scores", "distinct", 10_000_000, 25),
    _against_sklearn("all outputs, 1e6 rows on 1,000 levels", "levels", 1_000_000, 80),
    _against_sklearn("all outputs, 1e6 weighted rows", "weighted", 1_000_000, 8),
    Timed("all outputs, 1e6 distinct scores, against torchmetrics", ">=", None, 1_000_000, "distinct", TORCHMETRICS),
    Timed("all outputs, 1e6 distinct scores, against np.sort", "<=", 3.5, 1_000_000, "distinct", SORT),
    Timed(
        "all outputs, 1e6 distinct scores, against np.sort, without the server's environment",
        "<=",
        None,
        1_000_000,
        "distinct",
        SORT,
        environment=PLAIN,
    ),
    Timed("all outputs, 1e6 logits of both signs, against np.sort", "<=", 4.5, 1_000_000, "logits", SORT),
    *(_hull(shape, 1.0) for shape in HULL_SHAPES),
    Worst("hull alone, the worst of the four above", "<=", 1.0, tuple(_hull(shape, 1.0).what for shape in HULL_SHAPES)),
    _hull("concave staircase of counts above 2^31", None),
    Memory("peak memory, 1e6 distinct scores, bytes per row", "<=", 85, 1_000_000, "distinct"),
    Memory(
        "peak memory, 1e6 rows on 1,000 levels, bytes per row besides 65 per threshold",
        "<=",
        30,
        1_000_000,
        "levels",
        65,
    ),
    Scaling(
        "cost per row over log n from 1e4 to 1e7 rows", "<=", 1.6, "distinct", (10_000, 100_000, 1_000_000, 10_000_000)
    ),
    *(
        Timed(f"{case}, 2,000 resamples of 1e4, against {theirs}", ">=", reach, 10_000, case, theirs)
        for case in ("bootstrap", "bootstrap, one in ten positive")
        for theirs, reach in ((SCIPY, 8), (VECTORISED, None))
    ),
    _against_sklearn("two areas or five, 1e6 rows in 2,000 slices", "slices", 1_000_000, 10),
    _against_sklearn("two areas or five, 1e6 weighted rows in 2,000 slices", "slices with weights", 1_000_000, 10),
    _against_sklearn("two areas or five and all pairs, 1e5 rows of 10 classes", "classes", 100_000, 4),
    Timed(f"paired gate on roc, 1e6 rows of either model, against {CURVES}", "<=", 4, 1_000_000, "gate", CURVES),
    Timed("100 rows, areas only, in process, against a constant answer", "<=", 3.5, 100, "request", "constant"),
    *(
        Served(f"service, JSON in and out, {size}", ">=", 6, rows, JSON, ALL)
        for size, rows in (("1e3", 1_000), ("1e5", 100_000), ("1e6", 1_000_000))
    ),
    *(
        Served(f"service, Arrow in and out, {size}", ">=", 9, rows, ARROW, ("points",))
        for size, rows in (("1e3", 1_000), ("1e5", 100_000), ("1e6", 1_000_000))
    ),
    *(
        Served(f"a constant answer instead, {name} in and out, 1e3", ">=", None, 1_000, media_type, include, CONSTANT)
        for name, media_type, include in (("JSON", JSON, ALL), ("Arrow", ARROW, ("points",)))
    ),
    Served("service, JSON, areas only, 1e6", ">=", 16, 1_000_000, JSON, ("auc",)),
    Served("service, Arrow, areas only, 1e6", ">=", 40, 1_000_000, ARROW, ("auc",)),
    *_rates(100, 5.9),
    *_rates(1_000, 6.6),
    *_rates(10_000, 11.4),
)


def quick_rows(rows: Iterable[Row]) -> list[Row]:
    """These rows on tiny inputs, without those that then equal an earlier one."""
    found: dict[Row, Row] = {}
    for row in rows:
        quick = row.quick()
        found.setdefault(replace(quick, what="", sign="<="), quick)
    return [*found.values()]
