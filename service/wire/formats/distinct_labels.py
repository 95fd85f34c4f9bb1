"""Distinct labels and how many rows have each, as an engine counts them."""

from typing import Any

import numpy as np
import pyarrow as pa

from service.curves.arrays import IntArray
from service.wire.columns import Labels, chosen_labels, label_misfit, labels, tally
from service.wire.formats.arrow_columns import ArrowColumn, is_readable, is_text
from service.wire.spellings import unquoted
from service.wire.wrong import Wrong


def distinct_labels(values: list[Any], counts: IntArray, positive_label: str | None) -> Labels:
    """Read distinct labels like a body's column of labels; `counts` are the rows of each.

    Raises Wrong with the same sentence as for a body, but without a row.
    """
    try:
        cells = pa.chunked_array([pa.array(values)])
    except (pa.ArrowException, TypeError):
        raise Wrong("not_a_label", "Labels must be integers, floats, decimals, booleans or text.") from None
    column = ArrowColumn(cells if is_readable(cells.type) else None, str(cells.type))
    try:
        read = labels(column, positive_label)
    except Wrong as error:
        if error.code == "one_class":
            named = positive_label if is_text(cells.type) else unquoted(positive_label)
            chosen_labels(np.zeros(len(values), np.bool_), named, tally(values, counts))
        if is_readable(cells.type) and positive_label is None and error.row is not None:
            raise label_misfit(None, tally(values, counts)) from None
        raise
    positive = read.positive
    if read.rest is None:
        return read
    named = values[int(positive.argmax())]
    others = [value for value, is_named in zip(values, positive.tolist(), strict=True) if not is_named]
    rows = int(counts[positive].sum())
    counted = tally([named, *others], np.array([rows, *counts[~positive]]))
    return chosen_labels(positive, named, counted, rows)
