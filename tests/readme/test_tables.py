"""The tables in README.md are complete and true: settings, problems, areas, the one table, paths, layers."""

import json
import re
import tomllib

import attrs
import numpy as np
import pytest
import yaml

from service.app import create_app
from service.cli.curves import AREAS
from service.curves.evaluation import KEEPS
from service.curves.indices import INDICES, Rows
from service.environment import server_environment
from service.operations import OPERATIONS
from service.settings import Settings, shipped_file
from service.wire.problems import MAX_ERRORS, PROBLEM_TYPES
from tests.readme.commands import README, examples

TEXT = README.read_text(encoding="utf-8")
ANSWER = json.loads(examples(TEXT)[0].output)
"""What the first example shows; another test holds it to the service."""


def section(title: str) -> str:
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def table(title: str) -> list[list[str]]:
    """Return the rows of a section's table."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_settings() -> None:
    entries = [field.metadata["environ_config"] for field in attrs.fields(Settings)]
    assert table("Settings") == [[f"`{entry.name}`", str(entry.default), entry.help] for entry in entries]


def test_what_the_server_sets() -> None:
    flags = "avx512f avx512bw avx512cd avx512dq avx512vl"
    variables = server_environment(f"vendor_id : AuthenticAMD\ncpu family : 25\nflags : {flags}\n")
    assert [row[:2] for row in table("What the server sets for itself")] == [
        [f"`{name}`", f"`{value}`"] for name, value in variables.items()
    ]


def test_options() -> None:
    """Each field of a JSON body stands in one row, with the operations that take it."""
    schemas = yaml.safe_load(shipped_file("openapi.yaml").read_text(encoding="utf-8"))["components"]["schemas"]
    operations = {}
    for name in OPERATIONS:
        fields = set(schemas[f"{name.title()}Request"]["properties"])
        if name == "comparisons":
            fields |= set(schemas["NamedEvaluation"]["properties"]) - {"name"}
        for field in fields:
            operations.setdefault(field, []).append(name)
    rows = table("Options")
    shown = {option: where for options, where, _ in rows for option in re.findall(r"`(\w+)`", options)}
    assert shown == {
        field: "all" if len(names) == len(OPERATIONS) else ", ".join(names) for field, names in operations.items()
    }
    (kept,) = [what for option, _, what in rows if option == "`keep`"]
    assert re.findall(r"`(\w+)`", kept) == list(KEEPS)


def test_problems() -> None:
    problems = [[str(problem.status), f"`{problem.uri}`", problem.title] for problem in PROBLEM_TYPES.values()]
    assert table("Errors") == problems
    assert f"At most {MAX_ERRORS} are listed." in section("Errors")


def test_areas() -> None:
    """Each value is that of the first example, and no two are equal."""
    rows = table("Which area is which")
    assert [name for name, _, _ in rows] == [f"`{name}`" for name in AREAS] == [f"`{name}`" for name in ANSWER["auc"]]
    assert [value for _, value, _ in rows] == [f"{value:.4f}" for value in ANSWER["auc"].values()]
    assert len({value for _, value, _ in rows}) == len(rows)


def test_indices() -> None:
    """The examples are at λ = 0.2; no two indices agree on both."""
    rows = table("Choose a trade-off")
    assert [name for name, *_ in rows] == [f"`{name}`" for name in INDICES]
    assert "| p 0.9, r 0.5 | p 0.5, r 0.9 |\n" in section("Choose a trade-off")
    rates = Rows(tp=np.array([45.0, 81.0]), fp=np.array([5.0, 81.0]), positives=90.0)
    for index, (_, _, *values) in zip(INDICES.values(), rows, strict=True):
        assert values == [f"{value:.3f}" for value in index.value(rates, np.array(0.2), np.array(0.8))]


def test_the_one_table() -> None:
    points = ANSWER["points"]
    rows = list(zip(*points.values(), strict=True))
    assert f"| {' | '.join(points)} |\n" in section("One table")
    for shown, row in zip(table("One table"), rows, strict=True):
        assert [json.loads(cell) for cell in shown] == [
            pytest.approx(value, abs=0.0005) if isinstance(value, float) else value for value in row
        ]


def test_paths() -> None:
    shown = set(re.findall(r"`(GET|POST) (/[^`]*)`", section("Paths")))
    rules = [rule for rule in create_app(Settings()).url_map.iter_rules() if not rule.rule.startswith("/docs/")]
    assert shown == {("POST" if "POST" in rule.methods else "GET", rule.rule) for rule in rules}


def test_layers() -> None:
    project = tomllib.loads((README.parent / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (entry["layers"] for entry in project["tool"]["importlinter"]["contracts"] if entry["type"] == "layers")
    diagram = re.search(r"^```text\n(.*?)^```$", section("Layers"), re.MULTILINE | re.DOTALL)[1]
    lowest = layers[-1].split(" | ")
    assert [line.split()[0] for line in diagram.splitlines()] == [*layers[:-1], "curves"]
    assert lowest == ["curves", "environment", "settings"]
    for name in lowest[1:]:
        assert f"`{name}`" in section("Layers")


def test_files_that_are_linked_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert links
    for link in links:
        assert link.startswith("http://127.0.0.1:8000/") or (README.parent / link).is_file(), link
