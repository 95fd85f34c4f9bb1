"""JSON bodies for every operation whose parts fit together, so that most are evaluated."""

from typing import Any

from hypothesis import strategies as st

from service.wire.requests.gates_schemas import FAIL_STATUSES
from tests.contract.document import schema

NEAR = st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 1e-300, 1e300])
LAMBDAS = st.sampled_from([0, -0.0, 5e-324, 0.2, 0.5, 0.8, 1 - 2**-53, 1])
INDICES = st.lists(st.sampled_from(schema("TradeoffIndex")["enum"]))
SHAPES = st.sampled_from([0.01, 0.5, 1, 2, 1000])
BOUNDS = st.sampled_from([-0.0, 0, 0.5, 0.9, 1])
LEVELS = st.sampled_from([5e-324, 0.5, 0.95, 1 - 2**-53])
ROW_METRICS = schema("CurvesRequest")["properties"]["metrics"]["items"]["enum"]
WITHOUT_INTERVAL = {"roc_hull", "pr_trapezoid", "pr_achievable"}
PREVALENCES = st.sampled_from([1e-9, 0.1, 0.5, 1 - 1e-9])
INTERVALS = {
    "level": LEVELS,
    "method": st.sampled_from(schema("IntervalMethod")["enum"]),
    "resamples": st.just(100),
    "seed": st.sampled_from([0, 1, 2**32 - 1]),
}
SHARES = st.lists(st.sampled_from([1e-9, 0.1, 0.5, 0.9, 1]), unique=True, max_size=3).map(sorted)
LIMITS = {name: st.sampled_from([0, 0.5, 1]) for name in ("min_precision", "min_recall", "min_specificity", "max_fpr")}
DECISIONS = st.one_of(
    st.fixed_dictionaries({"at_threshold": NEAR}),
    *(st.fixed_dictionaries({f"at_{name}": st.floats(0, 1)}) for name in ("share", "fpr", "recall")),
    st.fixed_dictionaries({"best": st.sampled_from(["f1", "mcc", "recall"])}, optional=LIMITS),
)
OF_ROWS = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {"decisions": st.lists(DECISIONS, min_size=1, max_size=3)},
        optional={"metrics": st.lists(st.sampled_from(ROW_METRICS))},
    ),
)
NAMES = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=3)
CURVES_OPTIONS = {
    "include": st.lists(st.sampled_from(schema("Output")["enum"])),
    "keep": st.sampled_from(schema("Keep")["enum"]),
    "interpolation": st.one_of(
        st.fixed_dictionaries({"every": st.sampled_from([0.5, 1, 2, 7])}),
        st.fixed_dictionaries({"at_recall": st.lists(st.floats(0, 1), min_size=1)}),
    ),
    "intervals": st.fixed_dictionaries({}, optional=INTERVALS),
    "operating_points": st.lists(
        st.fixed_dictionaries(
            {
                "metric": st.sampled_from(schema("OperatingPoint")["properties"]["metric"]["enum"][:-1]),
                "at": st.one_of(st.floats(0, 1), st.sampled_from([-0.0, 0.5, 5e-324, 1 - 2**-53])),
            }
        ),
        max_size=3,
    ),
    "partial": st.lists(
        st.fixed_dictionaries(
            {"over": st.sampled_from(["fpr", "tpr", "recall"])},
            optional={"from": st.floats(0, 0.5), "to": st.sampled_from([0.75, 1 - 2**-53, 1])},
        ),
        max_size=3,
    ),
    "costs": st.fixed_dictionaries(
        {},
        optional={
            "prevalence": st.lists(st.floats(0, 1), max_size=3),
            "fn_cost": st.floats(1e-3, 1e3),
            "fp_cost": st.sampled_from([1, 1e150]),
        },
    ),
    "band": st.fixed_dictionaries(
        {},
        optional={"kind": st.sampled_from(["pointwise", "simultaneous"]), "at": st.lists(st.floats(0, 1), max_size=3)},
    ),
    "gains": st.one_of(
        st.fixed_dictionaries({}, optional={"parts": st.integers(1, 9)}), st.fixed_dictionaries({"shares": SHARES})
    ),
    "reliability": st.fixed_dictionaries(
        {}, optional={"bins": st.integers(1, 9), "by": st.sampled_from(["width", "mass"])}
    ),
    "net_benefit": st.fixed_dictionaries(
        {}, optional={"thresholds": st.lists(st.sampled_from([1e-300, 0.5, 1 - 2**-53]), max_size=3)}
    ),
    "lower_is_positive": st.booleans(),
    "prevalence": PREVALENCES,
}
TRADEOFFS_OPTIONS = {
    "indices": INDICES,
    "min_precision": st.sampled_from([0, 0.1, 0.5, 1]),
    "min_recall": st.sampled_from([0, 0.1, 0.5, 1]),
    "lambda_range": st.lists(LAMBDAS, min_size=2, max_size=2, unique=True).map(sorted),
    "lambda_density": st.fixed_dictionaries({"a": SHAPES, "b": SHAPES}),
    "at_lambda": st.lists(LAMBDAS),
    "lower_is_positive": st.booleans(),
    "prevalence": PREVALENCES,
}


