"""Recognises JSON bodies with a table in another shape than columns; each refusal says how to send it.

Knows what pandas and other tools write, not what a request means.
"""

from typing import Any

from service.wire.columns import Column
from service.wire.media_types import CSV
from service.wire.problems import FieldError, invalid_request, invalid_value, pointer_token
from service.wire.usual_names import likely

_SEND_COLUMNS = 'send an object of columns, such as {"scores": [0.9, 0.2], "labels": [1, 0]}; in Python, '
_MOST_EXAMINED = 100
"""A body with more fields is not examined."""

_ROWS = ("dataframe_records", "instances", "predictions", "inputs", "outputs")
_OF_MODEL_SERVERS = frozenset(
    {*_ROWS, "dataframe_split", "id", "model_name", "model_version", "name", "parameters", "params", "signature_name"}
)
"""The fields that model servers take and give: those with rows, and those beside them."""

_CALL = 'df.to_dict(orient="list")'


def refuse_other_shapes(document: object) -> None:
    """Refuse a body that is not an object, or is a whole table of pandas; any other object is left to the schema."""
    found = _found(document)
    if found:
        raise invalid_value("", "not_an_object", found)


def refuse_names_of_other_libraries(document: object) -> None:
    """Refuse columns that have another library's names."""
    if not isinstance(document, dict) or len(document) > _MOST_EXAMINED or document.keys() & {"counts", "evaluations"}:
        return
    missing = [key for key in ("scores", "labels") if key not in document]
    if not missing:
        return
    renamed = likely([name for name, value in document.items() if isinstance(value, (list, Column))], missing)
    errors = [
        FieldError(f"/{pointer_token(name)}", "unknown_field", f"Unknown field; did you mean {key}?")
        for key, name in renamed.items()
    ]
    if errors:
        raise invalid_request(errors)


def _found(document: object) -> str | None:
    if isinstance(document, str):
        return _text(document)
    if isinstance(document, list) and document and isinstance(document[0], (dict, list)):
        return f"The body is a list of rows; {_SEND_COLUMNS}{_CALL}."
    if not isinstance(document, dict):
        return f"The body is not an object; {_SEND_COLUMNS}{_CALL}."
    for orient, keys in (("split", {"columns", "data"}), ("table", {"schema", "data"})):
        if keys <= document.keys():
            return f'The body is a table as pandas writes it with orient="{orient}"; {_SEND_COLUMNS}{_CALL}.'
    row = next(iter(document.values()), None)
    if isinstance(row, dict) and next(iter(document)).isdecimal():
        return f'The body is an object of rows, as pandas writes it with orient="index"; {_SEND_COLUMNS}{_CALL}.'
    call = _call_that_converts(document)
    return None if call is None else f"The body has a model server's form; {_SEND_COLUMNS}{call}."


def _call_that_converts(document: dict[str, Any]) -> str | None:
    """The call that makes columns of what model servers take and give; None for anything else."""
    if not document.keys() <= _OF_MODEL_SERVERS:
        return None
    if isinstance(document.get("dataframe_split"), dict):
        return 'pandas.DataFrame(**body["dataframe_split"]).to_dict(orient="list")'
    for name in _ROWS:
        value = document.get(name)
        first = value[0] if isinstance(value, list) and value else None
        if isinstance(first, dict) and {"name", "data"} <= first.keys():  # a list of tensors
            return f'{{each["name"]: each["data"] for each in body["{name}"]}}'
        if isinstance(first, (dict, list, Column)):
            names = "" if isinstance(first, dict) else ', columns=["scores", "labels"]'
            return f'pandas.DataFrame(body["{name}"]{names}).to_dict(orient="list")'
        if isinstance(value, dict):
            return f'body["{name}"]'
    return None


def _text(text: str) -> str:
    """Say what to do about a body that is a JSON string with other text in it."""
    if text.lstrip().startswith(("{", "[")):
        return "The body is a JSON string that holds JSON: it was encoded twice. Send that text itself as the body."
    if "," in text:
        return f"The body is a JSON string that seems to hold CSV: send that text itself, with Content-Type: {CSV}."
    return f"The body is a string; {_SEND_COLUMNS}{_CALL}."
