"""How common positives are where a model will be used, if data were sampled class by class.

    positives   each counts π/P, so that together they are the share π
    negatives   each counts (1 - π)/N, so that together they are the rest

What is computed from recall and fpr alone stays as it is; precision becomes π tpr/(π tpr + (1 - π) fpr). Knows numbers
only. Source: Elkan 2001, "The foundations of cost-sensitive learning", theorem 2.
"""

from dataclasses import dataclass, replace
from typing import TypeVar

from service.curves.arrays import FloatArray

_Counts = TypeVar("_Counts", float, FloatArray)

FEWEST_STAND_INS = 30
"""Areas under the PR curve are known to be too high if the negatives stand for fewer positives than this."""

LEAST_PREVALENCE = 1e-9
"""How far from 0 and 1 the share of positives must be."""


@dataclass(frozen=True, slots=True)
class TargetPrevalence:
    """The share π of positives where a model is used, and the totals of the data that were sampled class by class.

    positives, negatives   P and N; None until a table of all rows is there. Slices have those of all rows, because
                           each row counts the same in every slice.
    """

    share: float
    positives: float | None = None
    negatives: float | None = None

    def of(self, positives: float, negatives: float) -> "TargetPrevalence":
        """The same for these totals, unless it has some."""
        return self if self.positives is not None else replace(self, positives=positives, negatives=negatives)

    def true(self, counts: _Counts) -> _Counts:
        """What numbers of positives are as shares of all examples, such as tp: π tp/P."""
        assert self.positives is not None  # noqa: S101  # that of a table has totals
        return counts / self.positives * self.share

    def false(self, counts: _Counts) -> _Counts:
        """What numbers of negatives are as shares of all examples, such as fp: (1 - π) fp/N."""
        assert self.negatives is not None  # noqa: S101  # that of a table has totals
        return counts / self.negatives * (1 - self.share)
