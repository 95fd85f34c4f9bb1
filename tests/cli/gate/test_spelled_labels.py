"""A gate has one verdict, whichever way its labels are spelled, in every format, and whether or not one is named.

The positives rank first and third of four: roc is 0.75, and each spelling that is overlooked would change it.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.cli.gate.gating import rocpr, written
from tests.properties.bodies import arrow_body, arrow_file_body, parquet_body
from tests.support.asking import ask

SCORES = [0.9, 0.7, 0.5, 0.3]
TRUTHS: list[list[Any]] = [
    ["True", "FALSE", "TRUE", "false"],
    ["1", "0", "1.0", "0.0"],
    [" 1", "0", "1", "0 "],
    ["true", "0", "1", "False"],
    ["+1", "0", "1e0", ".0"],
    [True, False, True, False],
    [1, 0, 1, 0],
    [1.0, 0.0, 1.0, 0.0],
]
NAMES_OF_TRUE: list[Any] = ["True", "TRUE", "true", "1", "1.0", " 1", True, 1, 1.0]
NUMBERS: list[list[Any]] = [["2", "3", "2.0", "3"], [2, 3, 2, 3], [2.0, 3.0, 2.0, 3.0], [" 2", "3", "+2", "3.00"]]
NAMES_OF_TWO: list[Any] = ["2", "2.0", " 2", 2, 2.0]
WIDE = 2**53
OTHERS: list[tuple[list[Any], list[Any]]] = [
    ([-1, 1, -1, 1], [-1, "-1", "-1.0"]),
    (["-1", "1", "-1.0", "1"], [-1, "-1", "-1.0"]),
    ([str(WIDE + 1), str(WIDE), str(WIDE + 1), str(WIDE)], [WIDE + 1, str(WIDE + 1)]),
    (["yes", "no", "yes", "Yes"], ["yes"]),
]
NAMED = [
    *((cells, name) for cells in TRUTHS for name in [None, *NAMES_OF_TRUE]),
    *((cells, name) for cells in NUMBERS for name in NAMES_OF_TWO),
    *((cells, name) for cells, names in OTHERS for name in names),
]
RULE = {"metric": "roc", "min": 0.8}


def csv_text(cells: Sequence[object]) -> str:
    return "scores,labels\n" + "".join(f"{row[0]},{row[1]}\n" for row in zip(SCORES, cells, strict=True))


def table(cells: Sequence[object]) -> pa.Table:
    return pa.table({"scores": SCORES, "labels": pa.array(cells)})


def encoded(cells: Sequence[object]) -> pa.Table:
    return pa.table({"scores": SCORES, "labels": pa.array(cells).dictionary_encode()})


BODIES: dict[str, tuple[str, Callable[[Sequence[object]], str | bytes]]] = {
    "csv": ("text/csv", csv_text),
    "stream": ("application/vnd.apache.arrow.stream", lambda cells: arrow_body(table(cells))),
    "file": ("application/vnd.apache.arrow.file", lambda cells: arrow_file_body(encoded(cells))),
    "parquet": ("application/vnd.apache.parquet", lambda cells: parquet_body(table(cells))),
}


def sampled(first: int, *cases: Any) -> Any:
    """Test parameters; the first command tries only one in every few."""
    return [pytest.param(*case, marks=[pytest.mark.all] * (number % first > 0)) for number, case in enumerate(cases)]


def query_text(name: object) -> str:
    return name if isinstance(name, str) else json.dumps(name)


@pytest.mark.parametrize(
    ("cells", "name", "form"), sampled(3, *((*named, form) for form in BODIES for named in NAMED)), ids=repr
)
def test_labels_in_a_table_are_judged_however_they_are_spelled(cells: list[Any], name: object, form: str) -> None:
    media_type, body = BODIES[form]
    options = {"rules": json.dumps([RULE])} | ({} if name is None else {"positive_label": query_text(name)})
    judged(ask("gates", body(cells), media_type, **options))


@pytest.mark.parametrize(
    ("cells", "name", "rows"), sampled(3, *((*named, rows) for rows in (1, 50) for named in NAMED)), ids=repr
)
def test_labels_in_json_are_judged_however_they_are_spelled(cells: list[Any], name: object, rows: int) -> None:
    document = {"scores": SCORES * rows, "labels": cells * rows, "rules": [RULE]}
    if name is None:
        answer = ask("gates", document)
        if isinstance(cells[0], str):  # strings are labels only if one of them is named
            assert answer.status == 422
            assert "labels[0]" in json.loads(answer.body)["detail"]
        else:
            judged(answer)
        return
    judged(ask("gates", document | {"positive_label": name}))
    judged(ask("gates", document, positive_label=query_text(name)))


def judged(answer: Any) -> None:
    assert answer.status == 200, answer.body
    document = json.loads(answer.body)
    assert (document["passed"], document["checks"][0]["value"]) == (False, 0.75)


FORMS = ["csv", "arrow", "parquet", "json"]


def files(folder: Path, cells: list[Any]) -> dict[str, Path]:
    paths = {form: folder / f"rows.{form}" for form in FORMS}
    paths["csv"].write_text(csv_text(cells))
    paths["arrow"].write_bytes(arrow_file_body(table(cells)))
    paths["parquet"].write_bytes(parquet_body(table(cells)))
    paths["json"].write_text(json.dumps({"scores": SCORES, "labels": cells}))
    return paths


@pytest.mark.parametrize(
    ("form", "cells", "engine"),
    [
        *sampled(3, *((form, cells, ()) for cells in TRUTHS for form in FORMS)),
        *sampled(13, *((form, cells, ("--engine", "duckdb")) for cells in TRUTHS for form in FORMS[:3])),
    ],
    ids=repr,
)
def test_a_file_and_its_rules(tmp_path: Path, form: str, cells: list[Any], engine: tuple[str, ...]) -> None:
    path = files(tmp_path, cells)[form]
    for label in ("true", "1", "1.0", '"TRUE"', '" 1"'):
        rules = written(tmp_path, f'positive_label = {label}\n[[rules]]\nmetric = "roc"\nmin = 0.8\n')
        run = rocpr(rules, path, "--json", *engine)
        assert run.exit_code == 1, run.stderr
        assert json.loads(run.stdout)["checks"][0]["value"] == 0.75
    rules = written(tmp_path, '[[rules]]\nmetric = "roc"\nmin = 0.8\n')
    for label in ("True", "1", "1.0") if form != "json" else ():
        assert rocpr(rules, path, "--positive-label", label, *engine).exit_code == 1


@pytest.mark.parametrize("cells", sampled(3, *((cells,) for cells in TRUTHS)), ids=repr)
def test_a_baseline_with_its_own_spelling(tmp_path: Path, cells: list[Any]) -> None:
    new = files(tmp_path, ["1", "0", "1", "0"])["csv"].rename(tmp_path / "new.csv")
    rules = written(tmp_path, 'positive_label = "True"\n[[rules]]\nmetric = "roc"\nmax_drop = 0\n')
    for path in files(tmp_path, cells).values():
        run = rocpr(rules, new, "--baseline", path, "--json")
        assert run.exit_code == 0, run.stderr
        assert json.loads(run.stdout)["checks"][0]["baseline"] == 0.75


@pytest.mark.parametrize(
    ("cells", "rest"),
    [
        (["yes", " no", " yes", "no "], None),
        (["2", "3", " 2.0", "4"], "'2', in 2 rows, is positive; all other labels are negative: '3' in 1 and '4' in 1."),
    ],
)
def test_blanks_around_cells_of_csv_are_dropped(tmp_path: Path, cells: list[str], rest: str | None) -> None:
    path = written(tmp_path, csv_text(cells), "rows.csv")
    rules = written(tmp_path, '[[rules]]\nmetric = "roc"\nmin = 0.8\n')
    for engine in ((), ("--engine", "duckdb")):
        run = rocpr(rules, path, "--positive-label", f"{cells[0]} ", "--json", *engine)
        document = json.loads(run.stdout)
        assert (run.exit_code, document["checks"][0]["value"]) == (1, 0.75)
        assert [told["detail"] for told in document["warnings"]] == ([rest] if rest else [])


@pytest.mark.parametrize("cells", [["2", "3", "2", "3"], [2, 3, 2, 3], ["yes", "no", "yes", "no"], [True, False] * 2])
def test_a_label_that_no_cell_means_is_refused(cells: list[Any]) -> None:
    for media_type, body in BODIES.values():
        for name in ("maybe", "7"):
            answer = ask("gates", body(cells), media_type, rules=json.dumps([RULE]), positive_label=name)
            assert answer.status == 422
            assert "No label equals positive_label" in json.loads(answer.body)["detail"]


UNCLEAR: list[tuple[list[Any], list[Any]]] = [
    (["True", "NA", "TRUE", "FALSE"], ["True", "TRUE", "1"]),
    (["1", "x", "1.0", "0"], ["1", "1.0"]),
    (["2", "x", " 2.0", "3"], ["2"]),
    (["1", "2", "True", "1"], ["1"]),
]


@pytest.mark.parametrize("form", BODIES)
@pytest.mark.parametrize(("cells", "name"), [(cells, name) for cells, names in UNCLEAR for name in names], ids=repr)
def test_one_other_cell_makes_no_positive_negative(form: str, cells: list[Any], name: str) -> None:
    """Compared as text, a cell that means the label would be negative, and the gate could pass."""
    media_type, body = BODIES[form]
    answer = ask("gates", body(cells), media_type, rules=json.dumps([RULE]), positive_label=name)
    assert answer.status == 422
    assert (
        f"this column is compared as text: write them alike, or leave out the rows with {cells[1]!r}."
        in (json.loads(answer.body)["detail"])
    )
    document = {"scores": SCORES, "labels": cells, "rules": [RULE], "positive_label": name}
    (error,) = json.loads(ask("gates", document).body)["errors"]
    assert (error["code"], error["pointer"]) == (
        "not_a_label",
        f"/labels/{next(row for row, cell in enumerate(cells) if cell != name and row != 1)}",
    )


@pytest.mark.parametrize("form", BODIES)
@pytest.mark.parametrize("other", ["Yes", "YES"])
def test_words_that_differ_in_case_are_pointed_out(form: str, other: str) -> None:
    media_type, body = BODIES[form]
    cells = ["yes", "no", "yes", other]
    answer = ask("gates", body(cells), media_type, rules=json.dumps([RULE]), positive_label="yes")
    document = {"scores": SCORES, "labels": cells, "rules": [RULE], "positive_label": "yes"}
    for each in (answer, ask("gates", document)):
        (warning,) = [told for told in json.loads(each.body)["warnings"] if told["code"] == "one_vs_rest"]
        assert f"{other!r} and 'yes' differ only in case: if they mean the same, write them alike." in warning["detail"]


@pytest.mark.parametrize("form", BODIES)
def test_two_words_that_differ_in_case_are_pointed_out(form: str) -> None:
    media_type, body = BODIES[form]
    cells = ["yes", "YES", "yes", "YES"]
    answer = ask("gates", body(cells), media_type, rules=json.dumps([RULE]), positive_label="yes")
    document = {"scores": SCORES, "labels": cells, "rules": [RULE], "positive_label": "yes"}
    for each in (answer, ask("gates", document)):
        (warning,) = json.loads(each.body)["warnings"]
        assert "'YES' and 'yes' differ only in case" in warning["detail"]


@pytest.mark.parametrize("form", BODIES)
@pytest.mark.parametrize(
    ("label", "other"),
    [
        ("yes", "yes "),
        ("yes", "\tyes"),
        ("yes", "yes\u00a0"),
        ("1", "1\u00a0"),
        ("2", "2\u2003"),
        ("\u00e9", "e\u0301"),
    ],
    ids=ascii,
)
def test_labels_that_look_the_same_are_not_two(form: str, label: str, other: str) -> None:
    """The last row would be negative, and the gate would pass."""
    media_type, body = BODIES[form]
    cells = [label, "0", "0", other]
    rules = [{"metric": "roc", "min": 0.9}]
    document = {"scores": SCORES, "labels": cells, "rules": rules, "positive_label": label}
    answer = ask("gates", body(cells), media_type, rules=json.dumps(rules), positive_label=label)
    for each in (answer, ask("gates", document)):
        if form == "csv" and each is answer and other.strip(" \t") == label:  # blanks around cells do not count
            assert json.loads(each.body)["checks"][0]["value"] == 0.5
            continue
        (error,) = json.loads(each.body)["errors"]
        assert (error["pointer"], error["code"]) == ("/labels/3", "not_a_label")
        assert "differ only in blanks, or in how an accent is stored: write them alike." in error["detail"]


def test_words_are_compared_exactly() -> None:
    answer = ask(
        "gates", csv_text(["yes", "NA", "yes", "Yes"]), "text/csv", rules=json.dumps([RULE]), positive_label="yes"
    )
    judged(answer)
