"""Bodies that are short when sent, or look valid, but would be expensive: refused before they cost anything."""

import json
import subprocess
import sys
from contextlib import ExitStack

import pytest

from service import answer as answering
from service.wire.columns import labels
from service.wire.formats import csv_format, json_format
from service.wire.formats.codings import compress
from service.wire.formats.csv_format import CsvTable
from service.wire.formats.json_columns import lift_columns
from service.wire.formats.json_format import MOST_PLACES, VALUES_PER_ROW, decode_json
from service.wire.formats.table_columns import unique_places
from service.wire.limits import Limits
from service.wire.problems import Problem
from service.wire.wrong import Wrong
from tests.support.asking import LIMITS, ask, refusals
from tests.support.raising import raised

FEW = Limits(max_rows=100, max_interpolated_rows=100)

ASK_WITHIN = """
import resource, sys
from service.answer import answer
from service.request import Request
from service.wire.limits import Limits
limits = Limits(5_000_000, 100_000)
media_type, body = sys.argv[1], sys.stdin.buffer.read()
first = b"scores,labels\\n1,1\\n0,0\\n" if media_type == "text/csv" else b'{"scores": [1, 0], "labels": [1, 0]}'
assert answer(Request("curves", "/", media_type, "application/json", (), first), limits).status == 200
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (int(sys.argv[2]) << 20),) * 2)
print(answer(Request("curves", "/", media_type, "application/json", (), body, "zstd"), limits).body.decode())
"""


def test_integers_that_hash_alike_are_told_apart():
    """Each has the same hash in Python, where a dictionary of them would take minutes."""
    column = [number * (2**61 - 1) for number in range(1, 50_000)]
    sample = {"scores": [1] * len(column), "labels": column}
    assert refusals("curves", sample) == [("/labels/0", "not_a_label")]
    found = labels(column, column[1])
    assert (found.positive.sum(), found.positive[1]) == (1, True)
    assert found.rest.endswith("and 49993 others in 49993.")


@pytest.mark.parametrize(
    ("column", "positive_label", "positive"),
    [
        (["b", "a", "b"], "a", [False, True, False]),
        (["a", "a"], "a", [True, True]),
        ([10**400, 1, 10**400], 1, [False, True, False]),
        ([1, 1.0, 2], 2, [False, False, True]),
        ([1, True, 0], 1, [True, True, False]),
        ([False, False], False, [True, True]),
        ([], 1, []),
        ([-1, 1.0, -1.0], None, [False, True, False]),
        ([0, -0.0], None, [False, False]),
        ([], None, []),
    ],
)
def test_two_values_are_read(column, positive_label, positive):
    assert labels(column, positive_label).positive.tolist() == positive


@pytest.mark.parametrize(
    ("column", "row"),
    [
        ([0, 1, -1], 2),
        ([1, 1, True], 2),
        ([0, 0, 2], 2),
    ],
)
def test_a_third_value_is_reported_with_its_row(column, row):
    assert raised(Wrong, labels, column, None).row == row


@pytest.mark.parametrize("unit", [b"[[]],", b"{},", b"[],", b'{"a":1},', b'"ab",', b"null,", b"true,"])
def test_values_are_counted_before_any_is_made(unit, monkeypatch):
    monkeypatch.setattr(json_format, "parse_json", lambda *_: pytest.fail("parsed"))
    most = VALUES_PER_ROW * FEW.max_rows + MOST_PLACES
    assert raised(Problem, decode_json, b'{"x":[' + unit * (most + 2) + b"1]}", FEW).type.code == "body_too_large"


def test_members_are_counted_before_any_is_made(monkeypatch):
    monkeypatch.setattr(json_format, "parse_json", lambda *_: pytest.fail("parsed"))
    members = ",".join(f'"{number}":1' for number in range(MOST_PLACES))
    with pytest.raises(Problem, match="lists, objects and members"):
        decode_json(f"{{{members}}}".encode(), FEW)


