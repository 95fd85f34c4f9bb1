"""openapi.yaml: the frame in prose.yaml, filled with what the declarations of the operations say, and with examples.

prose.yaml has what no declaration knows: what the service and each path are for, the paths that evaluate nothing,
headers, problems, and longer descriptions of some schemas and parameters. examples/NAME.yaml has the requests that an
operation's examples send; the answers are the application's.
"""

from typing import Any

from service.answer import REQUEST_MEDIA_TYPES
from service.charts.picture import CHARTS
from service.contract.answers import Examples, answers_of
from service.contract.frame import all_responses, frame, loaded, problems, response
from service.contract.schemas import Tree, answer_schemas, camel, named_shape, reference, request_schemas
from service.operations import OPERATIONS
from service.operations.operation import Operation
from service.wire.formats.codings import CODINGS
from service.wire.formats.csv_dialect import MARKS
from service.wire.formats.inputs import COUNTS_COLUMNS, PICTURE_PARAMETERS
from service.wire.media_types import BODY_FORMATS, CSV, JSON, MARKDOWN, PNG, SVG, TEXT, XML
from service.wire.requests.column_fields import NumberColumn
from service.wire.requests.fields import ChoiceSet, Field, Scalar
from service.wire.requests.gates_schemas import FAIL_STATUSES

_OTHER_BODIES = {
    **{each.media_type: each.component for each in BODY_FORMATS if each.component},
    SVG: "SvgPicture",
    PNG: "PngPicture",
    TEXT: "TextPicture",
    MARKDOWN: "MarkdownReport",
    XML: "JUnitReport",
}
"""{media type: the schema of a body that is not JSON}"""

_IN_TABLES = (
    " JSON has everything; CSV and Arrow have one table. CSV has a header row, an empty field for `null`, and `true` "
    "or `false` for a boolean."
)


def contract() -> Tree:
    """The whole contract."""
    whole = frame()
    told, charts = whole.pop("parameters"), whole.pop("charts")
    own, paths = whole["components"]["schemas"], whole["paths"]
    missing = [*(f"the path /v1/{name}" for name in OPERATIONS if f"/v1/{name}" not in paths)]
    missing += [f"the schema {name}" for name in _OTHER_BODIES.values() if name not in own]
    if missing:
        raise LookupError(f"prose.yaml lacks {', '.join(missing)}.")
    schemas: Tree = {}
    for name, operation in OPERATIONS.items():
        schemas |= request_schemas(operation) | answer_schemas(operation)
        if name in CHARTS:
            schemas[f"{camel(name)}Charts"] = _charts(name, charts)
        path = paths[f"/v1/{name}"]
        path["post"] = _evaluating(path["post"], operation, told, schemas, whole["components"]["responses"])
    _add_formats(own["AnswerFormats"], paths["/version"]["get"])
    whole["components"]["schemas"] = {
        name: _merged(schemas[name], own.get(name, {})) if name in schemas else _required(own[name])
        for name in dict.fromkeys((*schemas, *own))
    }
    return whole


