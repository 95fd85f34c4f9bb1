"""The tables in the documents are complete and true."""

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from math import sqrt
from typing import Any

import numpy as np
import pytest

from service.app import create_app
from service.cli.curves import AREA_MEANINGS, FIRST_AREAS
from service.curves.areas import Areas
from service.curves.indices import INDICES, Rows
from service.curves.points import KEEPS
from service.environment import server_environment
from service.operations import OPERATIONS
from service.settings import Settings, variable_of
from service.web.guide import FILES
from service.web.page import PAGE_FILES
from service.wire.formats.decoders import DECODERS
from service.wire.formats.inputs import PICTURE_PARAMETERS
from service.wire.problems import MAX_ERRORS, PROBLEM_TYPES
from tests.contract.document import document
from tests.readme.commands import examples
from tests.readme.documents import DEVELOPERS, OPERATORS, README, ROOT, section, table, text_of

CURVES, TRADEOFFS, FORMATS, ERRORS, INTERVALS = (
    f"service/guide/{name}.md" for name in ("curves", "tradeoffs", "formats", "errors", "intervals")
)
EVIDENCE = "tests/README.md"
PERCENT_OVER, PERCENT_ABOVE = (200 * sqrt(share * (1 - share) / 2000) for share in (0.07, 0.99))
"""Two standard errors beyond both limits, in percentage points."""

ONE_TABLE = "One table as the answer"
ANSWER = json.loads(examples(CURVES)[0].output)
"""What the first example shows; another test compares it with the service."""

SCHEMAS: dict[str, Any] = document()["components"]["schemas"]


def names_in(cells: list[str]) -> set[str]:
    """The words in code of some cells."""
    return set(re.findall(r"`(\w+)`", " ".join(cells)))


def test_settings() -> None:
    rows = [[f"`{variable_of(each.name)}`", str(each.default), each.metadata["meaning"]] for each in fields(Settings)]
    assert table(OPERATORS, "Settings") == rows


def test_what_the_server_sets() -> None:
    flags = "avx512f avx512bw avx512cd avx512dq avx512vl"
    variables = server_environment(f"vendor_id : AuthenticAMD\ncpu family : 25\nflags : {flags}\n")
    assert [row[:2] for row in table(OPERATORS, "What the server sets for itself")] == [
        [f"`{name}`", f"`{value}`"] for name, value in variables.items()
    ]


EVALUATING = [name for name in OPERATIONS if name != "columns"]
"""The operations that evaluate; columns are whatever a table has."""


def fields_of(operation: str) -> set[str]:
    """The fields of an operation's JSON body, except those of its charts and of an evaluation within it."""
    found = set(SCHEMAS[f"{operation.title()}Request"]["properties"]) - set(OPERATIONS[operation].form.drawn)
    if operation == "comparisons":
        found |= set(SCHEMAS["NamedEvaluation"]["properties"]) - {"name"}
    return found


def common_fields() -> set[str]:
    """The fields common to all operations that read counts, too; slices and classes take those of a sample."""
    return set.intersection(*(fields_of(name) for name in EVALUATING if name not in {"slices", "classes"}))


def test_what_every_operation_takes() -> None:
    common = common_fields()
    assert names_in([row[0] for row in table(CURVES, "What you send")]) == common


def test_what_classes_take() -> None:
    rows = table("service/guide/classes.md", "What you send")
    assert names_in([row[0] for row in rows]) == fields_of("classes")


@pytest.mark.parametrize("operation", [name for name in EVALUATING if name != "classes"])
def test_options(operation: str) -> None:
    """Each other field of a JSON body has a row on the page of its operation."""
    common = common_fields()
    rows = table(f"service/guide/{operation}.md", "Options")
    assert names_in([row[0] for row in rows]) == fields_of(operation) - common


def test_where_is() -> None:
    """What people look for by another name is on the guide's first page, where a browser finds it."""
    found = " ".join(row[0] for row in table("service/guide/index.md", "Where is ...?"))
    for word in ("sensitivity", "specificity", "Youden", "Gini", "folds", "one file of truth", "Keras", "Spark"):
        assert word in found


