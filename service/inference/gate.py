"""The verdict on a model: every rule is checked, with a reason in one sentence if it is not met.

    1. The rules over all rows are checked: twice, at both ends, if open groups bound the metrics.
    2. The rules over slices are checked in each slice, those over folds on the mean of all folds.
    3. Warnings say what of the data, or of the rules, makes a verdict less than it seems.

Knows rules and checks, not how these are computed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from service.curves.clock import in_time
from service.curves.clusters import ClusterCounts
from service.curves.confusion import Evaluation
from service.curves.counts import Counts
from service.curves.errors import NotPaired, plain
from service.curves.evaluation import CurvesWarning, below_chance, one_vs_rest
from service.curves.indices import INDICES
from service.curves.sample import Sample
from service.inference.bounded import BOUNDED, extremes
from service.inference.estimates import Estimates
from service.inference.models import Models
from service.inference.over_folds import checks_over_folds
from service.inference.over_slices import checks_over_slices
from service.inference.pairing import check_paired
from service.inference.plans import planned
from service.inference.reasons import no_baseline
from service.inference.rules import CHANGES, ROUNDING, Rule
from service.inference.verdicts import Check, GateOptions, agreed, check_of

MAYBE_PAIRED = CurvesWarning(
    "maybe_paired",
    "The labels of the evaluation and of the baseline agree row by row. If the rows are the same examples, set "
    "paired: differences are then more certain.",
)
SAME_SCORES = CurvesWarning(
    "same_scores", "The evaluation and the baseline have the same scores. Was one set of scores given for both?"
)
_LOOSE_SHARE = 0.5
"""A change by this share of all that a metric may have is hardly a limit."""

FEWEST_PAIRS = 10
"""Labels of fewer rows than this may agree by chance."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The answer: passed if every check passed, but for those that only warn.

    clusters  those of the evaluation; None if all its rows are independent.
    target    the prevalence where the model is used, if it was given.
    """

    paired: bool
    checks: tuple[Check, ...]
    warnings: tuple[CurvesWarning, ...]
    clusters: ClusterCounts | None = None
    target: float | None = None

    @property
    def passed(self) -> bool:
        """Whether its status is passed."""
        return self.status == "passed"

    @property
    def status(self) -> str:
        """The overall status: failed if any check failed, else undecided if any is, else passed."""
        statuses = {check.status for check in self.checks if not check.rule.warns}
        return next((status for status in ("failed", "undecided") if status in statuses), "passed")

    @property
    def warned(self) -> int | None:
        """How many checks that only warn are not passed; None if there are none that only warn."""
        found = [check.status != "passed" for check in self.checks if check.rule.warns]
        return sum(found) if found else None


def evaluate_gate(evaluation: Evaluation, baseline: Evaluation | None, options: GateOptions) -> Gate:
    """Check all rules. Raises NotPaired, and RisingThresholds for counts.

    If open groups bound the metrics, each rule is checked at both ends: the worst of the evaluation against the best of
    the baseline, and the reverse. It is undecided unless both agree.
    """
    worst, best = extremes(evaluation)
    worst_baseline, best_baseline = (None, None) if baseline is None else extremes(baseline)
    models = Models.of(worst, best_baseline, paired=options.paired)
    estimates = Estimates(models, options.how, options.wanted)
    over_all = [rule for rule in options.rules if rule.is_of_all]
    found = {rule: check_of(rule, estimates, options) for rule in in_time(over_all)}
    warnings = estimates.warnings
    is_bounded = worst is not best or worst_baseline is not best_baseline
    if not is_bounded:
        found = {rule: replace(each, rows_needed=_rows_needed(each, models, options)) for rule, each in found.items()}
    if is_bounded:
        other = Estimates(Models.of(best, worst_baseline), options.how, options.wanted)
        found = {rule: agreed(one, check_of(rule, other, options)) for rule, one in in_time(found.items())}
        warnings = tuple(dict.fromkeys((BOUNDED, *warnings, *other.warnings)))
    if len(over_all) < len(options.rules):
        for checks_over in (checks_over_slices, checks_over_folds):
            more, told = checks_over(models, options)
            found, warnings = found | more, warnings + told
    checks = tuple(found[rule] for rule in options.rules)
    warnings = one_vs_rest(evaluation, baseline) + warnings
    of_roc = [check for check in checks if check.rule.metric == "roc" and check.rule.is_of_all]
    if not isinstance(evaluation, Counts):
        warnings += below_chance([check.value for check in of_roc[:1]])
    if not isinstance(baseline, Counts):  # only rules of differences have its value
        old = [check.baseline for check in of_roc if check.baseline is not None]
        warnings += below_chance(old[:1], ["the baseline"])
    if baseline is not None:
        of_one = dict.fromkeys(no_baseline(each.rule) for each in checks if each.is_of_one)
        warnings += tuple(CurvesWarning("no_baseline", detail) for detail in of_one)
    warnings += loose_rules(options.rules)
    if models.have_same_scores:
        warnings += (SAME_SCORES,)
    elif baseline is not None and not options.paired and any(rule.is_change for rule in options.rules):
        warnings += (MAYBE_PAIRED,) * may_be_pairs(evaluation, baseline)
    judged = models.models[0].evaluation
    clusters = judged.cluster_counts if isinstance(judged, Sample) else None
    target = None if evaluation.target is None else evaluation.target.share
    return Gate(options.paired, checks, warnings, clusters, target)


def may_be_pairs(evaluation: Evaluation, baseline: Evaluation) -> bool:
    """Whether two evaluations look like the same examples."""
    if evaluation.rows < FEWEST_PAIRS:
        return False
    try:
        check_paired(evaluation, baseline)
    except NotPaired:
        return False
    return True


def loose_rules(rules: Iterable[Rule]) -> tuple[CurvesWarning, ...]:
    """Warn of rules that hardly any model fails."""
    return tuple(_loose(rule) for rule in rules if _is_loose(rule))


def _is_loose(rule: Rule) -> bool:
    """Whether hardly any model fails a rule: percent given for a fraction, or an index that is always 1."""
    if rule.is_change or rule.kind == "max_gap":
        return rule.bound >= _LOOSE_SHARE * (1.0 if rule.kind == "max_relative_drop" else rule.of.span)
    return rule.metric in INDICES and rule.at == 1 and rule.decision is None


def _loose(rule: Rule) -> CurvesWarning:
    change = "gap" if rule.kind == "max_gap" else CHANGES.get(rule.kind)
    point = "1 %" if rule.kind == "max_relative_drop" else "one percentage point"
    why = f"{rule.kind} {plain(rule.bound)} of {rule.of} allows nearly any {change}; {point} is 0.01."
    if change is None:
        why = f"{rule.of} is 1 for every model: with everything called positive, recall is 1."
    return CurvesWarning("loose_rule", why)


def _rows_needed(check: Check, models: Models, options: GateOptions) -> int | None:
    """The rows that would show that a rule is met whose interval lies on both sides of its bound."""
    rule, interval = check.rule, check.interval
    if rule.confidence is None or interval is None or check.status == "passed":
        return None
    _, better = rule.ends_of(interval.lower, interval.upper)
    return None if rule.excess(better) > ROUNDING else planned(rule, models, options.how).rows
