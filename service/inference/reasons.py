"""Why a rule is not met, in one sentence with its numbers. Knows rules, intervals and bounds only."""

from service.curves.bounds import Enclosure
from service.curves.errors import plain
from service.inference.intervals import Interval
from service.inference.rules import Rule, percent

_SIGNIFICANT = 4
_MOST_SIGNIFICANT = 17


def missed(rule: Rule, value: float) -> str:
    """Say that the value is beyond the bound."""
    value_text, bound = _apart(value, rule.bound)
    return f"{rule.of} is {value_text}, {_beyond(rule)} {rule.kind} {bound}."


def out_of_reach(rule: Rule, value: float, interval: Interval) -> str:
    """Say that the interval's unfavourable end is beyond the bound."""
    end, word = (interval.lower, "low") if rule.kind == "min" else (interval.upper, "high")
    end_text, bound = _apart(end, rule.bound)
    return (
        f"{rule.of} is {_short(value)}, but with {_percent(interval)} confidence it may be as {word} as {end_text}, "
        f"{_beyond(rule)} {rule.kind} {bound}."
    )


def dropped(rule: Rule, value: float, baseline: float, interval: Interval | None) -> str:
    """Say how far the metric dropped, may have dropped, or provably dropped."""
    from_to = f"went from {_short(baseline)} to {_short(value)}" if value != baseline else f"stayed at {_short(value)}"
    drop = baseline - value if interval is None else 0.0 - (interval.upper if rule.prove else interval.lower)
    drop_text, bound = _apart(drop, rule.bound)
    if rule.bound < 0:
        return _not_risen(rule, from_to, _apart(0.0 - drop, -rule.bound), interval)
    if interval is None:
        return (
            f"{rule.of} dropped by {drop_text}, from {_short(baseline)} to {_short(value)}, more than max_drop {bound}."
        )
    least = "at least" if rule.prove else "as much as"
    may = "dropped" if rule.prove else "may have dropped"
    return (
        f"{rule.of} {from_to}; with {_percent(interval)} confidence it {may} by {least} {drop_text}, "
        f"more than max_drop {bound}."
    )


def _not_risen(rule: Rule, from_to: str, texts: tuple[str, str], interval: Interval | None) -> str:
    """Say that the metric did not rise as far as a max_drop below 0 requires."""
    rise, least = texts
    if interval is None:
        return f"{rule.of} {from_to}, which is less than the rise of {least} that max_drop -{least} requires."
    end = "is at most" if rule.prove else "may be as little as"
    return (
        f"{rule.of} {from_to}; with {_percent(interval)} confidence the rise {end} {rise}, less than the {least} that "
        f"max_drop -{least} requires."
    )


def straddling(rule: Rule, bounds: Enclosure) -> str:
    """Say that open groups allow values on both sides of the bound, and what would decide the rule."""
    what = f"The difference of {rule.of}" if rule.kind == "max_drop" else f"{rule.of}"
    lower, upper = _apart(bounds.lower, bounds.upper) if bounds.lower < bounds.upper else (_short(bounds.lower),) * 2
    return (
        f"{what} may be anything from {lower} to {upper} (see the warning bounded). At one end, {rule.kind} "
        f"{plain(rule.bound)} is met; at the other, it is not. Finer groups would decide the rule."
    )


def no_value(rule: Rule, value: float | None) -> str:
    """Say that there is no value to compare with the bound, why, and what would decide the rule."""
    whose = "" if value is None else " in the baseline"
    why = "a warning says why"
    if rule.of.at_threshold is not None:
        nothing = "nothing is called positive there, or " if rule.metric == "precision" else ""
        why = f"{nothing}the counts or groups have no such threshold; choose another one"
    elif rule.metric == "recall_at_precision":
        why = "no curve reaches this precision; choose a lower one"
    return f"{rule.of} has no value{whose}, so the rule cannot be decided: {why}."


def no_interval(rule: Rule) -> str:
    """Say that there is no interval, and so no confidence."""
    what = "the difference of " if rule.kind == "max_drop" else ""
    return f"There is no interval for {what}{rule.of}, as a warning says, so the rule cannot be decided."


def _beyond(rule: Rule) -> str:
    return "below" if rule.kind == "min" else "above"


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
