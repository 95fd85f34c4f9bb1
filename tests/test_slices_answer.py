"""`slices` from bytes to bytes: the same in all formats, and the same as curves of each slice."""

from __future__ import annotations

import json
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from service.answer import answer
from service.datasets.file import Dataset
from service.extras import _is_installed
from service.request import Request
from service.wire.formats.inputs import COLUMN_PARAMETERS
from service.wire.media_types import ARROW_FILE, ARROW_STREAM, CSV, JSON, PARQUET, SVG
from service.wire.requests import slice_columns
from tests.properties.bodies import arrow_body, arrow_file_body, chunked, parquet_body
from tests.support.asking import LIMITS, answered, ask, errors, read_csv, refusals

RANDOM = np.random.default_rng(3)
ROWS = 120
COUNTRY = [["DE", "FR", "a,b", None][number] for number in RANDOM.integers(0, 4, ROWS)]
MODEL = [int(number) - 1 for number in RANDOM.integers(0, 3, ROWS)]
LABELS = [bool(row % 3 == 0) if COUNTRY[row] != "a,b" else True for row in range(ROWS)]
SCORES = [round(float(RANDOM.normal()) + label, 2) for label in LABELS]
BODY = {"scores": SCORES, "labels": LABELS, "slices": {"country": COUNTRY, "model": MODEL}}
POINTS = [{"metric": "recall_at_precision", "at": 0.8}, {"metric": "f_measure", "at": 0.5}]
KEYS = [(country, model) for country in ("DE", "FR", "a,b", None) for model in (-1, 0, 1)]
INTERVALS = {"level": 0.9}


@pytest.mark.parametrize("value", [2.0**63, 1e308, -1e300])
def test_a_number_that_is_not_a_64_bit_integer_is_refused(value: float) -> None:
    body = {"scores": [1, 2], "labels": [0, 1], "slices": {"a": [1, value]}}
    assert refusals("slices", body) == [("/slices/a/1", "not_exact")]


def rows_of(key: tuple[Any, Any], body: dict[str, Any] = BODY) -> dict[str, Any]:
    """The rows of one slice, as a body for curves."""
    rows = [row for row in range(ROWS) if (COUNTRY[row], MODEL[row]) == key]
    columns = {name: [body[name][row] for row in rows] for name in ("scores", "labels", "weights") if name in body}
    return columns | {"include": ["auc"], "operating_points": POINTS, "intervals": INTERVALS}


@pytest.mark.parametrize("weights", [None, [1.0, 0.5, 3.0] * 40])
def test_every_slice_is_what_curves_say_of_it(weights: list[float] | None) -> None:
    body = BODY if weights is None else BODY | {"weights": weights}
    whole = answered("slices", body | {"operating_points": POINTS, "intervals": INTERVALS})
    table, points = whole["slices"], whole["operating_points"]
    assert list(zip(table["country"], table["model"], strict=True)) == KEYS
    for number, key in enumerate(KEYS):
        alone = rows_of(key, body)
        assert table["rows"][number] == len(alone["scores"])
        place = slice(2 * number, 2 * number + 2)
        assert points["country"][place] == [key[0]] * 2
        if table["reason"][number]:
            assert (key[0], table["reason"][number], table["roc"][number]) == ("a,b", "one_class", None)
            assert points["value"][place] == [None, None]
            continue
        single = answered("curves", alone)
        assert (table["positives"][number], table["negatives"][number]) == (single["positives"], single["negatives"])
        for name in ("roc", "roc_hull", "pr", "pr_achievable", "average_precision"):
            assert table[name][number] == single["auc"][name]
        for name, interval in single["intervals"].items():
            ends = (interval or {}).get("lower"), (interval or {}).get("upper")
            assert (table[f"{name}_lower"][number], table[f"{name}_upper"][number]) == ends
        for name in ("metric", "at", "value", "threshold", "tp", "fp"):
            assert points[name][place] == single["operating_points"][name]


def test_overall_is_what_curves_say_of_all_rows() -> None:
    options = {"operating_points": POINTS, "intervals": INTERVALS}
    expected = answered("curves", {"scores": SCORES, "labels": LABELS, "include": ["auc"]} | options)
    overall = answered("slices", BODY | options)["overall"]
    del expected["warnings"]
    assert overall == expected


