"""The ROC view of a table: tp/P and fp/N of each row. Knows the table only.

Source: Davis & Goadrich 2006, figure 2(b); Fawcett 2006.
"""

from service.curves.arrays import FloatArray
from service.curves.confusion import ConfusionTable


def tpr(table: ConfusionTable) -> FloatArray:
    """True positive rate tp/P, which is recall, per row, (n,): 2/3 where two of three positives are found."""
    return table.tp / table.positives


def fpr(table: ConfusionTable) -> FloatArray:
    """False positive rate fp/N, per row, (n,)."""
    return table.fp / table.negatives
