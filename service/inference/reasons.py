"""Why a rule is not met, in one sentence with its numbers. Knows rules, intervals and bounds only.

`where` continues the metric's name in a rule over slices, such as " of country DE".
"""

from service.curves.bounds import Enclosure
from service.curves.errors import plain
from service.inference.intervals import Interval
from service.inference.metric import OF_PROBABILITIES
from service.inference.rules import Rule, percent

_SIGNIFICANT = 4
_MOST_SIGNIFICANT = 17


def missed(rule: Rule, value: float, where: str = "") -> str:
    """Say that the value is beyond the bound."""
    value_text, bound = _apart(value, rule.bound)
    return f"{rule.named}{where} is {value_text}, {_beyond(rule)} {rule.kind} {bound}."


def out_of_reach(rule: Rule, value: float, interval: Interval, where: str = "") -> str:
    """Say that the interval's unfavourable end is beyond the bound."""
    end, _ = rule.ends_of(interval.lower, interval.upper)
    word = "high" if rule.is_ceiling else "low"
    end_text, bound = _apart(end, rule.bound)
    what, may = f"{rule.named}{where} is {_short(value)}", f"it may be as {word} as {end_text}"
    return f"{what}, but with {_percent(interval)} confidence {may}, {_beyond(rule)} {rule.kind} {bound}."


def still_possible(rule: Rule, value: float, interval: Interval, where: str = "") -> str:
    """Say that the value is beyond the bound, but not the whole interval."""
    _, end = rule.ends_of(interval.lower, interval.upper)
    word = "low" if rule.is_ceiling else "high"
    beyond = missed(rule, value, where).removesuffix(".")
    return f"{beyond}, but with {_percent(interval)} confidence it may be as {word} as {_short(end)}."


_FALL, _RISE = ("dropped", "dropped", "drop"), ("rose", "risen", "rise")
"""A change as a verb, its participle and its noun."""


def changed(rule: Rule, value: float, baseline: float, interval: Interval | None, where: str = "") -> str:
    """Say how far the metric dropped or rose, may have, or provably has."""
    from_to = f"went from {_short(baseline)} to {_short(value)}" if value != baseline else f"stayed at {_short(value)}"
    change = value - baseline
    if interval is not None:
        change = rule.ends_of(interval.lower, interval.upper)[rule.is_lenient]
    change = change if rule.is_ceiling else 0.0 - change
    text, bound = _apart(change, rule.bound)
    if rule.kind == "max_relative_drop":
        return _below_share(rule, f"{rule.named}{where}", (value, baseline), interval)
    if rule.bound < 0:
        return _not_moved(rule, f"{rule.named}{where} {from_to}", _apart(0.0 - change, -rule.bound), interval)
    verb, participle, _ = _RISE if rule.is_ceiling else _FALL
    if interval is None:
        old, new = _short(baseline), _short(value)
        return f"{rule.named}{where} {verb} by {text}, from {old} to {new}, more than {rule.kind} {bound}."
    least = "at least" if rule.is_lenient else "as much as"
    may = verb if rule.is_lenient else f"may have {participle}"
    return (
        f"{rule.named}{where} {from_to}; with {_percent(interval)} confidence it {may} by {least} {text}, "
        f"more than {rule.kind} {bound}."
    )


def _below_share(rule: Rule, what: str, values: tuple[float, float], interval: Interval | None) -> str:
    """Say that the metric dropped by too great a share of the baseline's, or may have."""
    value, baseline = values
    if interval is None:
        text, bound = _apart(1 - value / baseline, rule.bound)
        old, new = _short(baseline), _short(value)
        return f"{what} dropped by {text} of its {old}, to {new}, more than {rule.kind} {bound}."
    from_to = f"went from {_short(baseline)} to {_short(value)}" if value != baseline else f"stayed at {_short(value)}"
    below = _short(0.0 - rule.ends_of(interval.lower, interval.upper)[rule.is_lenient])
    may = "is at least" if rule.is_lenient else "may be as much as"
    return (
        f"{what} {from_to}; with {_percent(interval)} confidence it {may} {below} below {plain(rule.kept)} times the "
        f"baseline's, the least that {rule.kind} {plain(rule.bound)} allows."
    )


