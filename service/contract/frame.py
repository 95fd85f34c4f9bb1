"""The frame of the contract: prose.yaml, with what paths, answers and problems have in common written out.

Knows what every answer has, such as its headers; no operation.
"""

from pathlib import Path
from typing import Any

import orjson
import yaml

from service.contract.schemas import Tree, reference
from service.wire.problems import PROBLEM_JSON, Problem, invalid_value, problem_document

_FOLDER = Path(__file__).parent
_USUAL_PATH = "/v1/curves"
"""The path in most examples of problems."""

_OF_ALL = ("X-Request-ID", "Server-Timing")
_OF_FAILURES = {
    f"{first}XX": {"$ref": f"#/components/responses/{name}"} for first, name in ((4, "Refusal"), (5, "Failure"))
}


def frame() -> Tree:
    """The contract without what declarations say."""
    tree = loaded("prose.yaml")
    tree["paths"] = {
        path: {method: _with_answer(told) if "type" in told else told for method, told in item.items()}
        for path, item in tree["paths"].items()
    }
    for told in tree["components"]["responses"].values():
        told["headers"] = headers(*_OF_ALL) | told.pop("headers", {})
        told["content"] = problems(told.pop("problems", {}), _USUAL_PATH)
    return tree


def loaded(name: str) -> Tree:
    """A file of this folder."""
    tree: Tree = yaml.load((_FOLDER / name).read_bytes(), Loader=yaml.CSafeLoader)
    return tree


def headers(*names: str) -> Tree:
    """References to headers."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def response(description: str, content: Tree, *more: str) -> Tree:
    """A response with the headers that every response has, and more."""
    return {"description": description, "headers": headers(*_OF_ALL, *more), "content": content}


def all_responses(of_statuses: Tree) -> Tree:
    """All responses of a path."""
    return dict(sorted(of_statuses.items())) | _OF_FAILURES


def problems(told: Tree, path: str) -> Tree:
    """Examples of problems, whose names are their codes unless these are given: {media type: its content}."""
    examples = {name: {"summary": each["summary"], "value": _problem(name, each, path)} for name, each in told.items()}
    return {PROBLEM_JSON: {"schema": reference("Problem"), "examples": examples}}


def _problem(name: str, told: Tree, path: str) -> Any:  # noqa: ANN401  # a JSON document
    code, detail = told.get("code", name), told["detail"]
    problem = invalid_value(told["pointer"], code, detail) if "pointer" in told else Problem(code, detail)
    return orjson.loads(problem_document(problem, told.get("instance", path)))


def _with_answer(told: Tree) -> Tree:
    """A path that evaluates nothing."""
    own = {key: value for key, value in told.items() if key not in {"answer", "type", "schema", "examples", "stored"}}
    schema = reference(told["schema"]) if "schema" in told else {"type": "string"}
    content = {told["type"]: {"schema": schema, "examples": told["examples"]}}
    if not told.get("stored"):
        return own | {"responses": all_responses({"200": response(told["answer"], content)})}
    same = {"description": "The client has the present version.", "headers": headers(*_OF_ALL, "ETag")}
    return own | {"responses": all_responses({"200": response(told["answer"], content, "ETag"), "304": same})}
