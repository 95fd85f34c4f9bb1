"""Strict JSON: what the standard forbids, including what a lenient parser would accept."""

import numpy as np
import pytest

from service.wire.columns import labels, numbers
from service.wire.formats.json_format import decode_json
from service.wire.problems import Problem
from service.wire.wrong import Wrong
from tests.support.asking import LIMITS
from tests.support.raising import raised


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b'{"a": 1,}',
        b"{'a': 1}",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": -Infinity}',
        b'{"a": 01}',
        b'{"a": +1}',
        b'{"a": .5}',
        b'{"a": 1} x',
        b'{"a": "\x01"}',
        b'{"a": 1, "a": 1}',
        b'{"counts": {"tp": [1], "tp": [1]}}',
        b'\xef\xbb\xbf{"a": 1}',
        b'{"a": "\xff"}',
        b'{"a": 1' + b"0" * 5000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"a": 1e400}',
        b'{"scores": [1, -1e400]}',
        b'{"tuning": {"scores": [1e999]}}',
    ],
)
def test_refuses_what_is_not_strict_json(body):
    problem = raised(Problem, decode_json, body, LIMITS)
    assert problem.type.code == "malformed_body"
    assert problem.type.status == 400


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"a": 1', "It ends too early, at character 7."),
        (b"{'a': 1}", "Character 1 is a single quote; JSON has double quotes, which Python's json.dumps writes."),
        (b'{"a": [True]}', "At character 7, True is Python; JSON has true, which json.dumps writes."),
        (b'{"a": None}', "At character 6, None is Python; JSON has null, which json.dumps writes."),
        (b'{"a": 1}\n{"a": 2}', "At character 9 a second document begins (JSON Lines?); send one object of columns."),
        (b'{"a": 1} x', "At character 9: Extra data."),
        (b'{"a": "b', "At character 6: Unterminated string."),
        (b'{"a": "\n"}', "At character 7: Invalid control character."),
        (b'{"a": 1e400}', "A number is beyond the range of a double."),
    ],
)
def test_says_what_is_wrong_with_it(body, told):
    assert raised(Problem, decode_json, body, LIMITS).detail.endswith(told)


@pytest.mark.parametrize("body", [b'{"a": [1, ]}', b'{"a": 1,}', b'{"a": 1,\n  }'])
def test_says_that_a_list_or_object_ends_after_a_comma(body):
    with pytest.raises(
        Problem, match=r"At character \d+ a list or object ends with a comma, which JSON does not allow\."
    ):
        decode_json(body, LIMITS)


def test_points_to_a_number_beyond_a_double():
    problem = raised(Problem, decode_json, b'{"tuning": {"a/b": [0, 1e400]}}', LIMITS)
    assert [error.pointer for error in problem.errors] == ["/tuning/a~1b/1"]


def test_names_the_key_that_is_given_twice():
    with pytest.raises(Problem, match="'labels' is given twice"):
        decode_json(b'{"scores": [], "labels": [], "labels": []}', LIMITS)


def test_many_keys_are_refused_in_time_that_grows_with_their_number():
    keys = ",".join(f'"k{number}":0' for number in range(200_000))
    with pytest.raises(Problem, match="'k0' is given twice"):
        decode_json(f'{{{keys},"k0":0}}'.encode(), LIMITS)


@pytest.mark.parametrize(
    ("column", "code", "row"),
    [
        ([0.5, True], "not_a_number", 1),
        ([0.5, "1"], "not_a_number", 1),
        ([None, 0.5], "not_a_number", 0),
        ([0.5, [1]], "not_a_number", 1),
        ([0.5, {}], "not_a_number", 1),
        ([1, 2**53 + 1], "not_exact", 1),
        ([1, -(2**53) - 1], "not_exact", 1),
        ([1, 2, 10**400], "not_exact", 2),
        ([10**22 + 1], "not_exact", 0),
    ],
)
def test_a_column_of_numbers_takes_numbers_only(column, code, row):
    error = raised(Wrong, numbers, column, nullable=False)
    assert (error.code, error.row) == (code, row)


