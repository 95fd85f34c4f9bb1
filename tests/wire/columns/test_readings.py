"""Every column is read as it was recorded: as numbers, labels, slices and contents, and what is wrong with it."""

import json

import pytest

from tests.wire.columns.readings import FILE, readings

RECORDED = json.loads(FILE.read_text("ascii"))
FOUND = readings()


@pytest.mark.parametrize("name", RECORDED)
def test_a_column_is_read_as_it_was(name):
    assert json.loads(json.dumps(FOUND[name])) == RECORDED[name]


def test_all_are_recorded():
    assert FOUND.keys() == RECORDED.keys()