class Searched(bytes):
    """A body that records the last place up to which something was counted in it."""

    last = 0

    def count(self, mark, start=0, end=sys.maxsize):
        Searched.last = max(Searched.last, min(end, len(self)))
        return bytes.count(self, mark, start, end)


@pytest.mark.parametrize("unit", [b"[[]],", b"{},", b'{"a":1},'])
def test_no_more_is_searched_than_it_takes_to_refuse(unit, monkeypatch):
    monkeypatch.setattr(Searched, "last", 0)
    monkeypatch.setattr(json_format, "MOST_PLACES", 20)
    monkeypatch.setattr(json_format, "_SEARCHED_BYTES", 16)
    body = Searched(unit * 1000)
    with pytest.raises(Problem, match="lists, objects and members"):
        decode_json(body, Limits(0, 0))
    assert 0 < Searched.last <= 128


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
def test_what_stands_in_strings_counts_for_nothing(step, monkeypatch):
    monkeypatch.setattr(json_format, "_SEARCHED_BYTES", step)
    monkeypatch.setattr(json_format, "MOST_PLACES", 5)
    text = r'"\\\"[[[[[[{{{{:::: , , , , , ,\\"'
    assert decode_json(f'{{"x": [{text}, {text}]}}'.encode(), Limits(0, 0)) == {"x": [json.loads(text)] * 2}
    for over in ('{"x": [[[[[]]]]]}', '{"x": ["\\\\", 1, 1, 1, 1, "\\"", 1]}', '{"a": 1, "b": 1, "c": {}, "d": 1}'):
        assert raised(Problem, decode_json, over.encode(), Limits(0, 0)).type.code == "body_too_large"


def test_a_malformed_body_with_too_many_values_is_not_read_again(monkeypatch):
    monkeypatch.setattr(json_format, "MOST_PLACES", 10)
    column = ",".join(["1"] * 100)
    body = f'{{"a": [{column}], "b": [{column}] "c": 1}}'.encode()
    for limits, code in ((Limits(40, 100), "body_too_large"), (FEW, "malformed_body")):
        assert raised(Problem, decode_json, body, limits).type.code == code


