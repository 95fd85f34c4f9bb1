"""What other libraries and people call the columns and fields that are known here under one name.

Used in messages and warnings only; no result depends on it.
"""

import re

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
    "tp": ("tps", "true_positives", "true_positive", "n_tp", "tp_count", "true_pos", "pos"),
    "fp": ("fps", "false_positives", "false_positive", "n_fp", "fp_count", "false_pos", "falpos"),
    "fn": ("fns", "false_negatives", "false_negative", "n_fn", "fn_count", "false_neg", "falneg"),
    "tn": ("tns", "true_negatives", "true_negative", "n_tn", "tn_count", "true_neg", "neg"),
    "threshold": ("thresholds", "cutoff", "cutoffs", "cut_off", "cutpoint", "cut_point", "thr", "prob", "probability"),
    "score": ("bin", "bucket", "prob", "probability", "prediction", "p"),
    "score_from": ("from", "lower", "bin_from", "bin_start", "bin_lower", "score_min", "left"),
    "score_to": ("to", "upper", "bin_to", "bin_end", "bin_upper", "score_max", "right"),
    "positive_label": ("pos_label", "positive_class", "pos_class"),
    "positives": ("positive", "pos", "n_pos", "n_positives", "num_positives", "n_positive", "events", "n_events"),
    "negatives": ("negative", "neg", "n_neg", "n_negatives", "num_negatives", "n_negative", "nonevents", "non_events"),
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