def arrow_table(**columns: pa.Array) -> pa.Table:
    typed = {"scores": SCORES, "labels": LABELS, "country": COUNTRY, "model": pa.array(MODEL, pa.int8())}
    return pa.table(typed | columns)


def written(media_type: str, table: pa.Table) -> bytes:
    write = {ARROW_STREAM: arrow_body, ARROW_FILE: arrow_file_body, PARQUET: parquet_body}[media_type]
    return write(chunked(table, 50))


@pytest.mark.parametrize("media_type", [ARROW_STREAM, ARROW_FILE, PARQUET])
@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
def test_typed_tables_say_the_same(media_type: str, kind: str) -> None:
    column = pa.array(COUNTRY, pa.string())
    types = {"string_view": pa.string_view(), "large_string": pa.large_string()}
    column = column.dictionary_encode() if kind == "dictionary" else column.cast(types.get(kind, pa.string()))
    body = written(media_type, arrow_table(country=column))
    assert answered("slices", body, content_type=media_type, slices='["country", "model"]') == answered("slices", BODY)


def test_nulls_within_a_dictionary_are_not_values() -> None:
    entries = ["FR", None, "DE", "a,b", "FR"]
    indices = [entries.index(country) if country != "FR" or row % 2 else 4 for row, country in enumerate(COUNTRY)]
    column = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(entries))
    body = written(ARROW_STREAM, arrow_table(country=column))
    found = answered("slices", body, content_type=ARROW_STREAM, slices="country,model")
    assert found == answered("slices", BODY)


def csv_body() -> str:
    cells = (["" if country is None else f'"{country}"' for country in COUNTRY], MODEL, SCORES, map(int, LABELS))
    return "country,model,scores,labels\n" + "".join(f"{a},{b},{c},{d}\n" for a, b, c, d in zip(*cells, strict=True))


def test_csv_has_text() -> None:
    found = answered("slices", csv_body(), content_type=CSV, slices="country, model")
    texts = BODY | {"slices": {"country": COUNTRY, "model": [str(number) for number in MODEL]}}
    assert found == answered("slices", texts)


@pytest.mark.parametrize("table", ["slices", "overall", "operating_points"])
def test_tables_of_one_table(table: str) -> None:
    body = BODY | {"operating_points": POINTS, "intervals": INTERVALS}
    whole = answered("slices", body)
    expected = whole.get(table)
    if table == "overall":
        expected = {name: [whole["overall"][name]] for name in ("positives", "negatives")}
        expected |= {name: [area] for name, area in whole["overall"]["auc"].items()}
    assert read_csv(ask("slices", body, accept=CSV, table=table).body.decode()) == expected
    result = ask("slices", body, accept=ARROW_STREAM, table=table)
    arrow = pa.ipc.open_stream(result.body).read_all()
    assert arrow.to_pydict() == expected
    if table == "slices":
        kinds = {"country": "string", "model": "int64", "rows": "int64", "roc": "double", "reason": "string"}
        assert {name: str(arrow.schema.field(name).type) for name in kinds} == kinds
    assert [each["code"] for each in json.loads(result.headers["Rocpr-Warnings"])] == [
        each["code"] for each in whole["warnings"]
    ]


def test_no_slice_is_called_as_a_column_of_the_answer() -> None:
    whole = answered("slices", BODY | {"operating_points": POINTS, "intervals": INTERVALS})
    own = [set(whole[table]) - set(BODY["slices"]) for table in ("slices", "operating_points")]
    for name in sorted(set().union(*own)):
        assert refusals("slices", BODY | {"slices": {name: COUNTRY}}) == [(f"/slices/{name}", "duplicate")]


