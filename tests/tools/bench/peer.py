"""The peer: what a user would write instead of rocpr, with FastAPI, pydantic, scikit-learn and orjson.

It answers the same fields. scikit-learn gives the rates, precision, and two of the areas; the rest is plain NumPy,
and SciPy for the convex hull.
"""

from typing import Any, Literal

import numpy as np
import orjson
from fastapi import FastAPI, Response
from pydantic import BaseModel
from scipy.spatial import ConvexHull
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

app = FastAPI()


class Evaluation(BaseModel):
    """The body."""

    scores: list[float]
    labels: list[int]
    include: list[Literal["auc", "points"]] = ["auc", "points"]


@app.get("/health/live")
def live() -> dict[str, str]:
    return {"status": "ok"}


@app.post("/v1/curves")
def curves(evaluation: Evaluation) -> Response:
    scores, labels = np.array(evaluation.scores), np.array(evaluation.labels)
    positives = int(labels.sum())
    negatives = labels.size - positives
    fpr, tpr, threshold = roc_curve(labels, scores, drop_intermediate=False)
    tp, fp = np.rint(tpr * positives).astype(np.int64), np.rint(fpr * negatives).astype(np.int64)
    vertices = hull_vertices(fp, tp)
    answer: dict[str, Any] = {"positives": positives, "negatives": negatives}
    if "auc" in evaluation.include:
        answer["auc"] = {
            "roc": roc_auc_score(labels, scores),
            "roc_hull": auc(fpr[vertices], tpr[vertices]),
            "pr": pr_area(tp, fp),
            "pr_trapezoid": pr_trapezoid(tp, fp),
            "pr_achievable": pr_area(tp[vertices], fp[vertices]),
            "average_precision": average_precision_score(labels, scores),
        }
    if "points" in evaluation.include:
        precision, _, _ = precision_recall_curve(labels, scores)
        answer["points"] = {
            "threshold": threshold,
            "tp": tp,
            "fp": fp,
            "fn": positives - tp,
            "tn": negatives - fp,
            "fpr": fpr,
            "tpr": tpr,
            "recall": tpr,
            # scikit-learn reverses the rows, with precision 1 where nothing is called positive; orjson writes NaN
            # as null.
            "precision": np.concatenate(([np.nan], precision[-2::-1])),
            "on_hull": on_hull(fp, tp, vertices),
        }
    return Response(orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")


def hull_vertices(fp: np.ndarray, tp: np.ndarray) -> np.ndarray:
    """The vertices of the convex hull that lie on or above the diagonal, from the origin to (P, N)."""
    vertices = np.sort(ConvexHull(np.column_stack((fp, tp))).vertices)
    return vertices[tp[vertices] * fp[-1] >= fp[vertices] * tp[-1]]


def on_hull(fp: np.ndarray, tp: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """Whether each row lies on the line between the vertices on either side, in whole numbers."""
    right = np.clip(np.searchsorted(vertices, np.arange(fp.size)), 1, None)
    a, c = vertices[right - 1], vertices[right]
    return (tp - tp[a]) * (fp[c] - fp[a]) == (fp - fp[a]) * (tp[c] - tp[a])


def pr_area(tp: np.ndarray, fp: np.ndarray) -> float:
    """The integral of precision over recall, with counts linear between two rows."""
    climb, growth = np.diff(tp), np.diff(tp + fp)
    rows = np.flatnonzero(climb)
    climb, growth, hits, called = climb[rows], growth[rows], tp[rows], (tp + fp)[rows]
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.log1p(growth / called)
        segments = climb / growth * (hits * logarithm + climb * (1 - called / growth * logarithm))
    first = called == 0  # from the origin, precision is constant up to the next row
    segments[first] = climb[first] ** 2 / growth[first]
    return float(segments.sum() / tp[-1])


def pr_trapezoid(tp: np.ndarray, fp: np.ndarray) -> float:
    """Trapezoids between precisions at 0, 1, 2, ... true positives, with the counts linear between two rows."""
    ends = np.arange(1, tp[-1] + 1)
    b = np.searchsorted(tp, ends)
    a = b - 1
    slope = (fp[b] - fp[a]) / (tp[b] - tp[a])
    after = ends / (ends + fp[a] + slope * (ends - tp[a]))
    called = ends - 1 + fp[a] + slope * (ends - 1 - tp[a])
    before = np.divide(ends - 1, called, out=after.copy(), where=called > 0)
    return float((before + after).sum() / 2 / tp[-1])
