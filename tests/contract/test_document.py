"""openapi.yaml alone: valid, complete, and usable by generators of clients."""

import json
import re

import pytest

from service.wire.problems import PROBLEM_TYPES
from service.wire.requests.gates_schemas import FAIL_STATUSES
from tests.contract.document import (
    BINARY,
    PROBLEM_JSON,
    document,
    evaluations,
    examples,
    operation,
    operations,
    problem_examples,
    resolved,
    schema,
    schemas,
    types,
)
from tests.contract.violations import violations

FAILED = {str(status) for status in FAIL_STATUSES}
OPERATIONS = pytest.mark.parametrize("name", [found.name for found in operations()])


def test_the_document_is_valid_openapi() -> None:
    from openapi_spec_validator import OpenAPIV31SpecValidator  # takes half a second

    assert [str(error) for error in OpenAPIV31SpecValidator(document()).iter_errors()] == []


def test_the_document_survives_json() -> None:
    """YAML has values that JSON lacks: dates, keys that are not text, NaN."""
    assert json.loads(json.dumps(document(), allow_nan=False)) == document()


def test_every_component_is_referred_to() -> None:
    text = json.dumps(document())
    unused = [
        f"{kind}/{name}"
        for kind, named in document()["components"].items()
        for name in named
        if (f'{{"{name}": []}}' if kind == "securitySchemes" else f'"#/components/{kind}/{name}"') not in text
    ]
    assert unused == []


class TestOperations:
    def test_names_are_unique(self) -> None:
        names = [found.name for found in operations()]
        assert len(set(names)) == len(names)

    @OPERATIONS
    def test_are_described(self, name: str) -> None:
        found = operation(name)
        assert found.tree["summary"].strip()
        assert found.tree["description"].strip()
        assert set(found.tree["tags"]) <= {tag["name"] for tag in document()["tags"]}
        for parameter in found.parameters:
            assert parameter["description"].strip(), parameter["name"]
        for status, response in found.responses.items():
            assert response["description"].strip(), status

    @OPERATIONS
    def test_have_an_example_for_every_content_type(self, name: str) -> None:
        found = operation(name)
        contents = [found.request_content, *(response.get("content", {}) for response in found.responses.values())]
        for content in contents:
            for name_of_type, media_type in content.items():
                if name_of_type in BINARY:
                    assert resolved(media_type["schema"])["contentMediaType"] == name_of_type
                    continue
                assert examples(media_type), name_of_type
                for example in media_type["examples"].values():
                    assert example["summary"].strip()

    @OPERATIONS
    def test_examples_follow_their_schemas(self, name: str) -> None:
        found = operation(name)
        contents = [found.request_content, *(response.get("content", {}) for response in found.responses.values())]
        for content in contents:
            for media_type in content.values():
                for key, value in examples(media_type).items():
                    assert violations(media_type["schema"], value) == [], key

    @OPERATIONS
    def test_examples_of_parameters_follow_their_schemas(self, name: str) -> None:
        for parameter in operation(name).parameters:
            node = parameter["schema"]
            for value in [*examples(parameter).values(), *node.get("examples", [])]:
                assert violations(node, value) == []

    @OPERATIONS
    def test_answer_every_error_with_a_problem(self, name: str) -> None:
        for status, response in operation(name).responses.items():
            if status[0] in "45" and status not in FAILED:
                assert list(response["content"]) == [PROBLEM_JSON]
                assert response["content"][PROBLEM_JSON]["schema"] == {"$ref": "#/components/schemas/Problem"}

    def test_answer_a_failed_gate_with_its_verdict(self) -> None:
        responses = operation("checkGate").responses
        schemas_of = {kind: node["schema"] for kind, node in responses["200"]["content"].items()}
        for status in FAILED:
            assert {kind: node["schema"] for kind, node in responses[status]["content"].items()} == schemas_of
            assert responses[status]["headers"] == responses["200"]["headers"]
        assert [found.name for found in operations() if FAILED & set(found.responses)] == ["checkGate"]

    @OPERATIONS
    def test_need_a_key_or_none_but_those_of_health_and_the_page(self, name: str) -> None:
        found = operation(name)
        security = found.tree.get("security", document()["security"])
        is_open = found.tree["tags"] == ["health"] or name == "getPage"
        assert security == ([] if is_open else [{}, {"bearerAuth": []}])


class TestProblems:
    def test_every_type_has_an_example_and_no_other(self) -> None:
        documented = {value["type"] for _, value in problem_examples().values()}
        assert documented == {problem.uri for problem in PROBLEM_TYPES.values()}

    @pytest.mark.parametrize("name", problem_examples())
    def test_examples_are_those_of_the_table(self, name: str) -> None:
        status, value = problem_examples()[name]
        problem = PROBLEM_TYPES[value["type"].removeprefix("/problems/")]
        assert (value["type"], value["status"], value["title"]) == (problem.uri, problem.status, problem.title)
        assert status in {str(problem.status), f"{problem.status // 100}XX"}

    @pytest.mark.parametrize(("name", "first"), [("Refusal", 4), ("Failure", 5)])
    def test_each_range_of_statuses_lists_those_of_the_table(self, name: str, first: int) -> None:
        description = document()["components"]["responses"][name]["description"]
        listed = re.findall(r"^\* (\d+) ((?:`\w+`(?:, )?)+)", description, re.MULTILINE)
        expected: dict[str, list[str]] = {}
        for problem in PROBLEM_TYPES.values():
            if problem.status // 100 == first:
                expected.setdefault(str(problem.status), []).append(problem.code)
        assert {status: re.findall(r"\w+", codes) for status, codes in listed} == expected

    @OPERATIONS
    def test_every_operation_has_the_ranges(self, name: str) -> None:
        responses = operation(name).tree["responses"]
        assert responses["4XX"] == {"$ref": "#/components/responses/Refusal"}
        assert responses["5XX"] == {"$ref": "#/components/responses/Failure"}

    @pytest.mark.parametrize("name", [found.name for found in evaluations()])
    def test_every_evaluation_shows_its_own_422(self, name: str) -> None:
        assert operation(name).responses["422"]["content"][PROBLEM_JSON]["examples"]


