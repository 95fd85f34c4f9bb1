"""A classifier's scores with the true labels, row by row.

A sample checks that its columns are equally long, that both classes weigh something, and that neither weighs too much
or too little to multiply. Knows nothing of curves.
"""

import math
from dataclasses import dataclass

import numpy as np

from service.curves.arrays import BoolArray, FloatArray
from service.curves.clusters import ClusterCounts, Clusters
from service.curves.errors import LengthsDiffer, OneClassLabels, TotalOutOfRange, plain
from service.curves.target_prevalence import TargetPrevalence

SMALLEST_TOTAL = 1e-150
LARGEST_TOTAL = 1e150
"""P and N lie in this range, so that products of two counts neither overflow nor underflow."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Scores, labels and optional weights of n rows.

    scores   (n,) without NaN; may be infinite, as only their order counts. Higher means more positive, unless
             `lower_is_positive`.
    labels   (n,) True for a positive.
    weights  (n,) finite, >= 0: importance weights; a row of weight 0 counts as absent. None means 1 each.
    is_soft  whether a row is a share of an example, so that the number of examples of each class is unknown.
    rest     if the negatives have several labels, or a doubtful one, a sentence that names them; else None.
    clusters  which rows belong together, for intervals; None if all are independent.
    target    how common positives are where the model is used; None if as common as here.

    Raises LengthsDiffer, OneClassLabels when no positive or no negative has a weight above 0, and TotalOutOfRange when
    those of one class weigh too little or too much.
    """

    scores: FloatArray
    labels: BoolArray
    weights: FloatArray | None = None
    lower_is_positive: bool = False
    rest: str | None = None
    is_soft: bool = False
    clusters: Clusters | None = None
    target: TargetPrevalence | None = None

    @classmethod
    def soft(
        cls,
        scores: FloatArray,
        shares: FloatArray,
        weights: FloatArray | None = None,
        *,
        lower_is_positive: bool = False,
    ) -> "Sample":
        """Make a sample of soft labels, (n,) in [0, 1]: each row is a positive of weight y and a negative of 1 - y.

        Each is multiplied by the row's weight, if any: a label of 0.25 and a weight of 2 are a positive of weight 0.5
        and a negative of 1.5. Raises as a sample does; errors in labels name `soft_labels`.
        """
        for name, column in (("soft_labels", shares), ("weights", weights)):
            if column is not None and column.size != scores.size:
                raise LengthsDiffer.of(name, column.size, "scores", scores.size)
        masses = np.concatenate((shares, 1 - shares))
        if weights is not None:
            masses *= np.tile(weights, 2)
        try:
            return cls(
                np.tile(scores, 2), np.arange(masses.size) < shares.size, masses, lower_is_positive, is_soft=True
            )
        except (OneClassLabels, TotalOutOfRange) as error:
            if weights is None or error.column == "labels":
                error.column = "soft_labels"
            raise

    @property
    def rows(self) -> int:
        """How many rows there are, n."""
        return self.scores.size

    @property
    def positives(self) -> float:
        """The total weight of the positives, P up to rounding; the table has the exact total."""
        return float(self.labels.sum() if self.weights is None else self.weights @ self.labels)

    @property
    def cluster_counts(self) -> ClusterCounts | None:
        """How many clusters there are; None if all rows are independent."""
        return None if self.clusters is None else ClusterCounts.of(self.clusters, self.labels, self.weights)

    def __post_init__(self) -> None:
        clusters = None if self.clusters is None else self.clusters.numbers
        for name, column in (("labels", self.labels), ("weights", self.weights), ("clusters", clusters)):
            if column is not None and column.size != self.scores.size:
                raise LengthsDiffer.of(name, column.size, "scores", self.scores.size)
        if self.weights is None:
            positives = np.count_nonzero(self.labels)
            for only, total in (("negative", positives), ("positive", self.rows - positives)):
                if total == 0:
                    detail = f"All {self.labels.size} labels are {only}; a curve needs both classes."
                    raise OneClassLabels(detail, "labels")
        else:
            with np.errstate(over="ignore"):
                check_weights(float(self.weights @ self.labels), float(self.weights @ ~self.labels))


def check_weights(positives: float, negatives: float) -> None:
    """Raise OneClassLabels or TotalOutOfRange if the weights of a class add up to no usable total."""
    if positives == negatives == 0:
        raise OneClassLabels("All weights are 0; a curve needs rows of both classes with a weight above 0.", "weights")
    for only, total in (("negative", positives), ("positive", negatives)):
        if total == 0:
            raise OneClassLabels(f"All labels with a weight above 0 are {only}; a curve needs both classes.", "labels")
        check_total("weights", total)


def check_total(column: str, total: float) -> None:
    """Raise TotalOutOfRange, naming `column`, if a class's total is outside 1e-150..1e150."""
    if math.isinf(total):
        detail = (
            "The total of one class is beyond the range of a double; scale all weights, or all counts, "
            f"so that it is {SMALLEST_TOTAL} to {LARGEST_TOTAL}."
        )
        raise TotalOutOfRange(detail, column)
    if not SMALLEST_TOTAL <= total <= LARGEST_TOTAL:
        raise TotalOutOfRange(
            f"The total of one class is {plain(total)}, outside {SMALLEST_TOTAL} to {LARGEST_TOTAL}.", column
        )
