"""The inputs on which the mathematics is measured, and the calls that are timed.

A case is made from a number of rows and a seed, so that two processes make the same one.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from service.curves.arrays import IntArray
from service.curves.classes import ClassScores, evaluate_classes
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.hull import roc_convex_hull
from service.curves.sample import Sample
from service.inference.gate import Gate, evaluate_gate
from service.inference.rules import Rule
from service.inference.sliced import Slicing, evaluate_slices
from service.inference.verdicts import GateOptions
from tests.tools.bench import agreement, rivals
from tests.tools.bench.bootstrap import Bootstrap
from tests.tools.bench.rows import CURVES, HULL_SHAPES, OURS, SCIPY, SKLEARN, SORT, TORCHMETRICS, VECTORISED

ALL_OUTPUTS = CurvesOptions(include=frozenset({"auc", "points"}))
"""Every column of `points`, including on_hull, and all six areas."""

Call = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """Calls by name, a check, and how many thresholds there are.

    The check compares the results of the calls and returns how many numbers; raises AssertionError if they disagree.
    """

    calls: dict[str, Call]
    check: Callable[[], int]
    thresholds: int = 0


def make(name: str, rows: int) -> Case:
    """Make a case of about this many rows."""
    return CASES[name](rows)


def labelled(scores: np.ndarray, chance: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Labels that are positive with the given probability; both classes occur."""
    labels = random.random(scores.size) < chance
    labels[np.argmax(scores)], labels[np.argmin(scores)] = True, False
    return labels


