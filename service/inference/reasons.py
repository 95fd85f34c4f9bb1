"""Why a rule is not met, in one sentence with its numbers. Knows rules, intervals and bounds only."""

from service.curves.bounds import Enclosure
from service.curves.errors import plain
from service.inference.intervals import Interval
from service.inference.metric import OF_PROBABILITIES
from service.inference.rules import Rule, percent

_SIGNIFICANT = 4
_MOST_SIGNIFICANT = 17


def missed(rule: Rule, value: float) -> str:
    """Say that the value is beyond the bound."""
    value_text, bound = _apart(value, rule.bound)
    return f"{rule.of} is {value_text}, {_beyond(rule)} {rule.kind} {bound}."


def out_of_reach(rule: Rule, value: float, interval: Interval) -> str:
    """Say that the interval's unfavourable end is beyond the bound."""
    end, _ = rule.ends_of(interval.lower, interval.upper)
    word = "high" if rule.is_ceiling else "low"
    end_text, bound = _apart(end, rule.bound)
    return (
        f"{rule.of} is {_short(value)}, but with {_percent(interval)} confidence it may be as {word} as {end_text}, "
        f"{_beyond(rule)} {rule.kind} {bound}."
    )


def still_possible(rule: Rule, value: float, interval: Interval) -> str:
    """Say that the value is beyond the bound, but not the whole interval."""
    _, end = rule.ends_of(interval.lower, interval.upper)
    word = "low" if rule.is_ceiling else "high"
    beyond = missed(rule, value).removesuffix(".")
    return f"{beyond}, but with {_percent(interval)} confidence it may be as {word} as {_short(end)}."


_FALL, _RISE = ("dropped", "dropped", "drop"), ("rose", "risen", "rise")
"""A change as a verb, its participle and its noun."""


def changed(rule: Rule, value: float, baseline: float, interval: Interval | None) -> str:
    """Say how far the metric dropped or rose, may have, or provably has."""
    from_to = f"went from {_short(baseline)} to {_short(value)}" if value != baseline else f"stayed at {_short(value)}"
    change = value - baseline
    if interval is not None:
        change = rule.ends_of(interval.lower, interval.upper)[rule.is_lenient]
    change = change if rule.is_ceiling else 0.0 - change
    text, bound = _apart(change, rule.bound)
    if rule.bound < 0:
        return _not_moved(rule, from_to, _apart(0.0 - change, -rule.bound), interval)
    verb, participle, _ = _RISE if rule.is_ceiling else _FALL
    if interval is None:
        return f"{rule.of} {verb} by {text}, from {_short(baseline)} to {_short(value)}, more than {rule.kind} {bound}."
    least = "at least" if rule.is_lenient else "as much as"
    may = verb if rule.is_lenient else f"may have {participle}"
    return (
        f"{rule.of} {from_to}; with {_percent(interval)} confidence it {may} by {least} {text}, "
        f"more than {rule.kind} {bound}."
    )


def _not_moved(rule: Rule, from_to: str, texts: tuple[str, str], interval: Interval | None) -> str:
    """Say that the metric did not improve as far as a bound below 0 requires."""
    moved, least = texts
    _, _, noun = _FALL if rule.is_ceiling else _RISE
    if interval is None:
        return f"{rule.of} {from_to}, which is less than the {noun} of {least} that {rule.kind} -{least} requires."
    end = "is at most" if rule.is_lenient else "may be as little as"
    return (
        f"{rule.of} {from_to}; with {_percent(interval)} confidence the {noun} {end} {moved}, less than the {least} "
        f"that {rule.kind} -{least} requires."
    )


def straddling(rule: Rule, bounds: Enclosure) -> str:
    """Say that open groups allow values on both sides of the bound, and what would decide the rule."""
    what = f"The difference of {rule.of}" if rule.is_change else f"{rule.of}"
    lower, upper = _apart(bounds.lower, bounds.upper) if bounds.lower < bounds.upper else (_short(bounds.lower),) * 2
    return (
        f"{what} may be anything from {lower} to {upper} (see the warning bounded). At one end, {rule.kind} "
        f"{plain(rule.bound)} is met; at the other, it is not. Finer groups would decide the rule."
    )


def no_value(rule: Rule, value: float | None) -> str:
    """Say that there is no value to compare with the bound, why, and what would decide the rule."""
    whose = "" if value is None else " in the baseline"
    return f"{rule.of} has no value{whose}, so the rule cannot be decided: {_why_no_value(rule)}."


def no_baseline(rule: Rule) -> str:
    """Say that only the evaluation has a value, and why."""
    return f"{rule.of} has no value in the baseline, so baseline and difference are null: {_why_no_value(rule)}."


_WHERE_UNDEFINED = {
    **dict.fromkeys(("precision", "ppv", "lift"), "nothing is called positive"),
    "npv": "everything is called positive",
    **dict.fromkeys(("mcc", "markedness"), "everything or nothing is called positive"),
    "lr_positive": "no negative is called positive",
    "lr_negative": "every negative is called positive",
}
"""{metric of a row: where it is undefined}"""

_WITHOUT_VALUE = {
    "recall_at_precision": "no curve reaches this precision; choose a lower one",
    **dict.fromkeys(
        OF_PROBABILITIES, "it needs the score of every example, and scores that are probabilities, from 0 to 1"
    ),
    **dict.fromkeys(
        ("calibration_slope", "calibration_intercept"),
        "a fit needs the score of every example, between 0 and 1, and classes that overlap",
    ),
}
"""{metric without a row: why it has no value}"""


def _why_no_value(rule: Rule) -> str:
    decision = rule.decision
    if decision is None:
        return _WITHOUT_VALUE.get(rule.metric, "a warning says why")
    if decision.limits:
        return "no row is within these limits, or the metric is undefined there; choose wider ones"
    undefined = f"{_WHERE_UNDEFINED[rule.metric]} there, or " if rule.metric in _WHERE_UNDEFINED else ""
    if decision.at_threshold is None:
        return f"{undefined}the order within an open group decides which row that is; finer groups would tell"
    return f"{undefined}the counts or groups have no such threshold; choose another one"


def no_interval(rule: Rule) -> str:
    """Say that there is no interval, and so no confidence."""
    what = "the difference of " if rule.is_change else ""
    return f"There is no interval for {what}{rule.of}, as a warning says, so the rule cannot be decided."


def _beyond(rule: Rule) -> str:
    return "above" if rule.is_ceiling else "below"


def _percent(interval: Interval) -> str:
    return f"{percent(interval.level)} %"


def _short(value: float) -> str:
    return f"{value:.{_SIGNIFICANT}g}"


def _apart(value: float, bound: float) -> tuple[str, str]:
    """Write two different numbers with enough digits to distinguish them."""
    for digits in range(_SIGNIFICANT, _MOST_SIGNIFICANT):
        texts = f"{value:.{digits}g}", f"{bound:.{digits}g}"
        if texts[0] != texts[1]:
            return texts
    return repr(value), repr(bound)
