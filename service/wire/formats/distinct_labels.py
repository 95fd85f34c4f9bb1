"""Distinct labels and how many rows have each, as an engine counts them."""

from typing import Any

import numpy as np
import pyarrow as pa

from service.curves.exact import IntArray
from service.wire.columns import ColumnError, Labels, chosen_labels, label_misfit, labels, tally
from service.wire.formats.arrow_columns import ArrowColumn, is_readable
from service.wire.formats.query_options import label_like


def distinct_labels(values: list[Any], counts: IntArray, positive_label: str | None) -> Labels:
    """Read distinct labels like a body's column of labels; `counts` are the rows of each.

    Raises ColumnError with the same sentence as for a body, but without a row.
    """
    try:
        cells = pa.chunked_array([pa.array(values)])
    except (pa.ArrowException, TypeError):
        raise ColumnError("not_a_label", "Labels must be integers, floats, decimals, booleans or text.") from None
    counted = tally(values, counts)
    column = ArrowColumn(cells if is_readable(cells.type) else None, str(cells.type))
    named = None if positive_label is None else label_like(positive_label, values)
    nobody = np.zeros(len(values), dtype=np.bool_)
    try:
        positive = labels(column, positive_label).positive
    except ColumnError as error:
        if error.code == "one_class":
            chosen_labels(nobody, named, counted)
        if is_readable(cells.type) and positive_label is None:
            raise label_misfit(None, counted) from None
        raise
    if positive_label is None:
        return Labels(positive)
    return chosen_labels(positive, named, counted, int(counts[positive].sum()))