def _not_moved(rule: Rule, what: str, texts: tuple[str, str], interval: Interval | None) -> str:
    """Say that the metric did not improve as far as a bound below 0 requires."""
    moved, least = texts
    _, _, noun = _FALL if rule.is_ceiling else _RISE
    if interval is None:
        return f"{what}, which is less than the {noun} of {least} that {rule.kind} -{least} requires."
    end = "is at most" if rule.is_lenient else "may be as little as"
    return (
        f"{what}; with {_percent(interval)} confidence the {noun} {end} {moved}, less than the {least} "
        f"that {rule.kind} -{least} requires."
    )


def apart(rule: Rule, greatest: tuple[str, float], least: tuple[str, float], interval: Interval | None) -> str:
    """Say how far two slices, each with its value, are apart, or may be."""
    gap = greatest[1] - least[1]
    text, bound = _apart(gap, rule.bound)
    what = f"{rule.named}{greatest[0]} is {_short(greatest[1])}, and{least[0]} {_short(least[1])}: a gap of"
    if interval is None:
        return f"{what} {text}, above {rule.kind} {bound}."
    if gap <= rule.bound:
        end, bound = _apart(interval.upper, rule.bound)
        may = f"it may be as high as {end}, above {rule.kind} {bound}."
        return f"{what} {_short(gap)}, but with {_percent(interval)} confidence {may}"
    may = f"with {_percent(interval)} confidence it may be as low as {_short(interval.lower)}."
    return f"{what} {text}, above {rule.kind} {bound}, but {may}"


def straddling(rule: Rule, bounds: Enclosure) -> str:
    """Say that open groups allow values on both sides of the bound, and what would decide the rule."""
    what = f"The difference of {rule.named}" if rule.is_change else f"{rule.named}"
    if rule.kind == "max_relative_drop":
        what = f"{rule.named} less {plain(rule.kept)} times the baseline's"
    lower, upper = _apart(bounds.lower, bounds.upper) if bounds.lower < bounds.upper else (_short(bounds.lower),) * 2
    return (
        f"{what} may be anything from {lower} to {upper} (see the warning bounded). At one end, {rule.kind} "
        f"{plain(rule.bound)} is met; at the other, it is not. Finer groups would decide the rule."
    )


def no_value(rule: Rule, value: float | None) -> str:
    """Say that there is no value to compare with the bound, why, and what would decide the rule."""
    whose = "" if value is None else " in the baseline"
    return f"{rule.named} has no value{whose}, so the rule cannot be decided: {_why_no_value(rule)}."


def no_baseline(rule: Rule) -> str:
    """Say that only the evaluation has a value, and why."""
    return f"{rule.named} has no value in the baseline, so baseline and difference are null: {_why_no_value(rule)}."


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
    if rule.average or rule.decide:
        return "it is undefined for some class, or for all of them together; /v1/classes shows the numbers of each"
    if decision is None:
        return _WITHOUT_VALUE.get(rule.metric, "a warning says why")
    if decision.limits:
        return "no row is within these limits, or the metric is undefined there; choose wider ones"
    undefined = f"{_WHERE_UNDEFINED[rule.metric]} there, or " if rule.metric in _WHERE_UNDEFINED else ""
    if decision.at_threshold is None:
        return f"{undefined}the order within an open group decides which row that is; finer groups would tell"
    return f"{undefined}the counts or groups have no such threshold; choose another one"


def no_interval(rule: Rule, where: str = "") -> str:
    """Say that there is no interval, and so no confidence."""
    what = "the difference of " if rule.is_change else ""
    return f"There is no interval for {what}{rule.named}{where}, as a warning says, so the rule cannot be decided."


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
