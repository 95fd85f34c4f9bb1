"""Lists of numbers that are lifted out of a body mean the same as within it: the fast way changes no value."""

import json
import random
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from service.wire.columns import Column, numbers
from service.wire.formats import json_columns, json_format
from service.wire.formats.json_columns import MOST_LISTS, PIECE, PLACEHOLDER, SHORTEST_LIFTED, lift_columns
from service.wire.formats.json_format import decode_json, parse_json
from service.wire.problems import Problem
from tests.support.asking import LIMITS, ask

LONG = "[" + ", ".join(["0.25"] * SHORTEST_LIFTED) + "]"

LONGEST = 10_000_000

TOKENS = (
    *'NaeE[]{}:,"\\ \n\t01-+.',
    *(
        "NaN",
        "Na",
        "aN",
        "Infinity",
        "-Infinity",
        "-Infini",
        "ty",
        "1e400",
        "-1e400",
        "1e-400",
        "true",
        "false",
        "null",
        "01",
        "1.",
        ".5",
    ),
    *("9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993.0", "18446744073709551616"),
    *("[1, 2]", "[]", "[ ]", "[[1]]", "[NaN]", '"NaN"', '"[1, 2]"', '"\\ud800"', "\\u005b", "\x01", "\u2028", "ü"),
    *('"scores"', '"labels": [0, 1]', '"scores": [1, 2]', "[1, null]", '["a"]', "[true]", "{}", "-0", "-0.0", "1e2"),
)
BASES = (
    '{"scores": [0.9, 0.6, 0.4, 0.1], "labels": [1, 0, 1, 0], "include": ["auc"]}',
    '{"scores": [9, -6, 4e0, 0], "labels": [1, -1, 1, -1], "weights": [1, 2.5, 0, 1], "thresholds": [5, 1]}',
    '{"counts": {"tp": [1, 2], "fp": [0, 3], "positives": 2, "negatives": 4, "threshold": [0.5, null]}}',
    '{"scores": [1, 2], "labels": ["[1, 2]", "NaN"], "positive_label": "NaN", "tuning": {"scores": [1]}}',
    '{"scores": [1, 2], "labels": ["[1, 2]", "-Infinity"], "positive_label": "-Infinity", "tuning": {"scores": [1]}}',
    '{"scores": [1, 2, 3], "labels": [2, 7, 2], "positive_label": 2, "interpolation": {"at_recall": [0, 0.5, 1]}}',
    '{"include": [1, 2], "keep": [1, 2], "lower_is_positive": [1, 2], "counts": [1, 2], "positive_label": [1, 2]}',
    '{"scores": [1, [2, 3], 4], "labels": [[0, 1], 1, "[0, 1]"], "thresholds": {"scores": [1, 2]}}',
    '[{"scores": [[1, 2], [3, 4]]}, [1, 2]]',
)


