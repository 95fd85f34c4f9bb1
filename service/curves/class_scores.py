"""The scores and labels of several classes, row by row. Knows nothing of curves."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.curves.arrays import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ClassScores:
    """The scores and labels of n rows for k classes.

    names      (k,) distinct.
    scores     (n,) for each class; higher means more likely in the class, unless `lower_is_positive`.
    members    (n,) for each class, True for a row that belongs to it.
    weights    (n,), or None for 1 each.
    exclusive  whether each row belongs to exactly one class (multiclass), or to any number of them (multilabel).
    """

    names: tuple[str, ...]
    scores: Sequence[FloatArray]
    members: Sequence[BoolArray]
    weights: FloatArray | None = None
    lower_is_positive: bool = False
    exclusive: bool = True

    @property
    def rows(self) -> int:
        """How many rows there are, n."""
        return self.scores[0].size
