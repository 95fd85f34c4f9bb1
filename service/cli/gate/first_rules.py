"""A first file of rules, made from today's numbers, with a margin for another sample of the same data.

Knows which rules suit most models, and how TOML is written; the numbers come from the gate itself.
"""

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from service.curves.evaluation import CHANCE
from service.inference.rules import percent
from service.wire.formats.inputs import IDS

LEVEL = 0.95
FPR = 0.1
"""The false positive rate of the operating point."""

PROBE: dict[str, Any] = {
    "intervals": {"level": LEVEL, "resamples": 500},  # enough for ends rounded to a thousandth
    "rules": [
        {"metric": "roc", "min": 0},
        {"metric": "average_precision", "min": 0},
        {"metric": "tpr_at_fpr", "at": FPR, "min": 0},
        {"metric": "roc_hull", "min": 0},
    ],
}
"""The request for the numbers; every model that has them passes."""


def probe(threshold: float | None, *, drops: bool) -> dict[str, Any]:
    """The request for the numbers, also of recall and precision at a threshold, and of `drops` from a baseline.

    No area drops by more than 1.
    """
    rules = list(PROBE["rules"])
    if threshold is not None:
        rules += [{"metric": metric, "at_threshold": threshold, "min": 0} for metric in ("recall", "precision")]
    if drops:
        rules += [{"metric": area, "max_drop": 1, "confidence": LEVEL} for area in ("roc", "average_precision")]
    return PROBE | {"rules": rules}


_STEPS = 1000
"""Bounds are rounded to thousandths, on the side where today's numbers meet them: that is easy to read."""

_HEAD = """\
# What a model has to meet, for rocpr gate. Made from {name}: every rule below holds for it.
# The minimums leave room for chance: the same model, on another test set of this size, falls below each of them
# about one time in forty. Raise them to what you need. (Each lies 1.4 times as far below today's value as the lower
# end of its {percent} % interval does.)
#
#   rocpr gate RULES.toml SCORES
#
# A rule has a metric and one bound: min, max, max_drop, max_relative_drop or max_rise. With confidence = 0.95 the bound
# has to hold at the interval's unfavourable end, not only at the value itself.
"""

_MEANINGS = {
    "roc": "The area under the ROC curve.",
    "average_precision": "Average precision: mean precision, weighted by each rise in recall.",
    "tpr_at_fpr": "The true positive rate at the highest false positive rate you can afford.",
    "roc_hull": "The area under the convex hull of the ROC curve.",
    "recall": "At the threshold that you deploy: of the positives, the share that is called so.",
    "precision": "At the threshold that you deploy: of what is called positive, the share that is.",
}

_PAIRED = """
# Both files have the same labels in the same order, so their rows are taken as the same examples. If they are not,
# remove this line.
paired = true
"""

_DROPS = """
# Against the previous model, with --baseline OLD: the drops that these data still allow, with {percent} % confidence.
# Lower them to what you accept.
"""

_DROP = """
# Against the previous model, with --baseline OLD. If both have the same rows, put paired = true above the first rule.
# With few rows, this can fail even for a model that is just as good: pair the rows, add more, or allow a larger drop.
#[[rules]]
#metric = "roc"
#max_drop = 0.01
#confidence = 0.95
"""

_DEPLOYED = """
# At the threshold that you deploy; --at T makes such rules from today's numbers.
#[[rules]]
#metric = "precision"
#at_threshold = 0.5
#min = 0.9
"""