def mutated(text: str, dice: random.Random) -> bytes:
    """The text, with a few parts inserted, removed, repeated or moved."""
    for _ in range(dice.randrange(4)):
        at, to = sorted(dice.randrange(len(text) + 1) for _ in range(2))
        to = min(to, at + dice.choice((0, 1, 3, 10, 40)))
        text = text[:at] + dice.choice((dice.choice(TOKENS), text[at:to] * 2, "", text[to : to + 9])) + text[to:]
    body = text.encode()
    if dice.random() < 0.05:
        at = dice.randrange(len(body) + 1)
        body = body[:at] + dice.choice((b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x00")) + body[at:]
    return body


def told(read: Callable[[], Any]) -> tuple[str, Any]:
    """What was read, with numbers as the bits of doubles; or what was refused."""
    try:
        return "document", bits(read())
    except Problem as problem:
        return problem.type.code, (problem.detail, problem.errors)


def bits(value: Any) -> Any:
    if isinstance(value, Column):
        return [struct.pack("d", number) for number in value.to_list()]
    if isinstance(value, dict):
        return {key: bits(member) for key, member in value.items()}
    if isinstance(value, list):
        return [bits(member) for member in value]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return struct.pack("d", value) if is_number and abs(value) < 2**53 else value


@pytest.fixture(autouse=True, params=["simdjson", "orjson"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs with simdjson, and again as if it were missing."""
    if request.param == "orjson":
        monkeypatch.setattr(json_columns, "simdjson", None)
    elif json_columns.simdjson is None:
        pytest.skip("there is no simdjson for this Python")


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lift lists of any length, and parse them in short pieces."""
    monkeypatch.setattr(json_columns, "SHORTEST_LIFTED", 3)
    monkeypatch.setattr(json_columns, "PIECE", 2)


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], Any]:
    """Do something while no list is lifted."""

    def run(act: Callable[[], Any]) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(json_format, "lift_columns", lambda body, _longest: (body, []))
            return act()

    return run


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.all) for seed in range(1, 8))])
def test_any_text_reads_as_if_nothing_were_lifted(seed, slowly, runs_all):
    dice = random.Random(seed)
    lifted = outcomes = 0
    tries = 5000 if runs_all else 1000
    for _ in range(tries):
        body = mutated(dice.choice(BASES), dice)
        lifted += bool(lift_columns(body, LONGEST)[1])
        outcome = told(lambda body=body: decode_json(body, LIMITS))
        outcomes += outcome[0] == "document"
        assert outcome == slowly(lambda body=body: told(lambda: decode_json(body, LIMITS))), body
    assert lifted > 0.4 * tries
    assert 0.1 * tries < outcomes < 0.9 * tries


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("operation", ["curves", "tradeoffs", "comparisons", "gates"])
@pytest.mark.parametrize("body", BASES)
def test_a_list_in_the_wrong_place_is_reported_as_a_list(operation, body, slowly):
    assert bool(lift_columns(body.encode(), LONGEST)[1]) == (PLACEHOLDER not in body)
    assert ask(operation, body) == slowly(lambda: ask(operation, body))


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.all) for seed in range(1, 4))])
def test_any_request_is_answered_as_if_nothing_were_lifted(seed, slowly):
    dice = random.Random(1000 + seed)
    statuses = set()
    for _ in range(500):
        body = mutated(dice.choice(BASES), dice)
        result = ask("curves", body)
        assert result == slowly(lambda body=body: ask("curves", body)), body
        statuses.add(result.status)
    assert statuses == {200, 400, 422}


@pytest.mark.parametrize(
    "text",
    [
        '{"a": %s, "b": %s}',
        '{"a": %s, "b": "%s"}',
        '{"a": "%s", "b": [%s]}',
        '{"a": "\\"%s", "b": %s}',
        '{"a": "\\\\", "b": %s, "c": %s}',
        '{"NaN": %s, "b": %s}',
        '{"a": "NaN%s", "b": %s}',
        '{"a": "Na%s", "b": %s}',
        '{"%s": NaN, "b": %s}',
        '{"a": NaN, "b": "%s", "c": %s}',
        '{"a": Na%sN, "b": %s}',
        '{"a": N%s, "b": %saN}',
        '{"a": %s%s}',
        '{"a": %s "b": %s}',
        '{"a": %s, "a": %s}',
        '{"a": [[%s], {"c": %s}]}',
        "[%s, [%s]",
        "%s %s",
        "\ufeff[%s, %s]",
        '"%s, \x01 %s"',
        '[%s, 1e400, "%s"]',
        "[%s, -Infinity, %s]",
        "[%s, \ud800, %s]",
        '{"-Infinity": %s, "b": %s}',
        '{"a": "-Infinity%s", "b": %s}',
        '{"%s": -Infinity, "b": %s}',
        '{"a": -Infinity, "b": "%s", "c": %s}',
        '{"a": -Infinity, "b": %s, "c": %s}',
        '{"a": -Infin%sity, "b": %s}',
        '{"a": -%s, "b": 1e%s}',
        '{"a": 1%s, "b": %sInfinity}',
    ],
)
def test_a_long_list_is_read_where_it_is_a_value_only(text, slowly):
    body = (text % (LONG, LONG)).encode("utf-8", "surrogatepass")
    assert told(lambda: decode_json(body, LIMITS)) == slowly(lambda: told(lambda: decode_json(body, LIMITS)))


