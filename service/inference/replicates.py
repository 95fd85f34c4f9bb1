"""Metrics of resamples of an evaluation, of a baseline, and of their difference; each resample is drawn once.

Knows subjects and the bootstrap, not which metric has which interval.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from service.curves.arrays import FloatArray
from service.inference.bootstrap import LeftOut, jackknife, replicates
from service.inference.intervals import Interval, IntervalOptions, replicate_interval
from service.inference.rules import Metric
from service.inference.strata import Strata
from service.inference.subject import Subject


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """A metric of resamples: the values, (B,), and for `bca` the jackknife values of each class."""

    values: FloatArray
    left_out: Sequence[LeftOut] | None

    def interval(self, estimate: float, level: float) -> Interval | None:
        """The interval around an estimate; None if undefined."""
        return replicate_interval(self.values, level, estimate, self.left_out)

    def less(self, other: "Replicates", *, paired: bool) -> "Replicates":
        """The differences from the other's values: of the same resamples, or of those of different examples."""
        left_out: Sequence[LeftOut] | None = None
        if self.left_out is not None and other.left_out is not None:
            if paired:
                both = zip(self.left_out, other.left_out, strict=True)
                left_out = [LeftOut(one.values - two.values, one.examples) for one, two in both]
            else:
                left_out = [*self.left_out, *(LeftOut(-each.values, each.examples) for each in other.left_out)]
        return Replicates(self.values - other.values, left_out)


def replicated(
    strata: Strata, subjects: Sequence[Subject], metrics: Iterable[Metric], options: IntervalOptions, stream: int = 0
) -> dict[Metric, list[Replicates]]:
    """Resample metrics of the one or two subjects that these strata describe."""
    names = {str(number): metric for number, metric in enumerate(metrics)}
    if not names:
        return {}
    statistics = {name: tuple(subject.statistic(metric) for subject in subjects) for name, metric in names.items()}
    values = replicates(strata, statistics, options.resamples, options.seed, stream)
    left_out = jackknife(strata, statistics, options.seed) if options.method == "bca" else None
    return {
        metric: [
            Replicates(each, None if left_out is None else left_out[name][place])
            for place, each in enumerate(values[name])
        ]
        for name, metric in names.items()
    }