def test_slices_may_be_called_as_columns_of_other_tables() -> None:
    names = {"name": [1, 2], "method": [True, None], "index": ["a", "b"], "curve": [None, None]}
    body = {"scores": [1, 2] * 2, "labels": [1, 0, 0, 1], "slices": {key: [*two, *two] for key, two in names.items()}}
    arrow = pa.ipc.open_stream(ask("slices", body, accept=ARROW_STREAM).body).read_all()
    assert {name: arrow[name].to_pylist() for name in names} == {
        "name": [1, 2],
        "method": [True, None],
        "index": ["a", "b"],
        "curve": [None, None],
    }
    assert answered("slices", body)["slices"]["method"] == [True, None]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (["b", "a", "", None], ["", "a", "b", None]),
        (["é", "z", "\N{GRINNING FACE}", "Z"], ["Z", "z", "é", "\N{GRINNING FACE}"]),
        ([True, None, False, True], [False, True, None]),
        ([10, 9, -1, 9.0], [-1, 9, 10]),
        ([None] * 4, [None]),
        ([2**53, -(2**53), 0, 1], [-(2**53), 0, 1, 2**53]),
        ([2**62, -(2**63), 1e18, -0.0], [-(2**63), 0, 10**18, 2**62]),
    ],
)
def test_values_are_in_order(column: list[Any], expected: list[Any]) -> None:
    body = {"scores": [1, 2, 3, 4], "labels": [1, 0, 1, 0], "slices": {"a": column}}
    found = answered("slices", body)["slices"]
    assert found["a"] == expected
    assert [type(value) for value in found["a"]] == [type(value) for value in expected]
    assert sum(found["rows"]) == 4


def test_integers_that_no_double_holds_define_slices() -> None:
    identifiers = [2**63 - 1, 2**53 + 1, None, 2**53, -(2**63)]
    body = {"scores": [1, 2, 3, 4, 5], "labels": [1, 0, 1, 0, 1], "slices": {"a": identifiers}}
    assert answered("slices", body)["slices"]["a"] == [-(2**63), 2**53, 2**53 + 1, 2**63 - 1, None]


def test_integers_of_any_size_in_arrow() -> None:
    table = pa.table({"scores": [1.0, 2.0, 3.0], "labels": [1, 0, 1], "a": pa.array([2**63 - 1, None, -(2**63)])})
    body = written(ARROW_STREAM, table)
    assert answered("slices", body, content_type=ARROW_STREAM, slices="a")["slices"]["a"] == [-(2**63), 2**63 - 1, None]
    body = written(ARROW_STREAM, table.set_column(2, "a", pa.array([1, 2**63 - 1, 0], pa.uint64())))
    assert answered("slices", body, content_type=ARROW_STREAM, slices="a")["slices"]["a"] == [0, 1, 2**63 - 1]
    body = written(ARROW_STREAM, table.set_column(2, "a", pa.array([1, 2**63, 0], pa.uint64())))
    assert refusals("slices", body, content_type=ARROW_STREAM, slices="a") == [("/a/1", "not_exact")]