def test_long_lists_of_numbers_are_lifted():
    """The fast way is taken."""
    rest, lifted = lift_columns(f'{{"a": {LONG}, "b": ["x"], "c": {LONG}}}'.encode(), LONGEST)
    assert rest == f'{{"a": {PLACEHOLDER}, "b": ["x"], "c": {PLACEHOLDER}}}'.encode()
    assert [column.to_list() for column in lifted] == [json.loads(LONG)] * 2
    document = parse_json(rest.decode(), lifted)
    assert [document["a"], document["c"]] == lifted


def test_a_name_that_contains_a_constant_does_no_harm():
    rest, lifted = lift_columns(f'{{"name": "NaN-tolerant", "a": {LONG}}}'.encode(), LONGEST)
    assert rest == f'{{"name": "NaN-tolerant", "a": {PLACEHOLDER}}}'.encode()
    assert len(lifted) == 1


@pytest.mark.parametrize(
    "item",
    [
        *(
            "true",
            "null",
            '"1"',
            "{}",
            "[1]",
            "NaN",
            "1e400",
            "01",
            "1.",
            ".5",
            "+1",
            "-",
            "1 2",
            "1e",
            "0x1",
            "",
            "²",
            "١",
        )
    ],
)
def test_a_list_that_holds_anything_else_is_not_lifted(item):
    for text in (LONG.replace("]", f", {item}]"), LONG.replace("[", f"[{item}, ")):
        body = f'{{"a": {text}}}'.encode()
        assert lift_columns(body, LONGEST) == (body, [])


@pytest.mark.parametrize("separator", [",", ", "])
def test_single_digits_are_read_without_a_parser(separator, monkeypatch):
    monkeypatch.setattr(json_columns, "_numbers", lambda *_: pytest.fail("parsed"))
    digits = [number % 10 for number in range(SHORTEST_LIFTED)]
    _, lifted = lift_columns(f'{{"a": [{separator.join(map(str, digits))}]}}'.encode(), LONGEST)
    assert [column.to_list() for column in lifted] == [digits]


@pytest.mark.parametrize("separator", [b",", b", "])
def test_single_digits_and_what_looks_like_them_read_as_any_list(separator, monkeypatch):
    """At several places, each byte is inserted or replaces another, or one is missing."""
    text = separator.join([b"7", *[b"0", b"1"] * SHORTEST_LIFTED])
    middle = len(text) // 2
    places = [*range(4), *range(middle, middle + 3), *range(len(text) - 3, len(text) + 1)]
    bodies = [b"[%b]" % text]
    for place in places:
        for byte in map(bytes, zip(range(256), strict=False)):
            bodies += [b"[%b%b%b]" % (text[:place], byte, text[place + gone :]) for gone in (0, 1)]
        bodies.append(b"[%b]" % (text[:place] + text[place + 1 :]))
    fast = [told(lambda body=body: read(body)) for body in bodies]
    monkeypatch.setattr(json_columns, "_digits", lambda _: None)
    assert fast == [told(lambda body=body: read(body)) for body in bodies]


def read(body: bytes) -> tuple[bytes, list[list[float]]]:
    """The rest of a body, and what was lifted out of it."""
    rest, lifted = lift_columns(body, LONGEST)
    return rest, [column.to_list() for column in lifted]


@pytest.mark.parametrize("item", ["9007199254740992", "-9007199254740993", "1e300", "18446744073709551616"])
def test_a_list_that_may_hold_a_rounded_integer_is_not_lifted(item):
    body = f'{{"a": {LONG.replace("]", f", {item}]")}}}'.encode()
    assert lift_columns(body, LONGEST) == (body, [])


