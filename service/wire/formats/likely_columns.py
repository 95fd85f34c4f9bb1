"""Guesses from names which columns of a table, or fields of a JSON body, stand for missing ones.

Used in messages and a warning only; no result depends on it.
"""

import re
from urllib.parse import quote_plus

from service.curves.evaluation import CurvesWarning

_LONGEST_CONSIDERED = 40
"""Longer names are not considered."""

_USUAL = {
    "scores": (
        "score",
        "y_score",
        "y_scores",
        "y_prob",
        "y_proba",
        "y_pred_proba",
        "probability",
        "probabilities",
        "prob",
        "probs",
        "proba",
        "predicted_probability",
        "prediction",
        "predictions",
        "predicted",
        "pred",
        "y_pred",
        "y_hat",
        "yhat",
        "decision_function",
        "logit",
        "confidence",
        "p",
    ),
    "labels": (
        "label",
        "y_true",
        "target",
        "targets",
        "truth",
        "ground_truth",
        "true_label",
        "actual",
        "observed",
        "outcome",
        "class",
        "response",
        "y_test",
        "y",
    ),
    "weights": ("weight", "weights", "sample_weight", "sample_weights", "w"),
}
"""{column: other names for it, the likeliest first}; its own name, in capitals for instance, comes before them."""

_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")


def likely(names: list[str], missing: list[str]) -> dict[str, str]:
    """Guess which names stand for the missing columns: {column: name}."""
    spelled = {
        _BETWEEN_WORDS.sub("_", name.lower()).strip("_"): name for name in names if len(name) <= _LONGEST_CONSIDERED
    }
    found = {
        key: next((spelled[usual] for usual in (key, *_USUAL[key]) if usual in spelled), None)
        for key in missing
        if key in _USUAL
    }
    return {key: name for key, name in found.items() if name is not None}


def unused_weights(header: list[str]) -> dict[str, CurvesWarning]:
    """Warn of a column that looks like weights by another name, if there are no `weights`: {column: warning}.

    Other columns are ignored on purpose; weights change every number.
    """
    might_be = [name for name in header if "w" in name or "W" in name]  # most tables have none
    if not might_be or "weights" in header:
        return {}
    detail = "The column {!r} is not used. If it holds the weights of the examples, give its name as weights."
    found = likely(might_be, ["weights"]).values()
    return {name: CurvesWarning("unused_weights", detail.format(name)) for name in found}


def did_you_mean(found: dict[str, str]) -> str:
    """Suggest the parameters that name the missing columns; empty if no name is recognised."""
    parameters = "&".join(f"{key}={quote_plus(name)}" for key, name in found.items())
    return f" Did you mean {parameters}?" if parameters else ""
