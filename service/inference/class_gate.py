"""The verdict on a model of several classes: rules for each class against the rest, and rules on averages of all.

    classes   as a rule over slices: it must hold for each class, whose interval's favourable end is adjusted for their
              number (over_slices.py). Bonferroni's adjustment needs no independence: classes share their rows.
              A gap between them takes the correlation of their areas into account (class_gaps.py).
    average   as a rule over all rows (average_estimates.py)
    decide    a row is called the class with the highest score; of e that tie, 1/e of it each, and a row that is split
              has no interval

Knows rules, classes and checks. It promises what rules over slices do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.curves.area_columns import Undefined, sample_or_reason
from service.curves.arrays import FloatArray
from service.curves.class_decisions import best_scores
from service.curves.class_scores import ClassScores
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable
from service.curves.evaluation import CurvesWarning
from service.curves.sample import Sample
from service.inference.average_estimates import AverageEstimates
from service.inference.class_gaps import ClassGaps
from service.inference.estimates import Estimates, omitted
from service.inference.gate import FEWEST_PAIRS, MAYBE_PAIRED, Gate, loose_rules
from service.inference.models import EvaluatedModel, Models
from service.inference.over_slices import check_of_parts
from service.inference.pairing import with_common_clusters
from service.inference.reasons import no_baseline
from service.inference.rules import ALL, CLASS, Rule
from service.inference.sliced_models import NOT_IN_BASELINE, SliceModels, shortened_text, warnings_of_each
from service.inference.verdicts import Check, GateOptions, verdict_of

_SPLIT = "classes tie for the highest score, and a row that is split between them has no interval"


@dataclass(frozen=True, slots=True, eq=False)
class ClassModels:
    """The classes of a model and, if given, of its baseline, which has the same ones in the same order."""

    models: tuple[ClassScores, ...]
    paired: bool = False


def evaluate_class_gate(given: ClassScores, baseline: ClassScores | None, options: GateOptions) -> Gate:
    """Check all rules, each of which has `classes` or an `average`. Raises NotPaired, and TotalOutOfRange."""
    of = ClassModels((given,) if baseline is None else (given, baseline), options.paired)
    averages = AverageEstimates(of.models, options.how, paired=options.paired)
    split: dict[tuple[str | None, bool], tuple[SliceModels, ...]] = {}
    gaps: dict[tuple[str | None, bool], ClassGaps] = {}
    checks: dict[Rule, Check] = {}
    warnings: list[CurvesWarning] = []
    for rule in in_time(options.rules):
        if rule.classes is None:
            checks[rule] = _of_average(rule, averages, options)
            continue
        asked = rule.decide, rule.is_change
        if asked not in split:
            split[asked] = tuple(_in_classes(of, rule, options))
            gaps[asked] = ClassGaps(given, split[asked])
        parts = [each for each, name in zip(split[asked], given.names, strict=True) if _is_named(rule, name)]
        names = [name for name in given.names if _is_named(rule, name)]
        checks[rule], told = check_of_parts(rule, parts, {CLASS: names}, options, gaps[asked].interval)
        if options.wants_interval(rule) and not all(each.certain for each in parts):
            told.append(omitted([rule.named], _SPLIT))
        warnings += told
    warnings += [told for each in split.values() for told in warnings_of_each(each)]
    warnings += [told for each in gaps.values() for told in each.warnings]
    warnings += [*averages.warnings, *loose_rules(options.rules)]
    if baseline is not None:
        of_one = [each.rule for each in checks.values() if each.is_of_one]
        warnings += [CurvesWarning("no_baseline", no_baseline(rule)) for rule in of_one]
        if not options.paired and any(rule.is_change for rule in options.rules):
            warnings += [MAYBE_PAIRED] * _may_be_pairs(given, baseline)
    found, counts = tuple(checks[rule] for rule in options.rules), given.cluster_counts
    # Every row is a positive of its class, and a negative of another one.
    clusters = counts and replace(counts, with_positives=counts.count, with_negatives=counts.count)
    return Gate(options.paired, found, tuple(dict.fromkeys(warnings)), clusters)


def _may_be_pairs(given: ClassScores, baseline: ClassScores) -> bool:
    """Whether both look like the same rows."""
    if given.rows != baseline.rows or given.rows < FEWEST_PAIRS:
        return False
    return all(np.array_equal(*each) for each in zip(given.members, baseline.members, strict=True))


def _is_named(rule: Rule, name: str) -> bool:
    return rule.classes == ALL or name in (rule.classes or ())


def _of_average(rule: Rule, averages: AverageEstimates, options: GateOptions) -> Check:
    """Check a rule on an average."""
    value, baseline = averages.value(rule), averages.value(rule, 1)
    interval = averages.interval(rule, options.level(rule)) if options.wants_interval(rule) else None
    status, reason = verdict_of(rule, value, baseline, interval)
    p_value = averages.p_value(rule) if rule.is_change and interval is not None else None
    return Check(rule, status, value, interval, baseline, rule.difference(value, baseline), p_value, reason)


def _in_classes(of: ClassModels, rule: Rule, options: GateOptions) -> Sequence[SliceModels]:
    """Each class against the rest, in the model and, for a bound of the difference, in its baseline."""
    models = of.models if rule.is_change else of.models[:1]
    called = [_called(each) if rule.decide else None for each in models]
    certain = all(each is None or not (np.modf(each)[0] > 0).any() for each in called)
    found = []
    for number, name in enumerate(in_time(models[0].names)):
        parts = [_sample(each, number, by) for each, by in zip(models, called, strict=True)]
        reason = next((each.reason for each in parts if isinstance(each, Undefined)), None)
        if isinstance(parts[-1], Undefined) and not isinstance(parts[0], Undefined):
            reason = NOT_IN_BASELINE
        paired, both, estimates = of.paired and certain and len(parts) > 1, None, None
        samples = [each for each in parts if isinstance(each, Sample)]
        if len(samples) == len(parts):
            counted = with_common_clusters(samples, paired=paired)
            both = Models(tuple(EvaluatedModel.of(each, paired=paired) for each in counted), paired)
            estimates = Estimates(both, options.how)
        table = None if both is None else both.models[0].table
        totals = _totals(parts[0]) if table is None else (table.positives, table.negatives)
        rows = int(np.count_nonzero(models[0].members[number]))
        where = f" of class {shortened_text(' '.join(name.split()))}"
        found.append(SliceModels(where, rows, totals, both, estimates, reason, certain))
    return found


def _totals(part: Sample | Undefined) -> tuple[float, float]:
    """What the positives and the negatives weigh."""
    if isinstance(part, Undefined):
        return part.totals[0], part.totals[1]
    table = ConfusionTable.of(part)
    return table.positives, table.negatives


def _called(given: ClassScores) -> FloatArray:
    """How much of each row is called each class, (k, n): 1/e for each of e classes with the highest score."""
    best, ties = best_scores(given)
    return np.stack([(scores == best) / ties for scores in given.scores])


def _sample(given: ClassScores, number: int, called: FloatArray | None) -> Sample | Undefined:
    """A class against the rest, by its scores or by what is called it; a row that is split is two, by weight."""
    members, weights, clusters = given.members[number], given.weights, given.clusters
    if called is None:
        scores, lower = given.scores[number], given.lower_is_positive
        return sample_or_reason(scores, members, weights, lower_is_positive=lower, clusters=clusters)
    part = called[number]
    split = np.flatnonzero((part > 0) & (part < 1))
    if not split.size:
        return sample_or_reason(part, members, weights, lower_is_positive=False, clusters=clusters)
    rows = np.concatenate([np.arange(part.size), split])
    masses = np.ones(part.size) if weights is None else weights
    shares = np.concatenate([np.where(part > 0, part, 1.0), 1 - part[split]])
    scores = np.concatenate([np.ceil(part), np.zeros(split.size)])
    clusters = None if clusters is None else clusters.take(rows)
    return sample_or_reason(scores, members[rows], masses[rows] * shares, lower_is_positive=False, clusters=clusters)
