"""A classifier's scores with the true labels, row by row. Knows nothing of curves."""

from dataclasses import dataclass

from service.curves.errors import LengthsDiffer, OneClassLabels
from service.curves.exact import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Scores, labels and optional weights of n rows.

    scores   (n,) finite. Higher means more positive, unless `lower_is_positive`.
    labels   (n,) True for a positive.
    weights  (n,) finite, >= 0: importance weights; a row of weight 0 is the same as no row. None means 1 each.

    Raises LengthsDiffer, and OneClassLabels when no positive or no negative has a weight above 0.
    """

    scores: FloatArray
    labels: BoolArray
    weights: FloatArray | None = None
    lower_is_positive: bool = False

    def __post_init__(self) -> None:
        for name, column in (("labels", self.labels), ("weights", self.weights)):
            if column is not None and column.size != self.scores.size:
                raise LengthsDiffer(f"{name} has {column.size} rows, scores has {self.scores.size}.", name)
        present = self.labels if self.weights is None else self.labels[self.weights > 0]
        if present.all() or not present.any():
            which = "negative" if present.any() else "positive"
            raise OneClassLabels(f"There is no {which} row of positive weight; a curve needs both classes.", "labels")
