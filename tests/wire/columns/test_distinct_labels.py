"""Distinct labels with their counts are read like a column of all rows."""

import numpy as np
import pytest

from service.wire.columns import distinct_labels, labels
from service.wire.wrong import Wrong


@pytest.mark.parametrize(
    ("values", "counts"), [([3, 5, 4], [2, 3, 1]), ([7, 8], [2, 1]), ([0.5], [4]), ([1, 0, -1], [1, 2, 5])]
)
def test_labels_that_need_a_positive_label_are_refused_with_the_sentence_of_a_column(values, counts):
    with pytest.raises(Wrong) as of_rows:
        labels(np.repeat(values, counts).tolist(), None)
    with pytest.raises(Wrong) as of_values:
        distinct_labels(values, np.array(counts), None)
    assert (of_values.value.code, of_values.value.detail) == (of_rows.value.code, of_rows.value.detail)
    assert of_values.value.row is None


def test_values_of_which_there_is_no_column_are_no_labels():
    with pytest.raises(Wrong, match=r"^Labels must be integers, floats, decimals, booleans or text\.$"):
        distinct_labels([object(), object()], np.array([1, 1]), None)