def test_options_of_pictures() -> None:
    rows = table("service/guide/pictures.md", "How it is drawn")
    drawn = {name for operation in OPERATIONS.values() for name in operation.form.drawn}
    assert names_in([row[0] for row in rows]) == ({*PICTURE_PARAMETERS} | drawn) - {"charts", "scale"}
    assert "`scale`" in section("service/guide/pictures.md", "PNG")
    assert "`charts`" in section("service/guide/pictures.md", "Along with the numbers")


def test_what_may_be_kept() -> None:
    (kept,) = [what for option, what in table(CURVES, "Options") if option == "`keep`"]
    assert re.findall(r"`(\w+)`", kept) == list(KEEPS)


def test_what_intervals_take() -> None:
    assert names_in([row[0] for row in table(INTERVALS)]) == set(SCHEMAS["IntervalOptions"]["properties"])
    (methods,) = [what for name, what in table(INTERVALS) if name == "`method`"]
    assert names_in([methods]) == set(SCHEMAS["IntervalMethod"]["enum"]) - {None}


def test_problems() -> None:
    problems = [[str(problem.status), f"`{problem.uri}`", problem.title] for problem in PROBLEM_TYPES.values()]
    assert table(ERRORS) == problems
    assert f"points to the wrong values, at most {MAX_ERRORS}." in text_of(ERRORS)


def test_warnings() -> None:
    """Each is made somewhere in the service."""
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "service").rglob("*.py"))
    remarks = text_of("service/curves/probability_remarks.py")
    assert names_in([row[0] for row in table(ERRORS, "Warnings")]) == set(
        re.findall(r"""\bCurvesWarning\(\s*"(\w+)",""", code)
        + re.findall(r"""^ +yield "(\w+)", """, remarks, re.MULTILINE)
    )


def test_areas() -> None:
    """Each value is that of the first example, and no two are equal. What people look for comes first."""
    first, others = table(CURVES, "Which area is which"), table(CURVES, "The other three, for researchers")
    assert [name for name, *_ in first] == [f"`{name}`" for name in FIRST_AREAS]
    assert {name for name, *_ in [*first, *others]} == {f"`{field.name}`" for field in fields(Areas)}
    values = {name.strip("`"): value for name, value, _ in [*first, *others]}
    assert values == {name: f"{value:.4f}" for name, value in ANSWER["auc"].items()}
    assert len({*values.values()}) == len(values)
    assert [name for name, _ in table(README, "The areas")] == [f"`{name}`" for name in FIRST_AREAS]
    assert list(AREA_MEANINGS) == list(ANSWER["auc"])


def test_indices() -> None:
    """The examples are at λ = 0.2; no two indices agree on both."""
    rows = table(TRADEOFFS, "Which index")
    assert [name for name, *_ in rows] == [f"`{name}`" for name in INDICES]
    assert "| p 0.9, r 0.5 | p 0.5, r 0.9 |\n" in section(TRADEOFFS, "Which index")
    rates = Rows(tp=np.array([45.0, 81.0]), fp=np.array([5.0, 81.0]), positives=90.0)
    for index, (_, _, *values) in zip(INDICES.values(), rows, strict=True):
        assert values == [f"{value:.3f}" for value in index.value(rates, np.array(0.2), np.array(0.8))]


def test_the_one_table() -> None:
    points = ANSWER["points"]
    rows = list(zip(*points.values(), strict=True))
    assert f"| {' | '.join(points)} |\n" in section(CURVES, "One table")
    for shown, row in zip(table(CURVES, "One table"), rows, strict=True):
        assert [json.loads(cell) for cell in shown] == [
            pytest.approx(value, abs=0.0005) if isinstance(value, float) else value for value in row
        ]