SMALL = {"scores": [0.9, 0.2, 0.4], "labels": [1, 0, 1]}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, [("/slices", "missing")]),
        ({"slices": {}}, [("/slices", "wrong_length")]),
        ({"slices": ["country"]}, [("/slices", "not_an_object")]),
        ({"slices": {str(number): [1, 1, 1] for number in range(11)}}, [("/slices", "wrong_length")]),
        ({"slices": {"a": [1, 2.5, 1]}}, [("/slices/a/1", "not_a_slice")]),
        ({"slices": {"a": [1, "b", 1]}}, [("/slices/a/1", "not_a_slice")]),
        ({"slices": {"a": [None, True, 1]}}, [("/slices/a/2", "not_a_slice")]),
        ({"slices": {"a": [[1], 1, 1]}}, [("/slices/a/0", "not_a_slice")]),
        ({"slices": {"a": ["x", "\ud800", "y"]}}, [("/slices/a/1", "not_a_slice")]),
        ({"slices": {"a": "country"}}, [("/slices/a", "not_a_column")]),
        ({"slices": {"a": [2**53 + 1, 1.0, 1]}}, [("/slices/a/0", "not_exact")]),
        ({"slices": {"a": [-(2**63), 2**63, 1]}}, [("/slices/a/1", "not_exact")]),
        ({"slices": {"a": [1, None, -1e30]}}, [("/slices/a/2", "not_exact")]),
        ({"slices": {"a": [1, 1]}}, [("/slices", "lengths_differ")]),
        ({"slices": {"a": [1, 1, 1], "b": [1]}}, [("/slices/b", "lengths_differ")]),
        ({"slices": {"roc": [1, 1, 1]}}, [("/slices/roc", "duplicate")]),
        ({"slices": {"a\ud800": [1, 1, 1]}}, [("/slices/a?", "not_text")]),
        ({"slices": {"a": [1, 1, 1]}, "intervals": {"method": "bootstrap"}}, [("/intervals/method", "not_one_of")]),
        ({"slices": {"a": [1, 1, 1]}, "intervals": {"seed": 1}}, [("/intervals/seed", "unknown_field")]),
        ({"slices": {"a": [1, 1, 1]}, "counts": {"tp": [1], "fp": [1]}}, [("/counts", "unknown_field")]),
        ({"slices": {"a": [1, 1, 1]}, "labels": [1, 1, 1]}, [("/labels", "one_class")]),
        ({"slices": {"a": [1, 1, 1]}, "operating_points": POINTS * 11}, [("/operating_points", "wrong_length")]),
        ({"slices": {"a": [1, 1, 1]}, "side": 200}, [("/side", "exclusive")]),
    ],
)
def test_errors_are_reported(more: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert refusals("slices", SMALL | more) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, [("/slices", "missing")]),
        ({"slices": "land"}, [("/slices", "missing")]),
        ({"slices": "country,country"}, [("/slices", "duplicate")]),
        ({"slices": "scores"}, []),
        ({"slices": "country", "labels": "y"}, [("/labels", "missing")]),
        ({"slices": "country", "table": "operating_points"}, [("/table", "exclusive")]),
        ({"slices": "country", "positives": "3"}, [("/positives", "exclusive")]),
    ],
)
def test_a_wrong_query_is_reported(query: dict[str, str], expected: list[tuple[str, str]]) -> None:
    if expected:
        assert refusals("slices", csv_body(), content_type=CSV, **query) == expected
    else:
        assert answered("slices", csv_body(), content_type=CSV, **query)["slices"]["scores"] == sorted(
            {str(score) for score in SCORES}
        )


def test_names_of_columns_are_refused_with_json() -> None:
    assert "slices" in COLUMN_PARAMETERS
    assert refusals("slices", BODY, slices="country") == [("/slices", "exclusive")]


@pytest.mark.parametrize("kind", [pa.time64("us"), pa.duration("s"), pa.list_(pa.int64())])
def test_columns_of_other_types_tell_no_slices_apart(kind: pa.DataType) -> None:
    table = pa.table({"scores": [1.0, 2.0], "labels": [1, 0], "a": pa.nulls(2, kind)})
    for media_type in (ARROW_STREAM, PARQUET) if kind != pa.duration("s") else (ARROW_STREAM,):
        (error,) = errors("slices", written(media_type, table), content_type=media_type, slices="a")
        assert (error["pointer"], error["code"]) == ("/a", "not_a_slice")
        assert error["detail"].endswith("; slices are text, integers, booleans, dates or timestamps.")


def test_the_number_of_slices_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slice_columns, "MOST_SLICES", 12)
    assert len(answered("slices", BODY)["slices"]["rows"]) == 12
    monkeypatch.setattr(slice_columns, "MOST_SLICES", 11)
    assert refusals("slices", BODY) == [("/slices", "too_many_slices")]


def test_combinations_that_are_too_many_to_count_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = answered("slices", BODY)
    monkeypatch.setattr(slice_columns, "_DENSE", 2)
    assert answered("slices", BODY) == expected


def test_the_order_of_rows_does_not_matter() -> None:
    order = np.random.default_rng(5).permutation(ROWS).tolist()
    shuffled = {name: [BODY[name][row] for row in order] for name in ("scores", "labels")}
    columns = {name: [column[row] for row in order] for name, column in BODY["slices"].items()}
    whole = ask("slices", BODY | {"operating_points": POINTS}).body
    assert ask("slices", shuffled | {"slices": columns, "operating_points": POINTS}).body == whole