def rules_text(
    document: dict[str, Any], name: str, reading: dict[str, object], of_baseline: dict[str, object] | None = None
) -> str:
    """Write RULES.toml from the answer to PROBE.

    `reading` are the keys for reading the files, `of_baseline` those for the baseline's alone.
    """
    kept, left_out = _chosen(document)
    lines = [_HEAD.format(name=json.dumps(name, ensure_ascii=False), percent=percent(LEVEL))]
    lines += [f"{key} = {_toml(value)}\n" for key, value in reading.items()]
    lines += [_PAIRED] if document["paired"] and IDS not in reading else []
    own = [f"{key} = {_toml(value)}\n" for key, value in (of_baseline or {}).items()]
    lines += ["\n[baseline]\n", *own] if own else []
    for check in kept:
        low = [] if _lowest(check) > 0 else ["# Every model meets a minimum of 0: raise it.\n"]
        lines += [*_about(check), *low, *_rule_lines(check)]
    for check in left_out:
        lines += [*_about(check), "# No rule: its minimum would be 0, which every model meets.\n"]
    drops = _drops(document)
    lines += [_DROPS.format(percent=percent(LEVEL)) if drops else _DROP]
    for check in drops:
        lines += [_about_drop(check), *_rule_lines(check)]
    deployed = [] if any("at_threshold" in check["rule"] for check in [*kept, *left_out]) else [_DEPLOYED]
    return "".join([*lines, *deployed])


def rules_json(document: dict[str, Any]) -> str:
    """Write the same rules as RULES.json, a list with a line for each."""
    kept, _ = _chosen(document)
    return "[\n  " + ",\n  ".join(json.dumps(_rule(check)) for check in [*kept, *_drops(document)]) + "\n]\n"


def _chosen(document: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Choose the checks that become rules, at least one, and those that would be trivial."""
    checks = [check for check in document["checks"] if check["value"] is not None and "min" in check["rule"]]
    if len(checks) > 1:
        checks = [check for check in checks if check["rule"]["metric"] != "roc_hull"]  # only if there is no other rule
    kept = [check for check in checks if _lowest(check) > 0] or checks[:1]
    return kept, [check for check in checks if check not in kept]


def _drops(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The checks against the baseline whose interval excludes some drops."""
    checks = [check for check in document["checks"] if "max_drop" in check["rule"]]
    return [check for check in checks if check["interval"] is not None and check["interval"]["lower"] > -1]


def _rule(check: dict[str, Any]) -> dict[str, Any]:
    """The rule that today's numbers meet."""
    if "max_drop" in check["rule"]:
        largest = Fraction(max(-check["interval"]["lower"], 0.0))
        return check["rule"] | {"max_drop": math.ceil(largest * _STEPS) / _STEPS}  # type: ignore[no-any-return]  # JSON's
    return check["rule"] | {"min": _lowest(check)}  # type: ignore[no-any-return]  # it is JSON's


def _rule_lines(check: dict[str, Any]) -> list[str]:
    return ["[[rules]]\n", *(f"{key} = {_toml(value)}\n" for key, value in _rule(check).items())]


def _about_drop(check: dict[str, Any]) -> str:
    interval, metric = check["interval"], check["rule"]["metric"]
    ends = f"{interval['lower']:+.6f} to {interval['upper']:+.6f}"
    went = f"went from {check['baseline']:.6f} to {check['value']:.6f}"
    return f"\n# Today {metric} {went}; {percent(LEVEL)} % interval of the difference {ends}.\n"


def _about(check: dict[str, Any]) -> Iterator[str]:
    """Say what a rule is about, and what today's number is."""
    rule, value, interval = check["rule"], check["value"], check["interval"]
    yield f"\n# {_MEANINGS[rule['metric']]}\n"
    if interval is None:
        yield f"# Today {value:.6f}, without an interval.\n"
    else:
        yield f"# Today {value:.6f}, {percent(LEVEL)} % interval {interval['lower']:.6f} to {interval['upper']:.6f}.\n"
    if rule["metric"] == "roc" and value < CHANCE:
        yield f"# Below {CHANCE}: did you mean lower_is_positive?\n"


def _lowest(check: dict[str, Any]) -> float:
    """A bound that another test set rarely falls below: two estimates differ by √2 times the error of one."""
    value, interval = check["value"], check["interval"]
    lowest: float = value if interval is None else value - math.sqrt(2) * max(value - interval["lower"], 0.0)
    return math.floor(Fraction(max(lowest, 0.0)) * _STEPS) / _STEPS


def _toml(value: object) -> str:
    """Write a text, a number or a boolean: as in JSON, except for a character that only TOML escapes."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
