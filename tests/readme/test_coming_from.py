"""What the page for people from other programs says is the same is the same, for twelve scores without a tie."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as theirs
from sklearn.calibration import calibration_curve

from tests.readme.documents import section, table
from tests.support.asking import answered

PAGE = "service/guide/coming_from.md"
curves = partial(answered, "curves")

SCORES = [0.95, 0.9, 0.8, 0.7, 0.65, 0.6, 0.55, 0.4, 0.35, 0.3, 0.2, 0.1]
LABELS = [1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0]
BODY = {"scores": SCORES, "labels": LABELS}
Y, S = np.array(LABELS), np.array(SCORES)
CLASSES = {"a": [0.6, 0.3, 0.1, 0.5, 0.2], "b": [0.3, 0.5, 0.3, 0.4, 0.1], "c": [0.1, 0.2, 0.6, 0.1, 0.7]}
OF_CLASSES = ["a", "b", "b", "a", "c"]
CALLED = S >= 0.5


def areas() -> dict[str, float]:
    found: dict[str, float] = curves(BODY | {"include": ["auc"]})["auc"]
    return found


def statistics() -> dict[str, float]:
    found: dict[str, float] = curves(BODY | {"include": ["statistics"]})["statistics"]
    return found


def points(*metrics: str) -> dict[str, Any]:
    found: dict[str, Any] = curves(BODY | {"include": ["points"], "metrics": [*metrics]})["points"]
    return found


def decision(asked: dict[str, Any], *metrics: str) -> list[float]:
    found = curves(BODY | {"decisions": [asked], "metrics": [*metrics]})["decisions"]
    return [found[name][0] for name in metrics]


def trapezoids() -> float:
    precision, recall, _ = theirs.precision_recall_curve(Y, S)
    return float(theirs.auc(recall, precision))


def matrices() -> tuple[list[Any], list[Any]]:
    found = points()
    ours = [found[name][1:] for name in ("tn", "fp", "fn", "tp", "threshold")]
    return ours, [column.tolist() for column in theirs.confusion_matrix_at_thresholds(Y, S)]


def errors() -> tuple[list[Any], list[Any]]:
    fpr, fnr, thresholds = theirs.det_curve(Y, S)
    found = points("fnr")
    rows = [found["threshold"].index(each) for each in thresholds if np.isfinite(each)]
    ours = [found[name][row] for name in ("fpr", "fnr") for row in rows]
    kept = np.isfinite(thresholds)
    return ours, [*fpr[kept], *fnr[kept]]


def bins() -> tuple[list[Any], list[Any]]:
    found = curves(BODY | {"reliability": {"bins": 4, "by": "mass"}})["reliability"]
    observed, mean = calibration_curve(Y, S, strategy="quantile", n_bins=4)
    return [found["observed"], found["mean_score"]], [observed.tolist(), mean.tolist()]


def partial_area() -> float:
    found = curves(BODY | {"include": [], "partial": [{"over": "fpr", "to": 0.25}]})["partial"]
    return float(found["mcclish"][0])


def of_classes(**options: Any) -> dict[str, Any]:
    found: dict[str, Any] = answered("classes", {"scores": CLASSES, "labels": OF_CLASSES} | options)
    return found


def columns_of_classes() -> np.ndarray[Any, Any]:
    return np.transpose(list(CLASSES.values()))


def called_classes() -> list[str]:
    return [list(CLASSES)[row] for row in columns_of_classes().argmax(axis=1)]


def best_f1() -> float:
    found, _ = theirs.metric_at_thresholds(Y, S, theirs.f1_score)
    return float(found.max())


Pair = Callable[[], tuple[Any, Any]]
SCIKIT_LEARN: dict[str, Pair] = {
    "roc_auc_score(y, s)": lambda: (areas()["roc"], theirs.roc_auc_score(Y, S)),
    "roc_auc_score(y, s, max_fpr=0.25)": lambda: (partial_area(), theirs.roc_auc_score(Y, S, max_fpr=0.25)),
    "average_precision_score(y, s)": lambda: (
        areas()["average_precision"],
        theirs.average_precision_score(Y, S),
    ),
    "auc(recall, precision)": lambda: (areas()["pr_trapezoid"], trapezoids()),
    "brier_score_loss(y, s)": lambda: (
        [statistics()["brier"], statistics()["log_loss"]],
        [theirs.brier_score_loss(Y, S), theirs.log_loss(Y, S)],
    ),
    "d2_brier_score(y, s)": lambda: (
        1 - statistics()["brier"] / statistics()["uncertainty"],
        theirs.d2_brier_score(Y, S),
    ),
    "confusion_matrix_at_thresholds(y, s)": matrices,
    "metric_at_thresholds(y, s, f1_score)": lambda: (
        points("f1")["f1"][1:],
        theirs.metric_at_thresholds(Y, S, theirs.f1_score)[0].tolist(),
    ),
    "det_curve(y, s)": errors,
    "f1_score(y, s >= 0.5)": lambda: (
        decision({"at_threshold": 0.5}, "f1", "mcc"),
        [theirs.f1_score(Y, CALLED), theirs.matthews_corrcoef(Y, CALLED)],
    ),
    "class_likelihood_ratios(y, s >= 0.5)": lambda: (
        decision({"at_threshold": 0.5}, "lr_positive", "lr_negative"),
        list(theirs.class_likelihood_ratios(Y, CALLED)),
    ),
    'TunedThresholdClassifierCV(model, scoring="f1")': lambda: (decision({"best": "f1"}, "f1"), [best_f1()]),
    'calibration_curve(y, s, strategy="quantile", n_bins=4)': bins,
    "balanced_accuracy_score(y, labels)": lambda: (
        of_classes(decide="highest")["overall"]["balanced_accuracy"],
        theirs.balanced_accuracy_score(OF_CLASSES, called_classes()),
    ),
    "top_k_accuracy_score(y, s, k=2)": lambda: (
        of_classes(top=[2])["top"]["accuracy"][0],
        theirs.top_k_accuracy_score(OF_CLASSES, columns_of_classes(), k=2, labels=list(CLASSES)),
    ),
}
"""{their call: our numbers and theirs}"""


def calls(title: str) -> list[str]:
    """The first call of each row."""
    return [row[0].split("`")[1] for row in table(PAGE, title)]


def test_every_call_of_scikit_learn_is_tried() -> None:
    assert calls("scikit-learn") == [*SCIKIT_LEARN]


@pytest.mark.parametrize("call", SCIKIT_LEARN)
def test_scikit_learn_has_the_same(call: str) -> None:
    ours, other = SCIKIT_LEARN[call]()
    assert ours == pytest.approx(other, rel=1e-12) if isinstance(ours, float) else near(ours, other)


def near(ours: Any, other: Any) -> bool:
    """Whether two lists, of numbers or of lists, are the same up to rounding."""
    np.testing.assert_allclose(np.array(ours, float), np.array(other, float), rtol=1e-12)
    return True


def test_torchmetrics_has_the_same_row() -> None:
    torch = pytest.importorskip("torch")
    metrics = pytest.importorskip("torchmetrics.functional.classification")
    recall, threshold = metrics.binary_recall_at_fixed_precision(torch.tensor(S), torch.tensor(Y), min_precision=0.6)
    ours = decision({"best": "recall", "min_precision": 0.6}, "recall")
    assert (ours, 0.6) == ([pytest.approx(float(recall))], pytest.approx(float(threshold)))


def test_dcurves_has_the_same_net_benefit() -> None:
    dcurves, pandas = pytest.importorskip("dcurves"), pytest.importorskip("pandas")
    thresholds = [0.2, 0.5, 0.7]
    frame = pandas.DataFrame({"y": LABELS, "p": SCORES})
    found = dcurves.dca(data=frame, outcome="y", modelnames=["p"], thresholds=thresholds)
    other = found[found.model == "p"].sort_values("threshold").net_benefit.tolist()
    assert curves(BODY | {"net_benefit": {"thresholds": thresholds}})["net_benefit"]["net_benefit"] == (
        pytest.approx(other)
    )


@pytest.mark.parametrize("title", ["pROC", "torchmetrics and Keras", "H2O", "MLflow"])
def test_what_the_page_asks_for_exists(title: str) -> None:
    """Each decision that it shows is answered."""
    text = section(PAGE, title)
    shown = [each for each in text.split("`") if each.startswith("{")]
    for each in shown:
        name = next((key for key in ("metric", "over", "method") if f'"{key}"' in each), "decision")
        option = {"metric": "operating_points", "over": "partial", "method": "intervals", "decision": "decisions"}[name]
        asked = each if option == "intervals" else f"[{each}]"
        answered("curves", "scores,labels\n0.9,1\n0.8,0\n0.7,1\n0.1,0\n", content_type="text/csv", **{option: asked})
    assert shown or title == "MLflow"