def _sample(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> Case:
    def ours() -> object:
        return evaluate_curves(Sample(scores, labels, weights), ALL_OUTPUTS)

    calls: dict[str, Call] = {
        OURS: ours,
        SKLEARN: lambda: rivals.scikit_learn(scores, labels, weights),
        SORT: lambda: np.sort(scores),
    }
    if rivals.has_torchmetrics():
        calls[TORCHMETRICS] = rivals.torchmetrics(scores, labels)

    def check() -> int:
        theirs = rivals.scikit_learn(scores, labels, weights)
        return agreement.with_scikit_learn(ours(), theirs, counted=weights is None)

    return Case(calls, check, np.unique(scores).size)


def distinct(rows: int) -> Case:
    """Scores of 53 random bits in [0, 1), each positive with its score as the probability."""
    random = np.random.default_rng(1)
    scores = random.random(rows)
    return _sample(scores, labelled(scores, scores, random))


def levels(rows: int) -> Case:
    """Scores with three decimals, in [0, 1)."""
    random = np.random.default_rng(2)
    scores = random.integers(0, 1_000, rows) / 1_000
    return _sample(scores, labelled(scores, scores, random))


def logits(rows: int) -> Case:
    """Scores on both sides of 0, positive with the logistic probability."""
    random = np.random.default_rng(3)
    scores = random.normal(0, 3, rows)
    return _sample(scores, labelled(scores, 1 / (1 + np.exp(-scores)), random))


def weighted(rows: int) -> Case:
    """Distinct scores with fractional weights in (0, 2]."""
    random = np.random.default_rng(4)
    scores = random.random(rows)
    return _sample(scores, labelled(scores, scores, random), 2 - 2 * random.random(rows))


def _hull(table: ConfusionTable) -> Case:
    """A fresh table each time, so that nothing is cached, and as many random doubles."""
    scores = np.random.default_rng(5).random(table.tp.size)

    def check() -> int:
        return agreement.hull_is(table.fp, table.tp, roc_convex_hull(replace(table)))

    return Case({OURS: lambda: roc_convex_hull(replace(table)), SORT: lambda: np.sort(scores)}, check)


def _of_steps(right: np.ndarray, up: np.ndarray) -> ConfusionTable:
    """The table whose rows are the sums of these steps, from (0, 0)."""
    fp, tp = (np.concatenate(([0.0], np.cumsum(steps))) for steps in (right, up))
    return ConfusionTable.of(Counts(tp, fp, float(tp[-1]), float(fp[-1])))


def hull_of_random(rows: int) -> Case:
    """The rows of a sample whose scores are informative."""
    random = np.random.default_rng(6)
    scores = random.random(rows)
    return _hull(ConfusionTable.of(Sample(scores, labelled(scores, scores, random))))


def hull_of_staircase(rows: int) -> Case:
    """Every row is a vertex, with the smallest counts: steps without a common divisor, by falling slope."""
    side = int(2 * np.sqrt(rows)) + 8
    while True:
        right, up = (grid.ravel() for grid in np.mgrid[0:side, 0:side])
        use = (right + up < side) & (np.gcd(right, up) == 1)
        if np.count_nonzero(use) >= rows:
            break
        side += side // 8
    right, up = right[use], up[use]
    shortest = np.argsort(right + up, kind="stable")[: rows - 1]
    right, up = right[shortest], up[shortest]
    order = np.argsort(np.arctan2(right, up))
    return _hull(_of_steps(right[order], up[order]))


def hull_of_wide_staircase(rows: int) -> Case:
    """Every row is a vertex: steps whose tp shrinks and whose fp grows, up to half the square of the rows."""
    right = np.arange(1, rows)
    return _hull(_of_steps(right, right[::-1]))


def hull_of_lattice(rows: int) -> Case:
    """Steps up and to the right in turn: every other row lies on the hull, and only the ends are vertices."""
    up = np.arange(rows - 1) % 2 == 0
    return _hull(_of_steps((~up).astype(np.float64), up.astype(np.float64)))


def hull_of_dominated_lattice(rows: int) -> Case:
    """The same, then one row straight above all others: the chord from the origin passes above them."""
    up = (np.arange(rows - 1) % 2 == 0).astype(np.float64)
    right = 1 - up
    up[-1], right[-1] = 1e9, 0.0
    return _hull(_of_steps(right, up))


def request(rows: int) -> Case:
    """A request for the areas through Flask's test client, and the same one to a route with a constant answer."""
    from service.app import create_app
    from service.settings import Settings

    random = np.random.default_rng(7)
    scores = random.random(rows)
    labels = labelled(scores, scores, random)
    body = json.dumps({"scores": scores.tolist(), "labels": labels.astype(int).tolist(), "include": ["auc"]}).encode()
    constant = create_app(Settings()).test_client().post("/v1/curves", data=body, content_type="application/json").data
    app = create_app(Settings())
    app.add_url_rule(
        "/constant", view_func=lambda: app.response_class(constant, mimetype="application/json"), methods=["POST"]
    )
    client = app.test_client()

    def post(path: str) -> bytes:
        answer = client.post(path, data=body, content_type="application/json")
        assert answer.status_code == 200
        return answer.data

    def check() -> int:
        areas = json.loads(post("/v1/curves"))["auc"]
        return agreement.areas_with_scikit_learn(areas, rivals.scikit_learn(scores, labels, None))

    return Case({OURS: lambda: post("/v1/curves"), "constant": lambda: post("/constant")}, check)


def slices(rows: int, *, weighted: bool = False) -> Case:
    """Distinct scores in slices of 500 rows each, in random order, and a loop over the slices."""
    random = np.random.default_rng(10)
    count = max(rows // 500, 2)
    numbers = random.permutation(np.arange(rows) % count)
    scores = random.random(rows)
    labels = labelled(scores, scores, random)
    weights = random.lognormal(size=rows) if weighted else None
    sample, slicing = Sample(scores, labels, weights), Slicing(numbers, {"slice": range(count)})

    def theirs() -> list[list[float]]:
        from sklearn.metrics import average_precision_score, roc_auc_score

        order = np.argsort(numbers, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(numbers))[:-1])
        metrics = (roc_auc_score, average_precision_score)

        def of(metric: Callable[..., float], part: IntArray) -> float:
            return metric(labels[part], scores[part], sample_weight=None if weights is None else weights[part])

        return [[of(metric, part) for part in parts] for metric in metrics]

    def check() -> int:
        found = evaluate_slices(sample, slicing).areas
        return agreement.near([found.roc, found.average_precision], theirs())

    return Case({OURS: lambda: evaluate_slices(sample, slicing), SKLEARN: theirs}, check)


def classes(rows: int) -> Case:
    """Probabilities of ten classes; the other side computes the mean area against the rest, and that of all pairs."""
    random = np.random.default_rng(11)
    labels = random.integers(0, 10, rows)
    odds = np.exp(random.normal(size=(rows, 10)) + np.eye(10)[labels])
    scores = odds / odds.sum(axis=1, keepdims=True)
    names = tuple(map(str, range(10)))
    given = ClassScores(names, list(scores.T.copy()), [labels == place for place in range(10)])

    def theirs() -> list[float]:
        from sklearn.metrics import roc_auc_score

        return [roc_auc_score(labels, scores, multi_class=way) for way in ("ovr", "ovo")]

    def check() -> int:
        found = evaluate_classes(given)
        return agreement.near([found.averages.roc[:1], np.array([found.hand_till])], [[each] for each in theirs()])

    return Case({OURS: lambda: evaluate_classes(given), SKLEARN: theirs}, check)


def bootstrap(rows: int, share: float = 0.5) -> Case:
    """Scores with a given share of positives, resampled once for every five of them."""
    random = np.random.default_rng(8)
    labels = random.permutation(np.arange(rows) < share * rows)
    case = Bootstrap(Sample(random.normal(1.5 * labels, 1), labels), rows // 5)
    return Case({OURS: case.ours, SCIPY: case.scipys, VECTORISED: case.vectorised}, case.check)


def gate(rows: int) -> Case:
    """Two models' scores of the same examples: the test of non-inferiority, and all outputs of the first."""
    random = np.random.default_rng(9)
    latent = random.normal(size=rows)
    labels = labelled(latent, 1 / (1 + np.exp(-2 * latent)), random)
    models = [1 / (1 + np.exp(-latent - random.normal(0, noise, rows))) for noise in (0.5, 0.6)]
    current, baseline = (Sample(scores, labels) for scores in models)
    options = GateOptions((Rule("roc", max_drop=0.01, confidence=0.95),), paired=True)

    def ours() -> Gate:
        return evaluate_gate(current, baseline, options)

    def check() -> int:
        (found,) = ours().checks
        assert found.interval is not None
        assert found.interval.standard_error is not None
        expected = rivals.delong_by_midranks(labels, models)
        return agreement.near([found.difference, found.interval.standard_error], expected)

    return Case({OURS: ours, CURVES: lambda: evaluate_curves(current, ALL_OUTPUTS)}, check)


CASES: dict[str, Callable[[int], Case]] = {
    "distinct": distinct,
    "levels": levels,
    "logits": logits,
    "weighted": weighted,
    "request": request,
    "gate": gate,
    "slices": slices,
    "slices with weights": partial(slices, weighted=True),
    "classes": classes,
    "bootstrap": bootstrap,
    "bootstrap, one in ten positive": lambda rows: bootstrap(rows, share=0.1),
    **dict(
        zip(
            (f"hull: {shape}" for shape in HULL_SHAPES),
            (hull_of_random, hull_of_staircase, hull_of_lattice, hull_of_dominated_lattice),
            strict=True,
        )
    ),
    "hull: concave staircase of counts above 2^31": hull_of_wide_staircase,
}