def test_a_column_of_numbers_is_not_rounded():
    column = [0, -0.0, 1, 0.1, 5e-324, 2**53, 2**60, 10**22, 1.7976931348623157e308]
    np.testing.assert_array_equal(numbers(column, nullable=False), np.array([float(value) for value in column]))


def test_null_is_nan_where_a_column_may_hold_it():
    np.testing.assert_array_equal(numbers([None, 1, 0.5], nullable=True), [np.nan, 1, 0.5])


def test_a_scalar_is_not_a_column():
    for column in (1, "1", {}, None, True):
        assert raised(Wrong, numbers, column, nullable=False).code == "not_a_column"
        assert raised(Wrong, labels, column, None).code == "not_a_column"


@pytest.mark.parametrize(
    ("column", "positive_label"),
    [
        ([1, 0, 1], None),
        ([1.0, 0, 1], None),
        ([True, False, True], None),
        ([1, -1, 1], None),
        (["yes", "no", "yes"], "yes"),
        ([2, 7, 2.0], 2),
        ([0, 1, 0], 0),
        ([False, True, False], False),
        ([1, False, True], 1),
        (["1", 0, 1.0], "1"),
        ([1, 0, 1], True),
        ([1, 0, 1], "1"),
        ([True, False, True], 1),
        ([True, False, True], "TRUE"),
        (["True", "FALSE", " 1"], True),
        (["2", 3, 2.0], 2),
    ],
)
def test_labels(column, positive_label):
    np.testing.assert_array_equal(labels(column, positive_label).positive, [True, False, True])


@pytest.mark.parametrize(
    ("column", "positive_label", "told"),
    [
        ([1, 2, 1], True, "No label equals positive_label, true; the labels are 1 and 2."),
        ([1, 0, 1], 2, "No label equals positive_label, 2; the labels are 1 and 0."),
        ([True, False, True], 2, "No label equals positive_label, 2; the labels are true and false."),
        (["yes", "0", "maybe"], True, "No label equals positive_label, true; the labels are 'yes', '0' and 'maybe'."),
        (["a"], "b", "No label equals positive_label, 'b'; the labels are 'a'."),
        ([*"abbcdefg"], "h", "No label equals positive_label, 'h'; the labels are 'b', 'a', 'c', 'd', 'e' and 2 more."),
    ],
)
def test_a_positive_label_that_does_not_occur(column, positive_label, told):
    error = raised(Wrong, labels, column, positive_label)
    assert (error.code, error.row, error.detail) == ("one_class", None, told)


@pytest.mark.parametrize(
    ("column", "positive_label", "row"),
    [
        ([1, 0, 2], None, 2),
        ([0, 1, -1], None, 2),
        ([True, 0], None, 1),
        (["0", "1"], None, 0),
        ([0.5, 1], None, 0),
        ([1, None], None, 1),
        ([1, [0]], None, 1),
        ([1, {}], "a", 1),
    ],
)
def test_refuses_labels_that_are_not_binary(column, positive_label, row):
    error = raised(Wrong, labels, column, positive_label)
    assert (error.code, error.row) == ("not_a_label", row)


@pytest.mark.parametrize(
    ("third", "told"),
    [
        ("c", "'c'"),
        ("c" * 24, f"'{'c' * 24}'"),
        ("c" * 25, f"'{'c' * 24}'..."),
        ("\ud800", r"'\ud800'"),
        (True, "true"),
        (2.5, "2.5"),
        (2.0, "2"),
        (-1.7976931348623157e308, "-1.7976931348623157e+308"),
        (10**30, "1" + "0" * 23 + "..."),
    ],
)
def test_a_third_label_is_repeated(third, told):
    found = labels(["a", "b", third, "b"], "a")
    assert found.positive.tolist() == [True, False, False, False]
    rest = f"'a', in 1 row, is positive; all other labels are negative: 'b' in 2 and {told} in 1."
    assert found.rest == rest
