"""Ordinary requests of every operation."""

from service.wire.media_types import ARROW_STREAM, CSV, MARKDOWN, SVG, XML
from tests.support.costs.families import asking
from tests.support.costs.other_families import compared, shuffled
from tests.support.costs.tables import TABLES, classes, sample, weighted
from tests.tools.costs.groups_families import groups

GATE = [
    {"metric": "roc", "min": 0.5, "confidence": 0.95},
    {"metric": "average_precision", "min": 0.5, "confidence": 0.95},
    {"metric": "roc", "max_drop": 0.02, "confidence": 0.95},
    {"metric": "recall", "at_threshold": 0.5, "max_drop": 0.02, "confidence": 0.95},
    {"metric": "f_measure", "at": 0.5, "min": 0.5},
    {"metric": "precision", "at_threshold": 0.5, "min": 0.1, "confidence": 0.9},
]
ORDINARY = {
    "all curves of 1,000 rows": asking("curves", sample(1000)),
    "of weights": asking("curves", weighted(1000, -2, 2)),
    "of counts": asking("curves", TABLES["counts"](1000)),
    "of CSV": asking("curves", "scores,labels\n" + "0.5,1\n0.25,0\n" * 500, content_type=CSV),
    "as CSV": asking("curves", sample(1000), accept=CSV),
    "as Arrow": asking("curves", sample(1000), accept=ARROW_STREAM),
    "compressed": asking("curves", sample(1000), coding="gzip"),
    "sent as gzip": asking("curves", sample(1000), sent_as="gzip"),
    "with intervals": asking("curves", sample(1000) | {"intervals": {}}),
    "with operating points": asking(
        "curves", sample(1000) | {"operating_points": [{"metric": "tpr_at_fpr", "at": at / 50} for at in range(50)]}
    ),
    "areas of 10,000 rows": asking("curves", sample(10_000) | {"include": ["auc"]}),
    "areas of 10,000 weights": asking("curves", weighted(10_000, -2, 2) | {"include": ["auc"]}),
    "trade-offs of 1,000 rows": asking("tradeoffs", sample(1000) | {"at_lambda": [0.25, 0.5, 0.75]}),
    "trade-offs of weights": asking("tradeoffs", weighted(1000, -2, 2)),
    "trade-offs of counts": asking("tradeoffs", TABLES["counts"](1000)),
    "two models of 1,000 rows": asking("comparisons", compared("samples", 2, 1000)),
    "five models of 300 rows": asking("comparisons", compared("samples", 5, 300)),
    "two models of weights": asking("comparisons", compared("weights", 2, 1000)),
    "areas of 1,000 open groups": asking("curves", groups(1000, width=0.5) | {"include": ["auc"]}),
    "trade-offs of 1,000 groups": asking("tradeoffs", groups(1000)),
    "all curves of 1,000 groups": asking("curves", groups(1000)),
    "ten slices of 1,000 rows": asking("slices", sample(1000) | {"slices": {"a": [row % 10 for row in range(1000)]}}),
    "their picture": asking("slices", sample(1000) | {"slices": {"a": [row % 10 for row in range(1000)]}}, accept=SVG),
    "three classes of 500 rows": asking("classes", classes(3, 500)),
    "a gate of 1,000 rows": asking("gates", sample(1000) | {"rules": GATE, "baseline": shuffled(1000, 1)}),
    "a paired gate": asking("gates", sample(1000) | {"rules": GATE, "baseline": shuffled(1000, 1), "paired": True}),
    "its summary": asking("gates", sample(1000) | {"rules": GATE, "baseline": shuffled(1000, 1)}, accept=MARKDOWN),
    "columns of CSV": asking(
        "columns", ",".join("abcdefghij") + "\n" + "0.5,1,x,y,,2,3,4,5,6\n" * 200, content_type=CSV
    ),
    "columns of JSON": asking("columns", sample(5000)),
    "its report": asking("gates", sample(1000) | {"rules": GATE, "baseline": shuffled(1000, 1)}, accept=XML),
}

DRAWN = {
    "a picture of curves": asking("curves", sample(1000) | {"include": ["auc"]}, accept=SVG),
    "a picture of trade-offs": asking("tradeoffs", sample(1000), accept=SVG),
    "curves with their pictures": asking("curves", sample(1000) | {"include": ["auc"], "charts": ["roc", "pr"]}),
    "a gate with its picture": asking(
        "gates", sample(1000) | {"rules": GATE, "baseline": shuffled(1000, 1), "charts": ["gate"]}
    ),
    "a picture of a gate": asking("gates", sample(1000) | {"rules": GATE, "baseline": shuffled(1000, 1)}, accept=SVG),
}
"""Pictures, which take about as long as a small request may."""
