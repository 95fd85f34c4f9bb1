"""Which columns of a table may be meant by one that is missing, guessed from their names: for a sentence, no answer."""

import re
from urllib.parse import quote_plus

_LONGEST_NAME = 40
"""A longer name is no usual one."""

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
        "y",
    ),
}
"""{column: what others call it, the likeliest first}"""

_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")


def did_you_mean(header: list[str], missing: list[str]) -> str:
    """Ask whether the parameters are meant that name the missing columns; nothing where no name is a usual one."""
    spelled = {_BETWEEN_WORDS.sub("_", name.lower()).strip("_"): name for name in header if len(name) <= _LONGEST_NAME}
    found = {
        key: next((spelled[usual] for usual in _USUAL[key] if usual in spelled), None)
        for key in missing
        if key in _USUAL
    }
    parameters = "&".join(f"{key}={quote_plus(name)}" for key, name in found.items() if name is not None)
    return f" Did you mean {parameters}?" if parameters else ""