def test_media_types() -> None:
    rows = table(FORMATS)
    written = {media_type for found in OPERATIONS.values() for media_type in found.media_types}
    assert {name.strip("`") for name, *_ in rows} == set(DECODERS) | written
    for name, read, answered in rows:
        assert (read != "no") == (name.strip("`") in DECODERS)
        assert (answered != "no") == (name.strip("`") in written)
        operations = {found.name for found in OPERATIONS.values() if name.strip("`") in found.media_types}
        if operations == {"curves"}:
            assert answered.endswith("from `/v1/curves` only")
        else:
            assert ("gates" in answered) == (bool(operations) and "gates" not in operations)


def test_tables_of_answers() -> None:
    shown = {operation: tuple(re.findall(r"`(\w+)`", names)) for operation, names in table(FORMATS, ONE_TABLE)}
    assert shown == {
        name: tuple(each.name for each in operation.tables)
        for name, operation in OPERATIONS.items()
        if operation.tables
    }


def test_paths() -> None:
    shown = set(re.findall(r"`(GET|POST) (/[^`]*)`", section(README, "Paths")))
    parts = {f"/guide/{name}" for name in FILES} | (PAGE_FILES.keys() - {"/"})
    rules = [rule for rule in create_app(Settings()).url_map.iter_rules() if not rule.rule.startswith("/docs/")]
    assert shown == {
        ("POST" if "POST" in rule.methods else "GET", rule.rule) for rule in rules if rule.rule not in parts
    }


def test_layers() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {entry["id"]: entry for entry in project["tool"]["importlinter"]["contracts"]}
    layers, wings = contracts["layers"]["layers"], contracts["wings"]["layers"]
    diagram = re.search(r"^```text\n(.*?)^```$", section(DEVELOPERS, "Layers"), re.MULTILINE | re.DOTALL)[1]
    lowest = layers[-1].split(" | ")
    above = [name for layer in layers[:-1] for name in layer.split(" | ")]
    assert [line.split()[0] for line in diagram.splitlines()] == [*above, "curves"]
    assert "curves" in lowest
    for name in {*lowest, *" | ".join(wings).split(" | ")} - {"curves"}:
        assert f"`{name}`" in section(DEVELOPERS, "Layers")


def test_the_guide_lists_every_cell_of_the_simulations_that_misses() -> None:
    narrow, wide = [], {}
    for cell, metric, figures, warned in missed_cells():
        passed, of_difference, of_value = (float(figure) for figure in figures)
        if passed > 7 + PERCENT_OVER or min(of_difference, of_value) < 93 - PERCENT_OVER:
            narrow.append([cell, metric, *figures, warned])
        else:
            for column, figure in (("difference", of_difference), ("value", of_value)):
                if figure > 99 + PERCENT_ABOVE:
                    wide.setdefault((cell, column), []).append(f"{metric} {figure}")
    shown = re.findall(r"(?:^\|.*\n)+", section(INTERVALS, "How often they hold"), re.MULTILINE)
    one, two = ([re.split(r"\s*\|\s*", line)[1:-1] for line in each.splitlines()[2:]] for each in shown)
    assert [[cell.strip("*") for cell in row] for row in one] == narrow
    found = {(row[0], of): row[place] for row in two for place, of in ((1, "difference"), (2, "value"))}
    assert {key: text for key, text in found.items() if text != "-"} == {
        key: ", ".join(each) for key, each in wide.items()
    }


def missed_cells() -> Iterator[tuple[str, str, list[str], str]]:
    """The bold cells of both tables: the data, the metric, its figures, and the share with a warning."""
    for mark in ("cells", "parts"):
        part = text_of(EVIDENCE).partition(f"error_rates_of_gates.{mark}: begin -->")[2].partition("<!--")[0]
        head, _, *rows = (re.split(r"\s*\|\s*", line)[1:-1] for line in part.splitlines() if line.startswith("|"))
        for row in rows:
            for place, (metric, text) in enumerate(zip(head[1:], row[1:], strict=True)):
                if text.startswith("**"):
                    figures = text.strip("*").split(", ")
                    yield row[0], metric, figures[:3], (figures[3:] or [row[-1].split(", ")[place]])[0]