@st.composite
def counts(draw: st.DrawFn) -> dict[str, Any]:
    rows = draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
    tp, fp = (list(column) for column in zip(*rows, strict=True))
    return {"counts": {"tp": tp, "fp": fp, "positives": 9, "negatives": 9.5}}


@st.composite
def samples(draw: st.DrawFn) -> dict[str, Any]:
    rows = draw(st.lists(st.tuples(NEAR, st.integers(0, 1), st.sampled_from([0, 0.1, 1, 3])), min_size=2))
    scores, labels, weights = (list(column) for column in zip(*rows, strict=True))
    if draw(st.integers(0, 4)):  # nearly all have both classes
        labels[:2], weights[:2] = [0, 1], [1, 1]
    return {"scores": scores, "labels": labels, "weights": weights}


@st.composite
def curves_bodies(draw: st.DrawFn) -> dict[str, Any]:
    body = draw(st.fixed_dictionaries({}, optional=CURVES_OPTIONS)) | draw(OF_ROWS)
    if "prevalence" in body:
        body = {name: value for name, value in body.items() if name not in {"gains", "reliability"}}
        body |= {"include": [part for part in body["include"] if part != "calibration"]} if "include" in body else {}
    if draw(st.booleans()):
        return body | draw(counts())
    tuning = {"scores": [1, 0.5], "labels": [True, False]}
    extras: list[dict[str, Any]] = [{}, {"thresholds": draw(st.lists(NEAR))}, {"tuning": tuning}]
    return body | draw(samples()) | draw(st.sampled_from(extras))


@st.composite
def tradeoffs_bodies(draw: st.DrawFn) -> dict[str, Any]:
    return draw(st.fixed_dictionaries({}, optional=TRADEOFFS_OPTIONS)) | draw(st.one_of(counts(), samples()))


@st.composite
def comparisons_bodies(draw: st.DrawFn) -> dict[str, Any]:
    """Evaluations with equal totals: counts, or the same labels and weights with different scores."""
    body = draw(st.fixed_dictionaries({}, optional={"indices": INDICES, "prevalence": PREVALENCES})) | draw(OF_ROWS)
    first = draw(st.one_of(counts(), samples()))
    found = [first]
    for _ in range(draw(st.integers(1, 3))):
        if "counts" in first:
            found.append(draw(counts()))
        else:
            size = len(first["labels"])
            found.append(first | {"scores": draw(st.lists(NEAR, min_size=size, max_size=size))})
    if draw(st.booleans()):
        body["intervals"] = draw(st.fixed_dictionaries({}, optional=INTERVALS))
        how = {"against": st.sampled_from(["first", "all"]), "adjust": st.sampled_from(["none", "holm"])}
        body |= draw(st.fixed_dictionaries({}, optional=how | ({} if "counts" in first else {"paired": st.booleans()})))
    names = draw(st.lists(NAMES, min_size=len(found), max_size=len(found), unique=True))
    return body | {"evaluations": [{"name": name} | one for name, one in zip(names, found, strict=True)]}


@st.composite
def rules(draw: st.DrawFn, *, drops: bool) -> dict[str, Any]:
    """A rule: a metric with the places that it needs, a bound, and sometimes a confidence, if there can be one."""
    metric = draw(st.sampled_from(schema("Rule")["properties"]["metric"]["enum"][:-1]))
    rule: dict[str, Any] = {"metric": metric, draw(st.sampled_from(["min", "max"])): draw(BOUNDS)}
    if drops and draw(st.booleans()):
        kinds = {"max_drop": [-1, -0.0, 0.05, 1], "max_relative_drop": [0, 0.05, 0.9]}
        kind = draw(st.sampled_from([*kinds]))
        rule = {"metric": metric, kind: draw(st.sampled_from(kinds[kind]))}
    if metric == "partial":
        low = draw(st.floats(0, 0.5))
        rule |= {"over": draw(st.sampled_from(["fpr", "tpr", "recall"])), "from": low, "to": draw(st.floats(0.75, 1))}
    if metric in ROW_METRICS or (metric in schema("TradeoffIndex")["enum"] and draw(st.booleans())):
        rule |= draw(DECISIONS)
    if metric in schema("OperatingPoint")["properties"]["metric"]["enum"]:
        rule["at"] = draw(st.one_of(st.floats(0, 1), LAMBDAS))
    if metric not in WITHOUT_INTERVAL and draw(st.booleans()):
        rule["confidence"] = draw(LEVELS)
        rule |= (
            draw(st.sampled_from([{}, {"prove": "drop"}])) if {"max_drop", "max_relative_drop"} & rule.keys() else {}
        )
    return rule