@pytest.mark.parametrize("item", ["null", "1e400", "01", "", "1 2", "[1]", '"', "9007199254740992"])
def test_a_list_is_lifted_whole_or_not_at_all(item):
    """Also if it is parsed in pieces; a list that is not lifted does not prevent others."""
    numbers_in_pieces = ",".join(map(str, range(PIECE // 3)))
    body = f'{{"a": [{numbers_in_pieces},{item},{numbers_in_pieces}], "b": [{numbers_in_pieces}]}}'.encode()
    rest, lifted = lift_columns(body, LONGEST)
    assert rest == body[: body.rindex(b"[")] + f"{PLACEHOLDER}}}".encode()
    assert [column.to_list() for column in lifted] == [list(range(PIECE // 3))]


def test_of_very_many_lists_some_stay():
    body = b"[" + b"[]," * MOST_LISTS + LONG.encode() + b"]"
    assert lift_columns(body, LONGEST) == (body, [])
    decode_json(body, LIMITS)


def spelled(dice: random.Random) -> str:
    """A decimal number: a double's shortest text, many digits, or exactly between two doubles."""
    double = struct.unpack("d", dice.randbytes(8))[0]
    double = double if abs(double) < 2**53 else dice.random()
    kind = dice.randrange(4)
    if kind == 0:
        return repr(double)
    if kind == 1:
        digits = "".join(dice.choices("0123456789", k=dice.randrange(1, 40)))
        return f"{dice.choice('123456789')}.{digits}{dice.choice('eE')}{dice.randrange(-345, 15)}"
    middle = (Fraction(double) + Fraction(float(np.nextafter(double, np.inf)))) / 2
    power = middle.denominator.bit_length() - 1
    digits = str(abs(middle.numerator) * 5**power).rjust(power + 1, "0")  # n / 2^k is n 5^k / 10^k
    text = f"{'-' * (middle < 0)}{digits[: len(digits) - power]}.{digits[len(digits) - power :] or '0'}"
    return text + ("1" if kind == 2 else "")


def test_numbers_are_the_nearest_doubles():
    dice = random.Random(5)
    texts = [spelled(dice) for _ in range(20_000)] + [
        "-0",
        "-0.0",
        "0e5",
        "5e-324",
        "2.4703282292062327e-324",
        "1e-999",
    ]
    _, (column,) = lift_columns(f"[{','.join(texts)}]".encode(), LONGEST)
    expected = np.array([float(text) for text in texts])
    rows = np.flatnonzero(column.cells.to_numpy().view(np.uint64) != expected.view(np.uint64))
    assert set(rows.tolist()) <= {texts.index("-0")}  # an integer: 0


def test_threads_do_not_disturb_each_other():
    bodies = [json.dumps({"a": [number] * 3000}).encode() for number in range(8)]
    wrong = []

    def read(number: int) -> None:
        for _ in range(50):
            values = numbers(decode_json(bodies[number], LIMITS)["a"], nullable=False)
            if values.size != 3000 or (values != number).any():
                wrong.append(number)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_list_as_long_as_allowed_is_lifted():
    values = [number / 4 for number in range(SHORTEST_LIFTED)]
    _, (lifted,) = lift_columns(json.dumps({"a": values}).encode(), len(values))
    assert lifted.to_list() == values
    with pytest.raises(Problem):
        lift_columns(json.dumps({"a": values}).encode(), len(values) - 1)


def test_without_simdjson_orjson_reads_the_lists():
    """There is no wheel for every Python."""
    find = (
        "from service.wire.formats.json_columns import lift_columns; print(lift_columns(sys.argv[1].encode(), 10**6))"
    )
    command = [sys.executable, "-c", f"import sys; sys.modules['simdjson'] = None; {find}", f'{{"a": {LONG}}}']
    printed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert PLACEHOLDER in printed
