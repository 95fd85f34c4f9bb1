"""The work of a gate, estimated from its rules before it is evaluated, in the rows of service/wire/budget.py.

Constants state their measurements, up to those of hostile requests; `python -m tests.tools.costs` repeats them. Knows
rules and evaluations, not how a rule is checked.
"""

from service.curves.confusion import Evaluation
from service.curves.indices import INDICES
from service.inference.gate import GateOptions
from service.inference.methods import SHARES, is_resampled
from service.inference.rules import AREAS, Metric
from service.wire.requests.resampling_work import resampling_work
from service.wire.requests.work import partial_work, table_work

_RULE = 80
"""A rule, checked and written: 20 µs in JSON, 40 µs in a report."""

_INTERVAL = 200
"""An interval without resamples: 60 to 100 µs."""

_METRIC_INTERVAL_ROW = 1 / 50
"""A row of the evaluations for such an interval: 5 to 10 ns."""

_PARTIAL_INTERVAL, _PARTIAL_INTERVAL_ROW = 500, 0.7
"""What an interval of a partial area takes in addition: 0.15 to 0.4 ms, plus 0.1 to 0.3 µs for each row."""

_PARTIAL_READINGS = 3
"""A partial area of a resample takes as long as this many values of its curve."""

_AT_THRESHOLD = 100
"""A metric of the row of a threshold: 10 to 50 µs."""

_ON_CURVE, _CURVE_ROW = 130, 1 / 30
"""A value of a curve at a place: 60 µs, plus 6 ns for each row of the curve."""

_INDEX, _INDEX_ROW = 1000, 1 / 20
"""The same for an index, which needs its envelope: 0.35 to 0.5 ms, plus 15 ns for each row."""

_SPLIT = 50_000
"""A difference, for paired examples, of a function of two proportions, with its p-value: 25 to 190 ms."""


def gates_work(evaluation: Evaluation, baseline: Evaluation | None, options: GateOptions) -> int:
    """Work of a verdict: both tables, each metric of both, its interval, and resamples."""
    tables = [evaluation] if baseline is None else [evaluation, baseline]
    rows = sum(table.rows for table in tables)
    work = sum(map(table_work, tables)) + len(options.rules) * _RULE
    work += sum(_metric_work(metric, tables) for metric in {rule.of for rule in options.rules})
    wanting = [rule for rule in options.rules if options.wants_interval(rule)]
    work += len(wanting) * (_INTERVAL + rows * _METRIC_INTERVAL_ROW)
    of_parts = sum(rule.part is not None for rule in wanting)
    work += of_parts * (_PARTIAL_INTERVAL + rows * _PARTIAL_INTERVAL_ROW)
    if options.paired:
        work += _splits(options) * _SPLIT
    return int(work + _resampling_work(tables, options))


def _metric_work(metric: Metric, tables: list[Evaluation]) -> float:
    """Work to read a metric off existing tables."""
    if metric.name in AREAS:
        return 0
    if metric.part is not None:
        return sum(partial_work(1, table.rows) for table in tables)
    if metric.at_threshold is not None:
        return _AT_THRESHOLD * len(tables)
    each, of_row = (_INDEX, _INDEX_ROW) if metric.name in INDICES else (_ON_CURVE, _CURVE_ROW)
    return sum(each + table.rows * of_row for table in tables)


def _splits(options: GateOptions) -> int:
    """The number of intervals of differences of functions of two proportions."""
    drops = [rule for rule in options.rules if rule.kind == "max_drop" and options.wants_interval(rule)]
    of_two = [rule for rule in drops if rule.at_threshold is not None and rule.metric not in SHARES]
    return len({(rule.of, options.level(rule)) for rule in of_two})


def _resampling_work(tables: list[Evaluation], options: GateOptions) -> float:
    """Work of the resamples: the evaluation's intervals need its own, differences those of both."""
    drawn = [rule for rule in options.rules if options.takes_resamples(rule)]
    work = 0.0
    for difference in (False, True):
        rules = [rule for rule in drawn if (rule.kind == "max_drop") == difference]
        metrics = {rule.of for rule in rules if is_resampled(rule.of, options.how.method, difference=difference)}
        if metrics:
            areas = sum(metric.name in AREAS for metric in metrics)
            parts = sum(metric.part is not None for metric in metrics)
            work += resampling_work(
                tables if difference else tables[:1],
                options.how,
                areas=areas,
                readings=len(metrics) - areas + parts * (_PARTIAL_READINGS - 1),
                intervals=len(rules),
            )
    return work
