"""What the document says in prose agrees with the service; what is read off the declarations needs no test."""

import ast
import json
import re
from collections.abc import Iterator

import pytest

from service.curves.indices import INDICES
from service.inference.metric import METRIC_NAMES
from service.operations import OPERATIONS
from service.wire.formats.inputs import COLUMN_PARAMETERS
from service.wire.requests.comparisons_schemas import ComparisonsRequestSchema
from service.wire.requests.faults import DOMAIN_ERROR_CODES
from tests.contract.document import EVALUATION_PREFIX, PATH, evaluations, resolved, schema
from tests.contract.violations import violations

EVALUATIONS = {found.path.removeprefix(EVALUATION_PREFIX): found for found in evaluations()}
PARAMETERS = {name: {each["name"]: each for each in found.parameters} for name, found in EVALUATIONS.items()}
FIELDS = {name: found.schema.fields for name, found in OPERATIONS.items()}
NUMBER_LISTS = {"thresholds", "lambda_range", "at_lambda", "mark", "top"}
"""Parameters whose text is numbers separated by commas, or JSON."""

JSON_TEXT = [
    (operation, name)
    for operation, parameters in PARAMETERS.items()
    for name, found in parameters.items()
    if name not in COLUMN_PARAMETERS and getattr(FIELDS[operation].get(name), "metavar", "") in {"JSON", "NUMBERS"}
]
"""Parameters that are shown as the text of JSON."""

CODE_AT = {"Wrong": 0, "invalid": 0, "invalid_value": 1, "FieldError": 1, "Naming": 2}
"""{what makes a fault: which of its arguments is the code}"""


@pytest.mark.parametrize(("operation", "name"), JSON_TEXT)
def test_examples_of_json_text_are_what_a_body_may_have(operation: str, name: str) -> None:
    body = resolved(EVALUATIONS[operation].request_content["application/json"]["schema"])
    for text in PARAMETERS[operation][name]["schema"]["examples"]:
        value = json.loads(f"[{text}]" if name in NUMBER_LISTS else text)
        assert violations(body["properties"][name], value) == []
        assert f"`{text}`" in PARAMETERS[operation][name]["description"]


def test_as_many_columns_of_scores_can_be_named_as_there_may_be_evaluations() -> None:
    shape, field = PARAMETERS["comparisons"]["scores"]["schema"], ComparisonsRequestSchema().fields["evaluations"]
    assert (shape["minItems"], shape["maxItems"]) == (field.minimum, field.maximum)


def test_metrics_of_rules_are_listed_where_gates_are_described() -> None:
    described = re.findall(r"`(\w+)`", EVALUATIONS["gates"].tree["description"])
    assert set(METRIC_NAMES) - set(INDICES) <= set(described)  # an index is only called one


def test_codes_of_wrong_values_are_documented() -> None:
    """The document lists exactly the codes that the sources give to faults."""
    documented = re.findall(r"`(\w+)`", schema("FieldError")["description"])
    assert documented == sorted(documented)
    assert set(documented) == {*DOMAIN_ERROR_CODES.values(), *_codes_in_the_sources()}


def _codes_in_the_sources() -> Iterator[str]:
    """The literal codes, wherever a fault is made."""
    service = PATH.parent / "service"
    for source in (service / "answer.py", *(service / "wire").rglob("*.py")):
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CODE_AT:
                code = node.args[CODE_AT[node.func.id]]
                choices = [code.body, code.orelse] if isinstance(code, ast.IfExp) else [code]
                yield from (str(choice.value) for choice in choices if isinstance(choice, ast.Constant))