def _evaluating(path: Tree, operation: Operation, told: Tree, schemas: Tree, shared: Tree) -> Tree:
    """The path of an operation, with its parameters, its bodies and its answers."""
    examples: Examples = loaded(f"examples/{operation.name}.yaml")
    request = camel(operation.name) + "Request"
    of_bodies = _OTHER_BODIES | {JSON: request, CSV: path["table"]}
    of_answers = _OTHER_BODIES | {JSON: f"{camel(operation.name)}Answer"}
    passed: Tree = {}
    failed: Tree = {}
    for (status, kind), shown in answers_of(operation, examples).items():
        (passed if status == "200" else failed)[kind] = shown

    def content(shown: Tree) -> Tree:
        return {
            kind: {"schema": reference(of_answers[kind])} | _shown(shown.get(kind)) for kind in operation.media_types
        }

    more = ("Content-Encoding", "Vary", *(["Rocpr-Warnings"] if operation.tables else []))
    wrong = problems(path["wrong"], f"/v1/{operation.name}")
    of_statuses = {
        "200": response(path["answer"].strip() + (_IN_TABLES if operation.tables else ""), content(passed), *more),
        "422": response("The request is well-formed but has wrong values; `errors` points to them.", wrong),
    }
    if failed:
        shared["FailedGate"] = response(path["failed"], content(failed), *more)
        of_statuses |= {str(status): {"$ref": "#/components/responses/FailedGate"} for status in FAIL_STATUSES}
    return {
        "operationId": path["operationId"],
        "tags": [operation.name],
        "summary": path["summary"],
        "description": path["description"],
        "requestBody": {
            "description": path["body"],
            "required": True,
            "content": {
                kind: {"schema": reference(of_bodies[kind])} | _shown(_requests(examples.get(kind, {})))
                for kind in REQUEST_MEDIA_TYPES
            },
        },
        "responses": all_responses(of_statuses),
        "parameters": _parameters(operation, told, schemas),
    }


def _parameters(operation: Operation, told: Tree, schemas: Tree) -> list[Tree]:
    form = operation.form
    pictures = [name for name in PICTURE_PARAMETERS if name in form.fields and name not in form.drawn]
    found: list[Tree] = []
    if operation.tables:
        shape = {"type": "string", "enum": [table.name for table in operation.tables]}
        which = f"Which table an answer in CSV or Arrow has; `{operation.tables[0].name}` by default."
        others = "Not allowed with a JSON answer, which has all of them."
        text = " ".join(f"{which} {_told('table', operation, told)} {others}".split())
        found.append(_parameter("table", text, shape))
    for name in (*form.parameters, *form.drawn, *pictures):
        field = form.fields.get(name)
        about = _told(name, operation, told)
        own = told["own"].get(operation.name, {})
        if name in own:
            found.append({"name": name, "in": "query"} | own[name])
        elif name in MARKS:
            shape = {"type": "string", "enum": [*dict.fromkeys((*MARKS[name], *MARKS[name].values()))]}
            found.append(_parameter(name, about, shape))
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
        short = f", or a shorthand, such as `{field.shorthand}`" if getattr(field, "shorthand", "") else ""
        text = about or f"{field.about} The text of JSON, {such}{short}."
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


def _shown(examples: Tree | None) -> Tree:
    return {"examples": examples} if examples else {}


def _charts(operation: str, told: Tree) -> Tree:
    """The schema of the pictures within an answer."""
    shapes = {chart: {"description": told[operation][chart], "type": "string"} for chart in CHARTS[operation]}
    return {"description": told["about"], "type": "object", "properties": shapes}


def _add_formats(schema: Tree, path: Tree) -> None:
    """Describe the media types of answers, and put those of this version into its example."""
    media_types = {name: [*operation.media_types] for name, operation in OPERATIONS.items()}
    listed = {"type": "array", "items": {"type": "string"}}
    schema["properties"] = {name: {"description": f"Of `/v1/{name}`."} | listed for name in media_types}
    shown = path["responses"]["200"]["content"][JSON]["examples"]["version"]["value"]
    shown["formats"] = {"requests": [*REQUEST_MEDIA_TYPES], "answers": media_types, "codings": [*CODINGS]}


def _merged(declared: Tree, own: Tree) -> Tree:
    """What the frame says instead of a declaration."""
    properties = {"properties": declared.get("properties", {}) | own["properties"]} if "properties" in own else {}
    return declared | own | properties


def _required(schema: Tree) -> Tree:
    """A schema of the frame alone: an object needs all of its properties, unless they are optional."""
    if "properties" not in schema:
        return schema
    optional = schema.pop("optional", ())
    required = [name for name in schema["properties"] if name not in optional]
    return {"type": "object", "required": required} | schema
