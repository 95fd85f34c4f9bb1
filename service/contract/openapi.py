"""openapi.yaml: the frame in prose.yaml, filled with what the declarations of the operations say, and with examples.

prose.yaml has what no declaration knows: what the service and each path are for, the paths that evaluate nothing,
headers, problems, and longer descriptions of some schemas and parameters. examples/NAME.yaml has the requests that an
operation's examples send; the answers are the application's.
"""

from pathlib import Path
from typing import Any

import yaml

from service.answer import REQUEST_MEDIA_TYPES
from service.contract.answers import Examples, answers_of
from service.contract.schemas import Tree, answer_schemas, camel, named_shape, reference, request_schemas
from service.operations import OPERATIONS
from service.operations.operation import Operation
from service.wire.formats.inputs import COUNTS_COLUMNS, PICTURE_PARAMETERS
from service.wire.media_types import (
    ARROW_FILE,
    ARROW_STREAM,
    CSV,
    JSON,
    MARKDOWN,
    PARQUET,
    PNG,
    SVG,
    TEXT,
    XML,
)
from service.wire.requests.column_fields import NumberColumn
from service.wire.requests.fields import ChoiceSet, Field, Scalar

_FOLDER = Path(__file__).parent
_OTHER_BODIES = {
    CSV: "CsvTable",
    ARROW_STREAM: "ArrowStream",
    ARROW_FILE: "ArrowFile",
    PARQUET: "ParquetFile",
    SVG: "SvgPicture",
    PNG: "PngPicture",
    TEXT: "TextPicture",
    MARKDOWN: "MarkdownReport",
    XML: "JUnitReport",
}
"""{media type: the schema of a body that is not JSON}"""


def prose() -> Tree:
    """The frame."""
    return _loaded("prose.yaml")


def examples_of(operation: str) -> Examples:
    """The examples of an operation's requests."""
    return _loaded(f"examples/{operation}.yaml")


def contract() -> Tree:
    """The whole contract."""
    frame = prose()
    told = frame.pop("parameters")
    schemas: Tree = {}
    for name, operation in OPERATIONS.items():
        schemas |= request_schemas(operation) | answer_schemas(operation)
        path = frame["paths"][f"/v1/{name}"]["post"]
        _fill(path, operation, told, schemas, frame["components"])
    own = frame["components"]["schemas"]
    frame["components"]["schemas"] = {
        name: schemas.get(name, {}) | own.get(name, {}) for name in dict.fromkeys((*schemas, *own))
    }
    return frame


def _fill(path: Tree, operation: Operation, told: Tree, schemas: Tree, components: Tree) -> None:
    """Put into the path of an operation its parameters, its bodies and its answers."""
    examples = examples_of(operation.name)
    body, answer = path["requestBody"], path["responses"]["200"]
    table = body.pop("table")
    path["parameters"] = [*_parameters(operation, told, schemas)]
    request = camel(operation.name) + "Request"
    of_bodies = {kind: _OTHER_BODIES.get(kind, "") for kind in REQUEST_MEDIA_TYPES} | {JSON: request, CSV: table}
    body |= {
        "required": True,
        "content": {
            kind: {"schema": reference(name)} | _shown(_requests(examples.get(kind, {})))
            for kind, name in of_bodies.items()
        },
    }
    pictures = answer.pop("pictures", {})
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in answer["headers"]}
    answered = answers_of(operation, examples)
    of_answers = _OTHER_BODIES | {JSON: f"{camel(operation.name)}Answer"}
    answer["headers"] = headers
    answer["content"] = {
        kind: {"schema": reference(of_answers[kind])} | _shown(answered.get(("200", kind), pictures.get(kind, {})))
        for kind in operation.media_types
    }
    others = {key: shown for key, shown in answered.items() if key[0] != "200"}
    if others:  # a failed gate, whose statuses share a response
        content = {kind: {"schema": reference(of_answers[kind])} for kind in operation.media_types}
        for (_, kind), shown in others.items():
            content[kind] |= _shown(shown)
        failed = components["responses"]["FailedGate"]
        for kind, shown in failed.pop("pictures").items():
            content[kind] |= _shown(shown)
        failed["content"] = content


def _parameters(operation: Operation, told: Tree, schemas: Tree) -> list[Tree]:
    form = operation.form
    pictures = [name for name in PICTURE_PARAMETERS if name in form.fields and name not in form.drawn]
    found: list[Tree] = []
    if operation.tables:
        shape = {"type": "string", "enum": [table.name for table in operation.tables]}
        found.append(_parameter("table", _told("table", operation, told), shape))
    for name in (*form.parameters, *form.drawn, *pictures):
        field = form.fields.get(name)
        about = _told(name, operation, told)
        own = told["own"].get(operation.name, {})
        if name in own:
            found.append({"name": name, "in": "query"} | own[name])
        elif name in told["shapes"]:
            found.append(_parameter(name, about, told["shapes"][name]))
        elif field is None or name in told["columns"] or isinstance(field, Scalar):
            example = told["columns"].get(name)
            shape = {"type": "string"} | ({"examples": [example]} if example else {})
            found.append(_parameter(name, about or _of_column(name), shape))
        else:
            found.append(_of_field(name, field, about, schemas))
    return found


def _of_column(name: str) -> str:
    """What a parameter means that names a column."""
    kind = "counts" if name in COUNTS_COLUMNS else "groups"
    return f"The column of a table to read `{name}` of {kind} from; `{name}` by default."


def _told(name: str, operation: Operation, told: Tree) -> str:
    """What the frame says about a parameter; empty if its field says it all."""
    text: Any = told["texts"].get(name, "")
    return text if isinstance(text, str) else text.get(operation.name, text.get("any", ""))


def _of_field(name: str, field: Any, about: str, schemas: Tree) -> Tree:  # noqa: ANN401  # a Field
    """A parameter that is an option: as it is, or as the text of JSON."""
    such = f"such as `{field.example_text}`"
    if isinstance(field, ChoiceSet):
        shape = named_shape(field, schemas) | {"examples": [list(field.example)]}  # type: ignore[call-overload]  # names
        text = about or f"{field.about} Names separated by commas, {such}, or a JSON list."
        return _parameter(name, text, shape) | {"style": "form", "explode": False}
    if isinstance(field, NumberColumn):
        text = about or f"{field.about} Numbers separated by commas, {such}, or a JSON list."
    elif field.metavar == "JSON":
        text = about or f"{field.about} The text of JSON, {such}."
    else:
        return _parameter(name, about or field.about, _plain(field))
    return _parameter(name, text, {"type": "string", "examples": [field.example_text]})


def _plain(field: Field) -> Tree:
    example = {"examples": [field.example]} if field.example is not None and "enum" not in field.shape() else {}
    return field.shape() | (example if field.metavar in {"NUMBER", "TEXT"} else {})


def _parameter(name: str, about: str, schema: Tree) -> Tree:
    return {"name": name, "in": "query", "description": about, "schema": schema}


def _requests(examples: Tree) -> Tree:
    return {
        name: {key: each[key] for key in ("summary", "description", "value") if key in each}
        for name, each in examples.items()
    }


def _shown(examples: Tree) -> Tree:
    return {"examples": examples} if examples else {}


def _loaded(name: str) -> Tree:
    tree: Tree = yaml.load((_FOLDER / name).read_bytes(), Loader=yaml.CSafeLoader)
    return tree
