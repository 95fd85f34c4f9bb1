"""The check that compares two contracts finds every kind of break and lets every addition pass."""

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.contract.compatibility import breaks, each_break, main
from tests.contract.compatible_schemas import Direction, SchemaComparison
from tests.contract.document import METHODS, Tree, document, schema
from tests.contract.mutations import ADDITIONS, BREAKS, GONE, changed, plus

pytestmark = pytest.mark.all


@pytest.mark.parametrize(("place", "becomes", "line"), BREAKS, ids=[line for *_, line in BREAKS])
def test_a_break_is_found(place: str, becomes: Any, line: str) -> None:
    found = breaks(document(), changed(document(), place, becomes))
    assert any(one.endswith(line) for one in found), found
    # One change gets one line, wherever it shows, so that no change is lost among others.
    assert len({one.rpartition(": ")[2] for one in found}) == 1, found


@pytest.mark.parametrize(("place", "becomes"), ADDITIONS, ids=[place for place, _ in ADDITIONS])
def test_an_addition_is_not_a_break(place: str, becomes: Any) -> None:
    new = changed(document(), place, becomes)
    assert new != document()
    assert breaks(document(), new) == []


def test_a_contract_is_compatible_with_itself() -> None:
    assert breaks(document(), document()) == []


def test_a_named_schema_is_compared_where_it_is_and_its_name_kept() -> None:
    text = json.dumps(document())
    renamed = json.loads(text.replace("#/components/schemas/Keep", "#/components/schemas/Kept"))
    renamed["components"]["schemas"]["Kept"] = renamed["components"]["schemas"].pop("Keep")
    assert breaks(document(), renamed) == ["schema Keep: gone"]
    written_out = changed(document(), "schemas CurvesRequest properties keep", schema("Keep"))
    assert breaks(document(), written_out) == []
    shorter = changed(written_out, "schemas CurvesRequest properties keep enum", ["all", "drawn", "hull", None])
    assert breaks(document(), shorter) == ['requests, Keep: the value "corners" is gone']


def test_a_schema_may_hold_itself() -> None:
    """Each pair of names is compared only once."""
    rule = "schemas Rule properties unless"
    old = changed(document(), rule, {"$ref": "#/components/schemas/Rule"})
    assert breaks(old, old) == []
    assert "requests, Rule/min: gone" in breaks(old, changed(old, "schemas Rule properties min", GONE))


def test_a_field_of_both_requests_and_answers_may_neither_shrink_nor_grow() -> None:
    """A gate's answer repeats its rules."""
    for becomes in (0.5, 2):
        assert len(breaks(document(), changed(document(), "schemas Rule properties at maximum", becomes))) == 1
    assert breaks(document(), changed(document(), "schemas Rule properties metric enum", plus("nothing"))) == []


class TestWhateverGoesIsFound:
    """Each name of the contract is removed in turn; the check must notice that, wherever it is."""

    @staticmethod
    def _below(place: str, names: Any) -> Iterator[str]:
        return (f"{place} {name}" for name in names)

    @staticmethod
    def _check(places: Iterator[str]) -> None:
        missed = [place for place in places if not any(each_break(document(), changed(document(), place, GONE)))]
        assert missed == []

    def test_operations_parameters_and_statuses(self) -> None:
        for path, item in document()["paths"].items():
            self._check(self._below(f"paths {path}", METHODS & set(item)))
            for method in METHODS & set(item):
                place = f"paths {path} {method}"
                self._check(self._below(f"{place} parameters", range(len(item[method].get("parameters", [])))))
                self._check(self._below(f"{place} responses", item[method]["responses"]))

    def test_media_types_and_headers_of_shared_answers(self) -> None:
        for name, response in document()["components"]["responses"].items():
            for key in ("content", "headers"):
                self._check(self._below(f"responses {name} {key}", response.get(key, {})))

    def test_schemas_and_their_fields_and_words(self) -> None:
        for name, node in document()["components"]["schemas"].items():
            self._check(self._below(f"schemas {name} properties", node.get("properties", {})))
            self._check(self._below(f"schemas {name} enum", range(len(node.get("enum", [])))))


