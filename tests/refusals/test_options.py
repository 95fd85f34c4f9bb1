"""Options that exclude each other, or do not fit the evaluation: one row for each, with its sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.refusals.places import COUNTED, COUNTS, DROP, LABELS, OTHER, ROC, SAMPLE, SAMPLES
from tests.support import asking

Row = tuple[str, dict[str, Any], str, str, str]

CURVES, TRADEOFFS, COMPARISONS, GATES = (SAMPLES[name] for name in ("curves", "tradeoffs", "comparisons", "gates"))
OLD, NEW = COMPARISONS["evaluations"]
COUNTED_ONE = {"name": "counted", "counts": COUNTS}
PAIR = GATES | {"paired": True}
ABSENT = "null and [] count as absent."

WRONG: list[Row] = [
    (
        "curves",
        CURVES | {"interpolation": {}},
        "/interpolation",
        "exclusive",
        "Give exactly one of every and at_recall.",
    ),
    (
        "curves",
        CURVES | {"interpolation": {"every": 1, "at_recall": [0.5]}},
        "/interpolation",
        "exclusive",
        "Give exactly one of every and at_recall.",
    ),
    ("curves", CURVES | {"interpolation": {"every": 1e-9}}, "/interpolation", "too_many_points", ""),
    (
        "curves",
        CURVES | {"thresholds": [0.5]},
        "/thresholds",
        "exclusive",
        "Give thresholds or a tuning sample, not both.",
    ),
    (
        "curves",
        CURVES | {"tuning": OTHER | {"lower_is_positive": True}},
        "/tuning",
        "exclusive",
        "The tuning sample's thresholds cannot be applied to scores that rank the other way.",
    ),
    (
        "curves",
        COUNTED["curves"] | {"thresholds": [0.5]},
        "/thresholds",
        "exclusive",
        "This is for a sample, but counts are given too.",
    ),
    (
        "curves",
        COUNTED["curves"] | {"tuning": OTHER},
        "/tuning",
        "exclusive",
        "This is for a sample, but counts are given too.",
    ),
    *(
        (
            "curves",
            CURVES | {"operating_points": [point]},
            f"/operating_points/0/{name}",
            "missing",
            "An operating point needs metric and at.",
        )
        for name, point in (("at", {"metric": "jaccard"}), ("metric", {"at": 0.5}), ("metric", {}))
    ),
    *(
        ("tradeoffs", TRADEOFFS | {"lambda_density": density}, f"/lambda_density/{name}", "missing", told)
        for told in ("A density needs both a and b.",)
        for name, density in (("a", {}), ("a", {"b": 2}), ("a", {"a": None, "b": 2}), ("b", {"a": 2, "b": []}))
    ),
    *(
        (
            "tradeoffs",
            TRADEOFFS | {"lambda_range": between},
            "/lambda_range",
            "not_rising",
            "The first number of the range must be below the second.",
        )
        for between in ([0.5, 0.5], [-0.0, 0.0], [0.8, 0.2])
    ),
    *(
        ("tradeoffs", body | bounds, "/min_precision", "no_row_meets", "")
        for body, bounds in (
            (TRADEOFFS, {"min_precision": 0.75, "min_recall": 0.5, "lower_is_positive": True}),
            (COUNTED["tradeoffs"], {"min_precision": 1, "min_recall": 1}),
            (COUNTED["tradeoffs"], {"min_precision": 0.7, "min_recall": 0.5}),
        )
    ),
    *(
        ("comparisons", body, "/evaluations", "missing", f"Give a list of evaluations; {ABSENT}")
        for body in ({}, {"indices": ["jaccard"]}, {"evaluations": None}, {"evaluations": []})
    ),
    *(
        (
            "comparisons",
            {"evaluations": [OLD, NEW | {"name": name}]},
            "/evaluations/1/name",
            "missing",
            "When there are several evaluations, each needs a name.",
        )
        for name in (None, [])
    ),
    *(
        (
            "comparisons",
            {"evaluations": evaluations},
            f"/evaluations/{len(evaluations) - 1}/name",
            "duplicate",
            f"evaluations[{earlier}] already has this name.",
        )
        for evaluations, earlier in (
            ([OLD, NEW, OLD], 0),
            ([OLD, NEW, NEW], 1),
            ([OLD, COUNTED_ONE | {"name": "old"}], 0),
        )
    ),
    *(
        ("comparisons", {"evaluations": evaluations}, f"/evaluations/{blamed}", "totals_differ", "")
        for evaluations, blamed in (
            ([OLD, COUNTED_ONE | {"counts": COUNTS | {"positives": 4}}], 1),
            (
                [
                    OLD,
                    NEW,
                    COUNTED_ONE | {"counts": COUNTS | {"negatives": 4}},
                    {"name": "p", "counts": COUNTS | {"positives": 4}},
                ],
                2,
            ),
            ([OLD, NEW | {"weights": [1, 1, 1, 1, 1, 1 + 2**-50]}], 1),
        )
    ),
    *(
        (
            "gates",
            GATES | {"rules": rules},
            "/rules",
            "missing",
            'Give a list of rules, such as [{"metric": "roc", "min": 0.9}]; ' + ABSENT,
        )
        for rules in (None, [])
    ),
    *(
        (
            "gates",
            SAMPLE | {"rules": rules, "baseline": None},
            f"/rules/{blamed}/max_drop",
            "missing",
            "max_drop needs a baseline.",
        )
        for rules, blamed in (([ROC, DROP], 1), ([DROP, ROC], 0))
    ),
    (
        "gates",
        SAMPLE | {"rules": [ROC], "paired": True},
        "/paired",
        "missing",
        "paired needs a baseline.",
    ),
    *(
        ("gates", PAIR | {"baseline": OTHER | change}, blamed, "not_paired", "")
        for change, blamed in (
            ({"labels": [1, 0, 1, 0, 1, 0]}, "/baseline/labels/3"),
            ({"labels": [not label for label in LABELS]}, "/baseline/labels/0"),
            ({"weights": [1, 1, 2, 1, 1, 1]}, "/baseline/weights/2"),
            ({"scores": [1, 2], "labels": [1, 0]}, "/paired"),
            ({"scores": None, "labels": None, "counts": COUNTS}, "/paired"),
        )
    ),
    ("gates", COUNTED["gates"] | {"baseline": OTHER, "paired": True}, "/paired", "not_paired", ""),
    (
        "gates",
        PAIR | {"weights": [1, 1, 1, 1, 1, 3], "baseline": OTHER | {"weights": [1] * 6}},
        "/baseline/weights/5",
        "not_paired",
        "",
    ),
]


@pytest.mark.parametrize(("operation", "body", "pointer", "code", "sentence"), WRONG)
def test_what_does_not_go_together(operation: str, body: Any, pointer: str, code: str, sentence: str) -> None:
    (error,) = asking.errors(operation, body)
    assert (error["pointer"], error["code"]) == (pointer, code)
    assert error["detail"] == sentence or not sentence


@pytest.mark.parametrize("absent", [{}, {"weights": None}, {"weights": []}])
def test_weights_of_one_side_alone_are_to_blame(absent: dict[str, Any]) -> None:
    """The error points only to the weights that were given."""
    weights = {"weights": [1, 3, 1, 1, 1, 1]}
    assert asking.refusals("gates", PAIR | weights | {"baseline": OTHER | absent}) == [("/weights/1", "not_paired")]
    found = asking.refusals("gates", PAIR | absent | {"baseline": OTHER | weights})
    assert found == [("/baseline/weights/1", "not_paired")]


def test_names_are_compared_exactly() -> None:
    named = [OLD | {"name": name} for name in ("old", "Old", "old ")]
    assert asking.answered("comparisons", {"evaluations": named})["auc"]["name"] == ["old", "Old", "old "]


@pytest.mark.parametrize(
    ("resamples", "level", "shown"),
    [(100, 0.98, True), (100, 0.981, False), (199, 0.99, True), (1999, 0.999, True), (1998, 0.999, False)],
)
def test_a_level_has_a_resample_beyond_each_end(resamples: int, level: float, *, shown: bool) -> None:
    """(B + 1)(1 - level)/2 >= 1."""
    options = {"method": "bootstrap", "resamples": resamples}
    of_curves = SAMPLE | {"intervals": options | {"level": level}}
    sure = SAMPLE | {"intervals": options, "rules": [{"metric": "roc", "min": 0.5, "confidence": level}]}
    drop = PAIR | {"intervals": {"resamples": resamples, "level": level}}
    drop |= {"rules": [{"metric": "roc", "min": 0.5}, {"metric": "tpr_at_fpr", "at": 0.1, "max_drop": 0.5}]}
    for operation, body, pointer in (
        ("curves", of_curves, "/intervals/level"),
        ("gates", sure, "/rules/0/confidence"),
        ("gates", drop, "/intervals/level"),
    ):
        if shown:
            asking.answered(operation, body)
        else:
            (error,) = asking.errors(operation, body)
            assert (error["pointer"], error["code"]) == (pointer, "out_of_range")
            assert error["detail"] == (
                f"{resamples} resamples allow a level of at most {1 - 2 / (resamples + 1):.6g}; lower level or "
                "raise resamples."
            )


def test_other_methods_show_any_level() -> None:
    rules = [{"metric": "roc", "min": 0.5, "confidence": 0.999999}, {"metric": "roc", "max_drop": 0.5}]
    asking.answered("gates", PAIR | {"rules": rules, "intervals": {"level": 0.999999, "resamples": 100}})


@pytest.mark.parametrize("operation", SAMPLES)
def test_rows_are_limited(operation: str) -> None:
    for body in (SAMPLES[operation], COUNTED[operation]):
        rows = 2 if body is COUNTED[operation] and operation != "comparisons" else 6
        asking.answered(operation, body, limits=replace(asking.LIMITS, max_rows=rows))
        result = asking.ask(operation, body, limits=replace(asking.LIMITS, max_rows=rows - 1))
        assert (result.status, result.problem) == (413, "too_many_rows")


@pytest.mark.parametrize(("operation", "name"), [("curves", "tuning"), ("gates", "baseline")])
def test_rows_of_the_longer_table_count(operation: str, name: str) -> None:
    longer = {"scores": [*range(7)], "labels": [*LABELS, 1]}
    limits = replace(asking.LIMITS, max_rows=6)
    given = (
        SAMPLES[operation] | {"rules": [{"metric": "roc", "min": 0.5}]} if operation == "gates" else SAMPLES[operation]
    )
    for body in (given | longer, given | {name: longer}):
        assert asking.ask(operation, body, limits=limits).problem == "too_many_rows"


def test_points_are_limited() -> None:
    limits = replace(asking.LIMITS, max_interpolated_rows=3)
    assert asking.refusals("tradeoffs", SAMPLE | {"at_lambda": [0, 0.5, 1, 1]}, limits=limits) == [
        ("/at_lambda", "too_many_points")
    ]
    asking.answered("tradeoffs", SAMPLE | {"at_lambda": [0, 0.5, 1]}, limits=limits)
    assert asking.refusals("curves", SAMPLE, limits=limits) == [("/interpolation", "too_many_points")]
    asking.answered("curves", SAMPLE | {"interpolation": {"at_recall": [0, 0.5, 1]}}, limits=limits)


def test_a_positive_label_in_a_list_is_the_only_error() -> None:
    """R's lists with auto_unbox=FALSE; the labels are right."""
    body = {"scores": [0.9, 0.2], "labels": ["yes", "no"], "positive_label": ["yes"]}
    found = [(error["pointer"], error["detail"]) for error in asking.errors("curves", body)]
    assert found == [("/positive_label", "This is a list; it must be a string, a number or a boolean.")]