@pytest.mark.parametrize("scale", [1.0, 1e-120])
def test_totals_of_one_class_are_the_nearest_doubles_in_any_order(scale: float) -> None:
    """A sum rounded at each step would be units off, and different in other orders."""
    weights = [scale * weight for weight in np.random.default_rng(6).random(300).tolist()]
    for given in (weights, weights[::-1]):
        columns = {"scores": SCORES[:1] * 303, "weights": [*given, scale, scale, scale]}
        labels = [*[1] * 300, 0, 1, 0]
        found = answered("slices", columns | {"labels": labels, "slices": {"a": [*[1] * 300, 2, 2, 3]}})["slices"]
        assert (found["positives"][0], found["negatives"][0]) == (fsum(weights), 0)
        assert (found["positives"][2], found["negatives"][2]) == (0, scale)
        assert found["reason"] == ["one_class", None, "one_class"]


def test_too_few_examples_are_warned_of_once() -> None:
    body = SMALL | {"slices": {"a": [1, 1, 1]}, "intervals": {}}
    found = answered("slices", body)
    assert [warning["code"] for warning in found["warnings"]] == ["too_few_examples"]
    assert found["slices"]["roc_lower"] == [None]


def test_the_picture_has_a_dot_for_each_slice_and_a_line() -> None:
    svg = ask("slices", BODY | {"intervals": {}}, accept=SVG).body.decode()
    whole = answered("slices", BODY)
    defined = [area for area in whole["slices"]["roc"] if area is not None]
    assert f"All rows together, {whole['overall']['auc']['roc']:.4f}" in svg
    assert f"{len(defined)} slices, a dot each" in svg
    assert f"Their areas go from {min(defined):.4f} to {max(defined):.4f}" in svg
    # In both planes, and with a rim in both legends; the five worst also have another there and in the legend.
    assert svg.count("h0") == 2 * (len(defined) + 2 + 5 * 4)


def test_the_picture_names_the_worst_slices_of_each_area() -> None:
    svg = ask("slices", BODY, accept=SVG).body.decode()
    table = answered("slices", BODY)["slices"]
    for area in ("roc", "pr"):
        values = {number: value for number, value in enumerate(table[area]) if value is not None}
        for number in sorted(values, key=lambda each: values[each])[:5]:
            country, model = table["country"][number], table["model"][number]
            name = f"country {'(missing)' if country is None else country}, model {model} {values[number]:.4f}"
            assert f">{name}</text>" in svg


@pytest.mark.parametrize(("side", "has_room"), [("320", True), ("160", False)])
def test_the_worst_slices_have_letters_if_there_is_room(side: str, has_room: bool) -> None:  # noqa: FBT001  # a case's
    svg = ask("slices", BODY, accept=SVG, side=side).body.decode()
    assert [f">{letter}</text>" in svg for letter in "aef"] == [has_room, has_room, False]


def test_ranks_have_no_ticks() -> None:
    svg = ask("slices", BODY, accept=SVG).body.decode()
    assert (svg.count(">0.2</text>"), svg.count("Slices, worst first")) == (2, 2)