class TestGeneratedClients:
    """Without these rules, generators write code that does not compile or cannot be used; some generator needs each."""

    def test_no_alternatives(self) -> None:
        """Go and Java require both sides of a oneOf; an anyOf becomes a class without a name."""
        keywords = {"oneOf", "anyOf", "allOf", "not", "if", "discriminator"}
        assert [place for place, node in schemas() if keywords & set(node)] == []

    def test_numbers_and_integers_are_64_bits_wide(self) -> None:
        """Without a format Java reads BigDecimal, Go float32 and both read 32-bit integers."""
        assert [place for place, node in schemas() if "number" in types(node) and node.get("format") != "double"] == []
        assert [place for place, node in schemas() if "integer" in types(node) and node.get("format") != "int64"] == []

    def test_one_type_and_perhaps_null(self) -> None:
        assert [place for place, node in schemas() if len(types(node) - {"null"}) > 1] == []

    def test_every_list_says_what_is_in_it(self) -> None:
        assert [place for place, node in schemas() if ("array" in types(node)) != ("items" in node)] == []

    def test_every_object_has_a_name(self) -> None:
        """An object within another becomes InlineObject3 or EvaluateCurves200ResponseAuc."""
        named = {f"/components/schemas/{name}" for name in document()["components"]["schemas"]}
        objects = {place for place, node in schemas() if "object" in types(node) or "properties" in node}
        assert objects - named == set()

    def test_no_enumeration_defines_the_words_of_another(self) -> None:
        """Go puts the words of all enumerations into one name space."""
        words = [
            word
            for named in document()["components"]["schemas"].values()
            for word in named.get("enum", [])
            if word is not None
        ]
        assert len(set(words)) == len(words)

    def test_no_name_is_a_keyword(self) -> None:
        """`lambda` is one in Python, the others in Java, Go, Rust, C# or TypeScript."""
        keywords = {"lambda", "default", "class", "type_", "func", "interface", "package", "range", "static", "final"}
        names = {name for _, node in schemas() for name in node.get("properties", {})}
        names |= {parameter["name"] for found in operations() for parameter in found.parameters}
        assert not names & keywords

    @OPERATIONS
    def test_parameters_are_plain_text_numbers_or_lists(self, name: str) -> None:
        """Go ignores `content` of a parameter and sends a list as if it were of style form."""
        for parameter in operation(name).parameters:
            assert "content" not in parameter
            assert "default" not in resolved(parameter["schema"])
            assert types(resolved(parameter["schema"])) <= {"string", "number", "integer", "boolean", "array"}


class TestThePage:
    @OPERATIONS
    def test_what_is_sent_is_typed_in(self, name: str) -> None:
        """For text with a contentMediaType, Swagger UI shows a button to choose a file, and hides the examples."""
        found = operation(name)
        typed = [node for media_type, node in found.request_content.items() if media_type not in BINARY]
        for node in [*found.parameters, *typed]:
            assert "contentMediaType" not in resolved(node["schema"])

    @pytest.mark.parametrize("name", [found.name for found in evaluations()])
    def test_csv_starts_with_the_first_example(self, name: str) -> None:
        """Swagger UI fills in the schema's example when the media type is changed."""
        content = operation(name).request_content["text/csv"]
        assert resolved(content["schema"])["examples"] == list(examples(content).values())[:1]


class TestRequest:
    NAMES = (
        "CurvesRequest",
        "Counts",
        "TuningSample",
        "Interpolation",
        "IntervalOptions",
        "OperatingPoint",
        "TradeoffsRequest",
        "LambdaDensity",
        "ComparisonsRequest",
        "NamedEvaluation",
        "GatesRequest",
        "Baseline",
        "Rule",
    )
    NEEDED = ("evaluations", "rules")
    """Lists that are wrong without items, even if they are absent."""

    @pytest.mark.parametrize("name", NAMES)
    def test_every_property_is_optional(self, name: str) -> None:
        assert "required" not in schema(name)

    @pytest.mark.parametrize("name", NAMES)
    def test_every_property_may_be_null(self, name: str) -> None:
        """An optional property that is null or [] counts as absent."""
        for key, node in schema(name)["properties"].items():
            kinds = types(resolved(node))
            assert not kinds or "null" in kinds, key
            assert "minItems" not in resolved(node) or key in self.NEEDED, key

    @pytest.mark.parametrize("name", NAMES)
    def test_unknown_properties_are_wrong(self, name: str) -> None:
        assert schema(name)["additionalProperties"] is False

    @pytest.mark.parametrize(
        "name", ["CurvesRequest", "TuningSample", "TradeoffsRequest", "NamedEvaluation", "PlansRequest"]
    )
    def test_a_label_is_any_value(self, name: str) -> None:
        assert schema(name)["properties"]["labels"]["items"] == {}

    @pytest.mark.parametrize("name", ["GatesRequest", "Baseline"])
    def test_scores_and_labels_of_one_class_or_several(self, name: str) -> None:
        """A list, or an object by class: the contract has no alternatives, so it takes anything."""
        for field in ("scores", "labels"):
            assert not {"type", "items"} & schema(name)["properties"][field].keys()