@st.composite
def gates_bodies(draw: st.DrawFn, more: dict[str, st.SearchStrategy[Any]]) -> dict[str, Any]:
    """An evaluation, sometimes with a baseline, of the same examples or of others; `more` are the options."""
    body = draw(st.one_of(counts(), samples()))
    baseline: dict[str, Any] = draw(st.sampled_from([{}, body])) or draw(st.one_of(st.just({}), counts(), samples()))
    if baseline is body and "scores" in body and draw(st.booleans()):
        size = len(body["labels"])
        baseline = body | {"scores": draw(st.lists(NEAR, min_size=size, max_size=size))}
        body = body | {"paired": draw(st.booleans())}
    options = {"lower_is_positive": st.booleans(), "prevalence": PREVALENCES} | more
    asked = draw(st.fixed_dictionaries({}, optional=options)) | ({"baseline": baseline} if baseline else {})
    asked["intervals"] = {"resamples": 100} | draw(st.fixed_dictionaries({}, optional=INTERVALS))
    return body | asked | {"rules": draw(st.lists(rules(drops=bool(baseline)), min_size=1, max_size=3))}


@st.composite
def slices_bodies(draw: st.DrawFn) -> dict[str, Any]:
    """A sample in a few slices of each kind."""
    body = draw(samples())
    kinds: list[list[Any]] = [["a", "", "\N{GRINNING FACE}", None], [True, False, None], [1, -2, 3.0, None]]
    size = len(body["scores"])
    columns = [
        draw(st.lists(st.sampled_from(draw(st.sampled_from(kinds))), min_size=size, max_size=size))
        for _ in range(draw(st.integers(1, 2)))
    ]
    intervals = {
        "level": LEVELS,
        "method": st.sampled_from(schema("SliceIntervalOptions")["properties"]["method"]["enum"]),
    }
    options = {
        "intervals": st.fixed_dictionaries({}, optional=intervals),
        "operating_points": CURVES_OPTIONS["operating_points"],
        "prevalence": PREVALENCES,
        "lower_is_positive": st.booleans(),
    }
    asked = draw(st.fixed_dictionaries({}, optional=options)) | draw(OF_ROWS)
    return body | asked | {"slices": {f"column {number}": column for number, column in enumerate(columns)}}


@st.composite
def classes_bodies(draw: st.DrawFn) -> dict[str, Any]:
    """A few rows of two or three classes, or of any number of them."""
    names = draw(st.sampled_from([["0", "1"], ["true", "false"], ["a", "\N{GRINNING FACE}", "c d"]]))
    size = draw(st.integers(1, 4))

    def column(cells: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(cells, min_size=size, max_size=size))

    kinds = {"0": [0, 1.0], "true": [True, False]}.get(names[0], names)
    labels: Any = column(st.sampled_from(draw(st.sampled_from([names, kinds]))))
    if draw(st.booleans()):
        labels = {name: column(st.sampled_from([0, 1])) for name in names}
    options = {"lower_is_positive": st.booleans(), "weights": st.just([1, 0.5, 0, 2][:size])}
    body = {"scores": {name: column(NEAR) for name in names}, "labels": labels}
    return body | draw(st.fixed_dictionaries({}, optional=options))


@st.composite
def columns_bodies(draw: st.DrawFn) -> dict[str, Any]:
    """Lists of any scalars, mostly of one length."""
    size = draw(st.integers(1, 4))
    cells = st.one_of(st.none(), st.booleans(), NEAR, st.integers(), st.text(max_size=3), st.lists(NEAR, max_size=2))
    lists = st.one_of(st.none(), st.lists(cells, min_size=size, max_size=size), st.lists(cells, max_size=2))
    return draw(st.dictionaries(st.text(max_size=3), lists, max_size=4))


BODIES = {
    "evaluateCurves": curves_bodies(),
    "evaluateTradeoffs": tradeoffs_bodies(),
    "compareClassifiers": comparisons_bodies(),
    "checkGate": gates_bodies({"fail_status": st.sampled_from(FAIL_STATUSES)}),
    "planRows": gates_bodies({"power": st.sampled_from([0.5, 0.8, 0.99])}),
    "evaluateSlices": slices_bodies(),
    "evaluateClasses": classes_bodies(),
    "listColumns": columns_bodies(),
}
"""{operation: its bodies}"""