def test_as_many_labels_as_rows_are_read_in_several_samples():
    rows = 1000
    samples = [
        {"name": str(k), "scores": [*range(rows)], "labels": ["no", "yes"] * (rows // 2), "positive_label": "yes"}
        for k in range(VALUES_PER_ROW)
    ]
    assert ask("comparisons", {"evaluations": samples}, limits=Limits(rows, 10)).status == 200


def test_a_list_is_counted_before_its_numbers_are_read():
    body = b"[" + b",".join([b"1"] * 101) + b"]"
    assert len(lift_columns(body, 101)[1]) == 1
    problem = raised(Problem, lift_columns, body, 100)
    assert (problem.type.code, problem.detail) == (
        "too_many_rows",
        "A list has 101 values; the limit is 100.",
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("row", ["1,1", '"1","1"', '"1\n\n",1', '"""\r\n","\n"', "1,"])
def test_rows_are_counted_before_any_is_made(row, end, monkeypatch):
    head = f"a,b{end}{end}"
    most = head + f"{row}{end}{end}" * 100
    for body in (most, most + end * 50, most.removesuffix(end * 2)):
        assert len(CsvTable(body.encode(), FEW).read(["a"])["a"].cells) == 100
    monkeypatch.setattr(csv_format.arrow_csv, "read_csv", lambda *_, **__: pytest.fail("read"))
    for body in (most + row, most + row + end):
        assert raised(Problem, CsvTable, body.encode(), FEW).type.code == "too_many_rows"


@pytest.mark.all
@pytest.mark.parametrize(
    ("media_type", "start", "unit", "end", "code"),
    [
        ("application/json", b'{"x":[', b"[[]],", b"1]}", "body_too_large"),
        ("application/json", b'{"x":[', b'"ab",', b"1]}", "body_too_large"),
        ("application/json", b'{"scores":[', b"1,", b'1],"labels":[1]}', "too_many_rows"),
        ("text/csv", b"scores,labels\n", b"1,1\n", b"", "too_many_rows"),
    ],
)
def test_a_small_body_that_becomes_large_takes_little_more_than_its_bytes(media_type, start, unit, end, code):
    size = 160 << 20
    body = compress("zstd", start + unit * (size // len(unit)) + end)
    assert len(body) < 100_000
    command = [sys.executable, "-c", ASK_WITHIN, media_type, str((3 * size >> 20) + 64)]
    done = subprocess.run(command, input=body, capture_output=True, check=True)
    problem = json.loads(done.stdout)
    assert problem["type"] == f"/problems/{code}"
    assert "memory" not in problem["detail"]


def test_a_lack_of_memory_is_a_problem(monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(answering, "_write_answer", fail)
    result = ask("curves", {"scores": [1], "labels": [1]}, limits=LIMITS)
    assert (result.status, json.loads(result.body)["type"]) == (413, "/problems/body_too_large")


@pytest.mark.parametrize("failure", [MemoryError(), Problem("malformed_body", "The body is not CSV.")])
def test_a_problem_has_memory_that_the_request_could_not_take(failure, monkeypatch):
    reserved = []

    def reserve(size):
        reserved.append(size)
        stack = ExitStack()
        stack.callback(reserved.clear)
        return stack

    def fail(*_, **__):
        assert reserved
        raise failure

    def written(*_):
        assert not reserved
        return b"{}"

    monkeypatch.setattr(answering, "reserve_memory", reserve)
    monkeypatch.setattr(answering, "_write_answer", fail)
    monkeypatch.setattr(answering, "problem_document", written)
    assert ask("curves", {"scores": [1], "labels": [1]}, limits=LIMITS).body == b"{}"


def test_a_lack_of_memory_while_a_table_is_read_stays_one(monkeypatch):
    def fail(*_, **__):
        raise csv_format.pa.ArrowMemoryError

    monkeypatch.setattr(csv_format.arrow_csv, "read_csv", fail)
    with pytest.raises(MemoryError):
        CsvTable(b"a\n1\n", LIMITS).read(["a"])


def test_memory_is_checked_before_a_reader_that_crashes_without_it(monkeypatch):
    def fail(size):
        assert size == 4 * len("scores,labels\n1,1\n")
        raise MemoryError

    monkeypatch.setattr(csv_format, "require_memory", fail)
    monkeypatch.setattr(csv_format.arrow_csv, "read_csv", None)
    result = ask("curves", "scores,labels\n1,1\n", content_type="text/csv", limits=LIMITS)
    assert (result.status, json.loads(result.body)["type"]) == (413, "/problems/body_too_large")


def test_articles():
    sample = {"scores": [1, {}], "labels": [1, None]}
    result = json.loads(ask("curves", sample).body)
    assert sorted(error["detail"] for error in result["errors"]) == [
        "This is an object; it must be a number.",
        "This is null; it must be a label. Leave out rows without one, or set missing=drop.",
    ]


class Compared(str):
    """A name that counts how often it is compared; its hash is that of every other name."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Compared.compared += 1
        return str.__eq__(self, other)


def test_all_columns_are_found_without_comparing_each_with_each(monkeypatch):
    monkeypatch.setattr(Compared, "compared", 0)
    header = [Compared(number) for number in range(2_000)]
    assert unique_places(header, [str(number) for number in range(2_000)]) == {str(n): n for n in range(2_000)}
    assert Compared.compared < 10 * len(header)


def test_a_name_that_is_twice_in_a_header_is_refused_only_if_it_is_read():
    header = ["a", "b", "a", "c", "b"]
    assert unique_places(header, ["c"]) == {"c": 3}
    problem = raised(Problem, unique_places, header, ["c", "b", "a"])
    assert [(error.pointer, error.code) for error in problem.errors] == [("/b", "duplicate")]
