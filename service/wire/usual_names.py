"""Which known name an unknown one may stand for: what other libraries and people call it, or a misspelling.

Used in messages and warnings only; no result depends on it.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher, get_close_matches

_LONGEST_CONSIDERED = 40
"""Longer names are not considered."""

_SIMILAR, _OF_SHORT, _ALMOST_THE_SAME = 0.8, 0.7, 0.9
"""How similar a name must be to be suggested, as difflib measures it: with as many words, and with more or fewer."""
_SHORT, _LONGER = 5, 3
"""The letters of a short name, in which one makes a greater difference, and by how many more a name is another one."""

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
    "delimiter": ("sep", "separator", "delim"),
    "positive_label": ("pos_label", "positive_class", "pos_class"),
    "positives": ("positive", "pos", "n_pos", "n_positives", "num_positives", "n_positive", "events", "n_events"),
    "negatives": ("negative", "neg", "n_neg", "n_negatives", "num_negatives", "n_negative", "nonevents", "non_events"),
}
"""{column: other names for it, the likeliest first}; its own name, in capitals for instance, comes before them."""

_METRICS_ELSEWHERE = {
    ("f1", "f_measure (f1 is f_measure at lambda 0.5)"): ("f1", "f"),
    ("f0_5",): ("f0.5", "f05", "f0point5"),
    ("f_measure with at b²/(1 + b²)",): ("fbeta", "f_beta"),
    ("balanced_accuracy",): ("bal_accuracy",),
    ("mcc",): ("matthews_corrcoef", "matthews", "phi"),
    ("kappa",): ("cohen_kappa", "cohens_kappa", "kap"),
    ("youden",): ("j_index", "youden_j", "informedness", "bookmaker"),
    ("specificity", "fpr (it is 1 - specificity)"): ("specificity", "tnr", "spec", "selectivity"),
    ("sensitivity", "recall"): ("sensitivity", "sens", "hit_rate", "tpr"),
    ("recall",): ("capture_rate", "gain"),
    ("ppv", "precision"): ("ppv", "positive_predictive_value"),
    ("precision",): ("response_rate",),
    ("precision (fdr is 1 - precision)",): ("fdr",),
    ("npv",): ("negative_predictive_value",),
    ("npv (it is 1 - npv)",): ("for", "false_omission_rate"),
    ("fpr",): ("fall_out", "far"),
    ("fnr",): ("miss_rate", "frr"),
    ("share",): ("selection_rate", "alert_rate", "detection_prevalence"),
    ("jaccard",): ("threat", "csi", "iou"),
    ("lr_positive",): ("lr+", "lr_pos", "plr"),
    ("lr_negative",): ("lr-", "lr_neg", "nlr"),
    ("roc",): ("auc", "auroc", "roc_auc"),
    ("average_precision",): ("ap",),
    ("pr or average_precision",): ("auprc", "pr_auc", "auc_pr", "precision_recall_auc"),
    ("partial",): ("pauc", "partial_auc"),
    ("brier",): ("brier_loss",),
    ("log_loss",): ("logloss", "cross_entropy", "nll"),
    ("ece",): ("calibration_error", "expected_calibration_error"),
    ("gini",): ("accuracy_ratio", "somers_d", "gain_capture"),
}
"""{what to use, the likeliest first, each beginning with a name: what other programs call it}"""

_CALLED_HERE = {name: ours for ours, names in _METRICS_ELSEWHERE.items() for name in names}

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


def choice_meant(name: str, known: Sequence[str]) -> str | None:
    """What to use among known values instead of an unknown one: another program's metric, or a misspelling."""
    spelled = re.sub(r"[-\s]+(?=\w)", "_", name[:_LONGEST_CONSIDERED].lower()).removesuffix("_score")
    called = (each for each in _CALLED_HERE.get(spelled, ()) if each.split()[0] in known)
    return spelled if spelled in known else next(called, None) or nearest(name, known)


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name of which an unknown one seems to be a misspelling; with another word, it is another name."""
    name = name[:_LONGEST_CONSIDERED].lower()
    close = get_close_matches(name, known, len(known) or 1)
    for near in sorted(close, key=lambda near: sorted(near) != sorted(name)):  # first those with swapped letters
        alike = SequenceMatcher(None, near, name).ratio()
        needed = _OF_SHORT if len(name) <= _SHORT and len(near) - len(name) < _LONGER else _SIMILAR
        needed = needed if near.count("_") == name.count("_") else _ALMOST_THE_SAME
        if alike >= needed or sorted(near) == sorted(name):
            return near
    return None


def suggested(name: str, known: Sequence[str]) -> str | None:
    """The known name that an unknown one misspells, or that other libraries call so."""
    return nearest(name, known) or next(iter(likely([name], list(known))), None)


def meant(name: str, known: Sequence[str]) -> str:
    """Suggest the known name that an unknown one may mean, or list all known names."""
    near = suggested(name, known)
    return f"did you mean {near}?" if near else f"the known names are {', '.join(known)}."