INTEGER = {"type": "integer"}
SCHEMAS: list[Tree] = [
    {},
    {"type": "number"},
    INTEGER,
    {"type": ["integer", "null"]},
    {"type": "number", "minimum": 0},
    {"type": "number", "exclusiveMinimum": 0},
    {"type": "number", "minimum": 0, "maximum": 2},
    {"type": "number", "exclusiveMaximum": 2},
    {"type": "string"},
    {"type": "string", "minLength": 1},
    {"type": "string", "maxLength": 1},
    {"enum": ["a", "ab", None]},
    {"type": "string", "pattern": "^$|^a"},
    {"type": "array"},
    {"type": "array", "items": INTEGER},
    {"type": "array", "items": {"type": "number", "minimum": 0}, "minItems": 1},
    {"type": "array", "maxItems": 1},
    {"type": "object"},
    {"type": "object", "properties": {"p": INTEGER}},
    {"type": "object", "properties": {"p": INTEGER}, "required": ["p"]},
    {"type": "object", "properties": {"p": INTEGER}, "additionalProperties": False},
    {"type": "object", "properties": {"p": {}, "q": INTEGER}, "additionalProperties": False},
    {"type": "object", "properties": {"p": {}, "q": INTEGER}},
    {"type": "object", "properties": {"p": {"type": ["integer", "null"]}}, "additionalProperties": INTEGER},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {"type": "object", "minProperties": 1},
]
VALUES: list[Any] = [
    *(None, True, -1, 0, 0.5, 1, 2, 3, "", "a", "b", "ab"),
    *([], [0], [-1], [0.5], ["a"], [1, 2], [None]),
    *({}, {"p": 1}, {"p": None}, {"p": "a"}, {"q": 1}, {"q": "a"}, {"r": 1}, {"r": "a"}),
    *({"p": 1, "q": 2}, {"p": 1, "q": "a"}, {"p": 1, "r": 1}, {"p": 1, "r": "a"}),
]


def _between(old: Tree, new: Tree, direction: Direction) -> list[str]:
    return list(SchemaComparison({}, {}).breaks(old, new, direction, "here"))


def _as_an_old_client_reads(value: Any, old: Tree, new: Tree) -> Any:
    """Without the properties that the new schema has and the old one lacks."""
    if not isinstance(value, dict):
        return value
    added = new.get("properties", {}).keys() - old.get("properties", {}).keys()
    return {name: held for name, held in value.items() if name not in added}


class TestSchemasAgainstAValidator:
    """All pairs of some schemas, and what jsonschema says about some values."""

    VALID = tuple([Draft202012Validator(node).is_valid(value) for value in VALUES] for node in SCHEMAS)
    PAIRS = tuple(product(range(len(SCHEMAS)), repeat=2))

    def test_a_request_that_was_valid_stays_valid_exactly_where_nothing_breaks(self) -> None:
        compatible = 0
        for old, new in self.PAIRS:
            found = _between(SCHEMAS[old], SCHEMAS[new], Direction.REQUEST)
            stays = all(now for was, now in zip(self.VALID[old], self.VALID[new], strict=True) if was)
            compatible += not found
            if all(": gone" not in line for line in found):  # a removal breaks clients, even if it may still be sent
                assert (not found) == stays, (SCHEMAS[old], SCHEMAS[new], found)
        assert compatible > len(SCHEMAS)

    def test_an_answer_holds_nothing_new_in_an_old_place(self) -> None:
        compatible = 0
        for old, new in self.PAIRS:
            if _between(SCHEMAS[old], SCHEMAS[new], Direction.ANSWER):
                continue
            compatible += 1
            reader = Draft202012Validator(SCHEMAS[old])
            for value, valid in zip(VALUES, self.VALID[new], strict=True):
                if valid and SCHEMAS[old].get("additionalProperties") is not False:
                    assert reader.is_valid(_as_an_old_client_reads(value, SCHEMAS[old], SCHEMAS[new]))
        assert compatible > len(SCHEMAS)


@pytest.mark.parametrize(("paths", "status"), [("{/a: {get: {}}, /b: {}}", 0), ("{}", 1)])
def test_the_program_says_it_with_its_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], paths: str, status: int
) -> None:
    (tmp_path / "old.yaml").write_text("paths: {/a: {get: {}}}")
    (tmp_path / "new.yaml").write_text(f"paths: {paths}")
    assert main([str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")]) == status
    printed = capsys.readouterr()
    assert ("operation GET /a: gone\n" in printed.out) == bool(status)
    assert printed.err == ""


@pytest.mark.parametrize("words", [[], ["one.yaml"], ["nothing.yaml", "nothing.yaml"]])
def test_the_program_needs_two_files(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("usage: ")
