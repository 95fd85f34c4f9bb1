"""Parts of an answer, as objects and as single tables; counts are integers if all counts of their column are whole."""

import json

import numpy as np
import pytest

from service.wire.answers.parts import ABSENT, AnswerTable, Cells, KeyedRows, StackedTable, json_document
from tests.support.asking import answered

NONE = np.nan
HUGE = 2.0**60


COUNTED = AnswerTable("counted", "Counts.", lambda found: found, columns=(Cells.count("tp", "Counts."),))


def written(cells):
    """The cells of a column of counts, as the answer holds it."""
    return COUNTED.one_table({"tp": np.array(cells, float)})["tp"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([], []),
        ([0.0, 3.0, 2.0**53], [0, 3, 2**53]),
        ([0.5, 3.0], [0.5, 3.0]),
        ([2.0**53, 2.0**53 + 2], [2.0**53, 2.0**53 + 2]),
        ([1.0, HUGE], [1.0, HUGE]),
        ([1.0, 1e300], [1.0, 1e300]),
        ([NONE, 3.0], [None, 3]),
        ([NONE], [None]),
        ([NONE, 0.5], [None, 0.5]),
        ([NONE, 1.0, HUGE], [None, 1.0, HUGE]),
        ([1e300, NONE], [1e300, None]),
    ],
)
def test_a_column_is_of_one_kind(cells, expected):
    found = np.array(written(cells), object).tolist()  # of plain numbers
    assert [None if cell is None or np.isnan(cell) else repr(cell) for cell in found] == [
        None if cell is None else repr(cell) for cell in expected
    ]


def test_huge_counts_next_to_a_point_that_no_row_has():
    points = [{"metric": "recall_at_precision", "at": at} for at in (1.0, 0.5)]
    counts = {"tp": [HUGE], "fp": [HUGE], "positives": HUGE, "negatives": 2 * HUGE}
    found = answered("curves", {"counts": counts, "operating_points": points})["operating_points"]
    assert found["tp"] == [None, HUGE]
    assert json.dumps(found["fp"]) == json.dumps([None, HUGE])


def test_rows_by_key():
    columns = (Cells.number("lower", "The lowest."), Cells.number("upper", "The highest.", sometimes=True))
    part = KeyedRows("bounds", "Bounds.", lambda found: found, columns=columns, key=Cells.text("area", "The area."))
    found = {"roc": {"lower": 0.5, "upper": 1.0}, "pr": None}
    assert json_document([part], found) == ({"bounds": found}, ())
    assert part.one_table(found) == {"area": ["roc", "pr"], "lower": [0.5, None], "upper": [1.0, None]}
    assert part.one_table({"roc": {"lower": 0.5}}) == {"area": ["roc"], "lower": [0.5]}
    assert part.one_table(None) == part.one_table(ABSENT) == {"area": (), "lower": ()}
    assert json_document([part], ABSENT) == ({}, ())
    assert json_document([part], None) == ({"bounds": None}, ())


def test_tables_by_key_are_stacked():
    part = StackedTable(
        "at", "Read.", lambda found: found, columns=(Cells.number("value", ""),), key=Cells.text("index", "The index.")
    )
    found = {"jaccard": {"value": np.array([0.1, 0.2])}, "none": None, "f_measure": {"value": np.array([0.3])}}
    table = part.one_table(found)
    assert table["index"] == ["jaccard", "jaccard", "f_measure"]
    assert table["value"].tolist() == [0.1, 0.2, 0.3]


def test_a_column_that_a_result_lacks_is_a_mistake():
    with pytest.raises(KeyError, match="tp"):
        COUNTED.one_table({"fp": np.zeros(1)})