def test_the_picture_of_many_slices_is_short() -> None:
    random = np.random.default_rng(1)
    rows = 10_000
    labels = (random.random(rows) < 0.5).astype(int)
    slices = {"a": (np.arange(rows) // 4).tolist()}
    body = {"scores": random.normal(size=rows).tolist(), "labels": labels.tolist(), "slices": slices}
    svg = ask("slices", body | {"intervals": {}}, accept=SVG).body
    assert len(svg) < 60_000
    assert "The ends of their intervals" not in svg.decode() or svg.decode().count("<polyline") < 100


def test_charts_come_along() -> None:
    charts = answered("slices", BODY | {"charts": ["roc"], "side": 200})["charts"]
    assert list(charts) == ["roc"]
    assert "ROC area" in charts["roc"]


DECISIONS = [{"at_threshold": 0.5}, {"at_share": 0.25}, {"best": "mcc"}]
METRICS = ["precision", "recall", "specificity", "mcc", "lift"]
DECIDED = BODY | {"decisions": DECISIONS, "metrics": METRICS}
TWELVE = {
    "scores": [0.95, 0.9, 0.8, 0.7, 0.7, 0.6, 0.55, 0.4, 0.35, 0.3, 0.2, 0.1],
    "labels": [1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0],
}


@pytest.mark.parametrize("lower", [False, True])
def test_worked_decisions(*, lower: bool) -> None:
    """Twelve rows in fours, at 0.5. From the rows, by plain Python."""
    scores = [1 - score if lower else score for score in TWELVE["scores"]]
    body = {
        "scores": scores,
        "labels": TWELVE["labels"],
        "lower_is_positive": lower,
        "decisions": [{"at_threshold": 0.5}],
    }
    found = answered("slices", body | {"slices": {"of": [*"AAAABBBBCCCC"]}})["decisions"]
    assert [*found][:7] == ["of", "decision", "threshold", "tp", "fp", "fn", "tn"]
    assert {name: found[name] for name in ("of", "tp", "fp", "fn", "tn", "precision", "recall", "specificity")} == {
        "of": ["A", "B", "C"],
        "tp": [3, 1, 0],
        "fp": [1, 2, 0],
        "fn": [0, 0, 1],
        "tn": [0, 1, 3],
        "precision": [3 / 4, 1 / 3, None],
        "recall": [1, 1, 0],
        "specificity": [0, 1 / 3, 1],
    }


@pytest.mark.parametrize("weights", [None, [1.0, 0.5, 3.0] * 40])
def test_a_decision_in_a_slice_is_its_threshold_in_curves_of_it(weights: list[float] | None) -> None:
    body = DECIDED | {"intervals": INTERVALS} | ({} if weights is None else {"weights": weights})
    whole = answered("slices", body)
    table, thresholds = whole["decisions"], whole["overall"]["decisions"]["threshold"]
    for number, key in enumerate(KEYS):
        place = slice(3 * number, 3 * number + 3)
        assert table["threshold"][place] == thresholds
        assert table["country"][place] == [key[0]] * 3
        if key[0] == "a,b":  # its labels are all positive
            alone = rows_of(key, body)
            tp = [
                sum(w for s, w in zip(alone["scores"], alone.get("weights", [1] * 99), strict=False) if s >= t)
                for t in thresholds
            ]
            assert table["tp"][place] == pytest.approx(tp)
            assert table["specificity"][place] == table["mcc"][place] == table["recall_lower"][place] == [None] * 3
            assert table["precision"][place] == [1.0 if count else None for count in tp]
            continue
        fixed = [{"at_threshold": threshold} for threshold in thresholds]
        single = answered("curves", rows_of(key, body) | {"decisions": fixed, "metrics": METRICS})["decisions"]
        for name, column in single.items():
            if name != "decision":
                best = [None] if name.endswith(("_lower", "_upper")) else column[2:]
                assert table[name][place] == column[:2] + best, name


def test_decisions_on_all_rows_are_those_of_curves() -> None:
    options = {"decisions": DECISIONS, "metrics": METRICS, "intervals": INTERVALS}
    whole = answered("slices", BODY | options)
    expected = answered("curves", {"scores": SCORES, "labels": LABELS, "include": ["auc"]} | options)
    assert whole["overall"]["decisions"] == expected["decisions"]
    told = [each["detail"] for each in whole["warnings"] if "best mcc" in each["detail"]]
    assert told == ["The interval is null for best mcc: chosen on the same data; fix the threshold with at_threshold."]


def test_tables_of_decisions() -> None:
    body = DECIDED | {"intervals": INTERVALS}
    whole = answered("slices", body)["decisions"]
    assert read_csv(ask("slices", body, accept=CSV, table="decisions").body.decode()) == whole
    arrow = pa.ipc.open_stream(ask("slices", body, accept=ARROW_STREAM, table="decisions").body).read_all()
    assert arrow.to_pydict() == whole
    assert [str(arrow.schema.field(name).type) for name in ("country", "tp", "mcc_lower")] == [
        "string",
        "int64",
        "double",
    ]
    found = answered("slices", csv_body(), content_type=CSV, slices="country", decisions="0.5", metrics="recall")
    assert (
        found["decisions"]["recall"]
        == answered(
            "slices", {"scores": SCORES, "labels": LABELS, "slices": {"country": COUNTRY}, "decisions": DECISIONS[:1]}
        )["decisions"]["recall"]
    )


def test_groups_have_the_decisions_of_their_rows() -> None:
    rows = sorted({(country or "", score) for country, score in zip(COUNTRY, SCORES, strict=True)})
    count = {(*row, label): 0 for row in rows for label in (False, True)}
    for country, score, label in zip(COUNTRY, SCORES, LABELS, strict=True):
        count[country or "", score, label] += 1
    groups = {"score": [score for _, score in rows]}
    groups |= {"positives": [count[(*row, True)] for row in rows], "negatives": [count[(*row, False)] for row in rows]}
    options = {"decisions": DECISIONS, "intervals": INTERVALS}
    slices = {"country": [country or None for country, _ in rows]}
    found = answered("slices", {"groups": groups, "slices": slices} | options)
    expected = answered("slices", {"scores": SCORES, "labels": LABELS, "slices": {"country": COUNTRY}} | options)
    assert found["decisions"] == expected["decisions"]
    assert found["overall"]["decisions"] == expected["overall"]["decisions"]


def test_without_decisions_a_slice_may_be_called_like_their_columns() -> None:
    names = ("decision", "accuracy", "f1_lower", "tn")
    assert answered("slices", BODY | {"slices": dict.fromkeys(names, COUNTRY)})["slices"]["accuracy"]
    refused = refusals("slices", DECIDED | {"slices": dict.fromkeys((*names, "free"), COUNTRY)})
    assert refused == [(f"/slices/{name}", "duplicate") for name in sorted(names)]
    (found,) = refusals("slices", csv_body().replace("model", "f1"), content_type=CSV, slices="f1", decisions="0.5")
    assert found == ("/f1", "duplicate")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"metrics": ["f1"]}, [("/decisions", "missing")]),
        ({"decisions": [{}]}, [("/decisions/0", "missing")]),
        ({"decisions": [{"at_threshold": 0}] * 21}, [("/decisions", "wrong_length")]),
        ({"decisions": [{"at_share": 2}]}, [("/decisions/0/at_share", "out_of_range")]),
        ({"decisions": DECISIONS, "metrics": ["auc"]}, [("/metrics/0", "not_one_of")]),
        ({"tuning": {"scores": [1, 2], "labels": [0, 1]}}, [("/tuning", "unknown_field")]),
    ],
)
def test_decisions_that_are_refused(more: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert refusals("slices", BODY | more) == expected


def test_the_metrics_of_all_slices_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 12 * len(DECISIONS) * len(METRICS)
    monkeypatch.setattr("service.wire.answers.repeated_names.MOST_METRICS", count)
    assert ask("slices", DECIDED).status == 200
    refused = ask("slices", DECIDED | {"intervals": {}})
    assert (refused.status, refused.problem) == (413, "answer_too_large")
    assert ask("slices", DECIDED | {"intervals": {}}, accept=CSV, table="slices").status == 200


def test_a_picture_needs_no_decisions() -> None:
    assert ask("slices", DECIDED, accept=SVG).body == ask("slices", BODY, accept=SVG).body


def test_a_dataset_has_the_decisions_of_its_rows(tmp_path: Path) -> None:
    if not _is_installed("duckdb"):
        pytest.skip("needs duckdb")
    (tmp_path / "rows.csv").write_text(csv_body())
    location = (str(tmp_path / "*.csv"),)
    dataset = Dataset(
        "rows", "duckdb", "scores", "labels", ("ann",), location=location, slices=("country",), positive_label="1"
    )
    options = {"decisions": DECISIONS, "metrics": METRICS, "intervals": INTERVALS}
    body = json.dumps({"dataset": "rows", "slices": {"country": []}} | options).encode()
    given = answer(Request("slices", "/v1/slices", JSON, JSON, (), body, datasets={"rows": dataset}), LIMITS)
    assert given.status == 200, given.body
    expected = answered("slices", {"scores": SCORES, "labels": LABELS, "slices": {"country": COUNTRY}} | options)
    assert json.loads(given.body)["decisions"] == expected["decisions"]
