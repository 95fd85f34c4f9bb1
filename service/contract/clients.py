"""The contract for generated clients: the JSON part of openapi.yaml, in OpenAPI 3.0, which every generator reads.

Generators make an argument of each parameter and a class of each schema, so only what a typed client needs is kept:

* the operations that answer JSON, other than those about the contract itself;
* a response for each status in place of those for 4XX and 5XX, of which NSwag and others make code that is invalid;
* bodies and answers in JSON, and no query parameters if there is a body, which has the same options;
* one example for each request, also as the default of its schema: Postman imports defaults, not examples;
* the components that are still referenced. Optional properties of requests are not nullable.

Knows OpenAPI and the statuses of problems; nothing of the operations.
"""

from collections.abc import Iterator

from service.contract.schemas import Tree
from service.wire.problems import PROBLEM_TYPES

VERSION = "3.0.3"

_REQUEST = "application/json"
_ANSWERS = frozenset({_REQUEST, "application/problem+json"})
_ABOUT_THE_CONTRACT = "contract"
_OF_TABLES = "Rocpr-Warnings"
"""A header of answers that are tables; a JSON answer contains the warnings."""
_SCHEMAS = "#/components/schemas/"
_LICENSES = "https://spdx.org/licenses/{}.html"
"""The address of a licence: OpenAPI 3.0 has no field for its identifier."""
_DESCRIPTION = """\
The part of [openapi.yaml](/openapi.yaml) from which to generate clients: JSON in, JSON out. Every property of a request
is optional; leave out what you do not need. Expect new properties, enum values and warnings in answers.
"""


def clients_contract(contract: Tree) -> Tree:
    """Derive the contract for generated clients from the whole one, which is not changed."""
    paths: Tree = {}
    for path, item in contract["paths"].items():
        for method, operation in item.items():
            if _is_kept(contract, operation):
                paths.setdefault(path, {})[method] = _operation(operation)
    kept = [operation for item in paths.values() for operation in item.values()]
    bodies = [operation["requestBody"] for operation in kept if "requestBody" in operation]
    sent = {reference for reference, _ in _reached(contract, bodies)}
    defaults = {_schema_name(body): body["content"][_REQUEST]["example"] for body in bodies}
    components: Tree = {}
    for reference, component in _reached(contract, paths):
        _, _, kind, name = reference.split("/")
        if kind == "schemas":
            default = {"default": defaults[name]} if name in defaults else {}
            components.setdefault(kind, {})[name] = _schema(component, nullable=reference not in sent) | default
        else:
            components.setdefault(kind, {})[name] = component
    tags = {tag for operation in kept for tag in operation["tags"]}
    info = contract["info"]
    return {
        "openapi": VERSION,
        "info": {
            "title": info["title"],
            "version": info["version"],
            "description": _DESCRIPTION,
            "license": {"name": info["license"]["name"], "url": _LICENSES.format(info["license"]["identifier"])},
            "contact": info["contact"],
        },
        "servers": contract["servers"],
        "security": contract["security"],
        "tags": [tag for tag in contract["tags"] if tag["name"] in tags],
        "paths": paths,
        "components": components | {"securitySchemes": contract["components"]["securitySchemes"]},
    }


def _is_kept(contract: Tree, operation: Tree) -> bool:
    content = _target(contract, operation["responses"]["200"])["content"]
    return _REQUEST in content and _ABOUT_THE_CONTRACT not in operation["tags"]


def _operation(operation: Tree) -> Tree:
    """An operation with only a body, if it has one, and with answers in JSON."""
    kept = {key: value for key, value in operation.items() if key not in {"parameters", "requestBody", "responses"}}
    if "requestBody" in operation:
        body = operation["requestBody"]
        typed = body["content"][_REQUEST]
        example = next(iter(typed["examples"].values()))["value"]
        kept["requestBody"] = body | {"content": {_REQUEST: {"schema": typed["schema"], "example": example}}}
    elif "parameters" in operation:
        kept["parameters"] = operation["parameters"]
    kept["responses"] = {status: _response(response) for status, response in _by_status(operation["responses"])}
    return kept


def _by_status(responses: Tree) -> list[tuple[str, Tree]]:
    """The responses of an operation, with each problem's status in place of the range that it is in."""
    found = {status: response for status, response in responses.items() if not status.endswith("XX")}
    for status in {str(problem.status) for problem in PROBLEM_TYPES.values()}:
        found.setdefault(status, responses[f"{status[0]}XX"])
    return sorted(found.items())


def _response(response: Tree) -> Tree:
    """An answer in JSON or a problem, with the first paragraph about it, no examples; references are unchanged."""
    if "$ref" in response:
        return response
    description, *_ = response["description"].split("\n\n")
    headers = {name: header for name, header in response["headers"].items() if name != _OF_TABLES}
    content = {kind: {"schema": typed["schema"]} for kind, typed in response["content"].items() if kind in _ANSWERS}
    return response | {"description": description, "headers": headers, "content": content}


def _schema(schema: Tree, *, nullable: bool) -> Tree:
    """Convert a schema from OpenAPI 3.1 to 3.0; in requests, optional properties are not nullable."""
    found: Tree = {
        key: _schema(value, nullable=nullable) if isinstance(value, dict) else value for key, value in schema.items()
    }
    types = schema.get("type")
    if isinstance(types, list):
        (found["type"],) = (each for each in types if each != "null")
        found |= {"nullable": True} if nullable else {}
    if isinstance(schema.get("additionalProperties"), dict) and "properties" in schema:
        found["additionalProperties"] = True  # TypeScript: its type would have to fit the optional properties too
    if None in schema.get("enum", []) and not nullable:
        found["enum"] = [each for each in schema["enum"] if each is not None]
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if exclusive in schema:
            found |= {bound: schema[exclusive], exclusive: True}
    if isinstance(schema.get("examples"), list):
        found["example"], *_ = found.pop("examples")
    return found


def _reached(contract: Tree, node: object) -> Iterator[tuple[str, Tree]]:
    """All components that a part of the contract refers to, directly or indirectly: reference and component."""
    waiting, seen = list(_references(node)), set()
    while waiting:
        reference = waiting.pop(0)
        if reference not in seen:
            seen.add(reference)
            component = _target(contract, {"$ref": reference})
            if reference.startswith("#/components/responses/"):
                component = _response(component)
            waiting += _references(component)
            yield reference, component


def _references(node: object) -> Iterator[str]:
    if isinstance(node, list):
        for each in node:
            yield from _references(each)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref":
                yield value
            else:
                yield from _references(value)


def _target(contract: Tree, node: Tree) -> Tree:
    """The node, or the component that it refers to."""
    if "$ref" not in node:
        return node
    _, _, kind, name = node["$ref"].split("/")
    component: Tree = contract["components"][kind][name]
    return component


def _schema_name(body: Tree) -> str:
    name: str = body["content"][_REQUEST]["schema"]["$ref"].removeprefix(_SCHEMAS)
    return name
