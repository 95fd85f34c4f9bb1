"""Which option takes which kind of data: the table of guide/formats.md, found by asking.

    python -m tests.readme.taking

writes it. Each cell is what an answer with this option says about data of this kind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.readme.documents import ROOT
from tests.support import asking

PAGE = ROOT / "service/guide/formats.md"
BEGIN, END = "<!-- what takes what: begin -->", "<!-- what takes what: end -->"

SCORES = [0.95, 0.9, 0.8, 0.7, 0.65, 0.6, 0.55, 0.4, 0.35, 0.3, 0.2, 0.1]
LABELS = [1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0]
ROWS = {"scores": SCORES, "labels": LABELS}
IDS = list("abcdefghijkl")
BINS = {"positives": [2, 1, 1, 1], "negatives": [1, 1, 2, 3]}
KINDS: dict[str, dict[str, Any]] = {
    "rows": ROWS,
    "weights": ROWS | {"weights": [1.5, *[1] * 10, 2]},
    "clusters": ROWS | {"clusters": [*"abcdef"] * 2},
    "low scores positive": {"scores": [1 - score for score in SCORES], "labels": LABELS, "lower_is_positive": True},
    "soft labels": {"scores": SCORES, "soft_labels": [0.75 * label + 0.125 for label in LABELS]},
    "counts": {"counts": {"threshold": [0.75, 0.5], "tp": [2, 4], "fp": [1, 3], "positives": 5, "negatives": 7}},
    "groups of one score": {"groups": BINS | {"score": [0.9, 0.7, 0.5, 0.2]}},
    "open groups": {"groups": BINS | {"score_from": [0.8, 0.6, 0.3, 0], "score_to": [1, 0.75, 0.55, 0.25]}},
}
"""{kind of data: an evaluation}"""

ROC = {"metric": "roc", "min": 0}
RULE = {"metric": "precision", "at_share": 0.4, "min": 0.1, "confidence": 0.9}
OPTIONS: dict[str, list[tuple[str, dict[str, Any], str]]] = {
    "curves": [
        ("`include=auc,points`", {"include": ["auc", "points"]}, "auc"),
        ("`intervals`", {"include": ["auc"], "intervals": {}}, "intervals"),
        ("`prevalence`", {"include": ["auc"], "prevalence": 0.3}, "auc"),
        ("`decisions`", {"decisions": [{"at_share": 0.3}, {"best": "f1"}]}, "decisions"),
        ("`decisions` with `intervals`", {"decisions": [{"at_share": 0.3}], "intervals": {}}, "decisions"),
        ("`thresholds`", {"include": ["auc"], "thresholds": [0.5]}, "auc"),
        ("`tuning`", {"include": ["auc"], "tuning": ROWS}, "auc"),
        ("`operating_points`", {"operating_points": [{"metric": "tpr_at_fpr", "at": 0.1}]}, "operating_points"),
        ("`partial`", {"partial": [{"over": "fpr", "to": 0.2}]}, "partial"),
        ("`costs`", {"costs": {}}, "costs"),
        ("`gains`", {"gains": {}}, "gains"),
        ("`net_benefit`", {"net_benefit": {"thresholds": [0.5]}}, "net_benefit"),
        ("`reliability`", {"reliability": {}}, "reliability"),
        ("`include=calibration`", {"include": ["calibration"]}, "calibration"),
        ("`include=statistics`", {"include": ["statistics"]}, "statistics"),
        ("`include=interpolated_pr`", {"include": ["interpolated_pr"]}, "interpolated_pr"),
        ("`band`", {"band": {}}, "roc_band"),
    ],
    "tradeoffs": [("all", {}, "tradeoffs")],
    "gates": [
        ("areas, with `confidence`", {"rules": [{"metric": "roc", "min": 0.1, "confidence": 0.9}]}, "checks"),
        ("metrics of a row, with `confidence`", {"rules": [RULE]}, "checks"),
        ("a metric at a threshold", {"rules": [{"metric": "recall", "at_threshold": 0.5, "min": 0}]}, "checks"),
        ("`log_loss` and the like", {"rules": [{"metric": "log_loss", "max": 9}]}, "checks"),
        ("`slices`", {"rules": [ROC | {"slices": ["of"]}], "slices": {"of": list("abababababab")}}, "checks"),
        ("`ids`", {"rules": [{"metric": "roc", "max_drop": 1}], "ids": IDS, "baseline": ROWS | {"ids": IDS}}, "checks"),
    ],
    "slices": [
        ("areas", {"slices": {"of": list("abababababab")}}, "slices"),
        ("`decisions`", {"slices": {"of": list("abababababab")}, "decisions": [{"at_share": 0.3}]}, "decisions"),
    ],
}
"""{operation: (option in words, its fields, the part of the answer that it asks for)}"""


def cell(operation: str, kind: str, option: dict[str, Any], part: str) -> str:
    """What an option makes of a kind of data: yes, null with a warning, or no."""
    answer = asking.ask(operation, KINDS[kind] | option)
    if answer.status == 422:
        return "no"
    assert answer.status == 200, (operation, kind, option, answer)
    document = json.loads(answer.body)
    found, warned = document.get(part), [warning["code"] for warning in document["warnings"]]
    if part == "checks":
        (check,) = found
        sure = "confidence" not in check["rule"] or check["interval"] is not None
        if check["value"] is None:
            return "undecided"
        return "bounds" if "bounds" in check else "yes" if sure else "no interval"
    if _is_empty(found):
        assert warned, (operation, kind, option)
        return "null"
    return "bounds" if "bounded" in warned and part in {"auc", "intervals", "operating_points", "partial"} else "yes"


def _is_empty(found: Any) -> bool:
    """Whether nothing is in a part of an answer besides what was asked for."""
    return found is None or (isinstance(found, dict) and all(each in (None, []) for each in found.values()))


def lines() -> Iterator[str]:
    """The table."""
    yield f"| option | {' | '.join(KINDS)} |"
    yield "|---" * (1 + len(KINDS)) + "|"
    for operation, options in OPTIONS.items():
        for words, option, part in options:
            cells = [cell(operation, kind, option, part) for kind in KINDS]
            yield f"| {operation}: {words} | {' | '.join(cells)} |"


def written(text: str) -> str:
    """The page with today's table."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return "\n".join([before + BEGIN, *lines(), END + after])


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
