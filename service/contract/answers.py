"""The answers to the example requests, as the application gives them now.

An answer has the name of its request; a table in CSV is asked for the table of its name, or where there are no tables
for each report.
"""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

from werkzeug.test import TestResponse

from service.app import create_app
from service.operations.operation import Operation
from service.settings import read_settings
from service.wire.media_types import CSV, JSON, SVG, TEXT

Examples = dict[str, dict[str, Any]]
"""{media type: {name: a request, and summaries of it and of its answer}}"""

_PARTS = {
    SVG: ("The beginning and the end of a picture", re.compile(r"\A.*</desc>|</svg>\Z")),
    TEXT: ("The beginning of a picture", re.compile(r"\A(?:.*\n){3}")),
}
"""{media type of a picture: what an example shows of it}"""

_QUERY = re.compile(r"`\?([^`]+)`")


def answers_of(operation: Operation, examples: Examples) -> dict[tuple[str, str], dict[str, Any]]:
    """Ask the application: {(status, media type): {name: the example of an answer}}."""
    client = create_app(read_settings({})).test_client()
    found: dict[tuple[str, str], dict[str, Any]] = {}

    def ask(kind: str, name: str, accept: str) -> TestResponse:
        example = examples[kind][name]
        query = _query_of(example) | ({"table": name} if accept == CSV else {})
        body = json.dumps(example["value"]) if kind == JSON else example["value"]
        headers = {"Accept": accept}
        path = f"/v1/{operation.name}"
        answer = client.post(path, data=body, content_type=kind, query_string=query, headers=headers)
        if answer.mimetype != accept:
            raise LookupError(f"The example {name} of {operation.name} is refused: {answer.text}")
        return answer

    for kind, name, accept in _asked(operation, examples):
        answer = ask(kind, name, accept)
        status, value = str(answer.status_code), answer.get_json() if accept == JSON else answer.text
        told = examples[kind][name]["answer"]
        summary = told[accept] if isinstance(told, dict) else told
        if accept == JSON and (status, accept) not in found:
            for drawn, (summary_of_part, part) in _PARTS.items():
                if drawn in operation.media_types:
                    shown = "".join(part.findall(ask(kind, name, drawn).text))
                    found[status, drawn] = {"picture": {"summary": summary_of_part, "value": shown}}
        found.setdefault((status, accept), {})[name] = {"summary": summary, "value": value}
    return found


def _asked(operation: Operation, examples: Examples) -> Iterator[tuple[str, str, str]]:
    """Each example, and the media types of the answers to show: (that of the request, its name, that of the answer)."""
    for name in examples.get(JSON, {}):
        yield JSON, name, JSON
    for name in examples.get(CSV, {}):
        for accept in (CSV,) if operation.tables else (operation.reports or (JSON,)):
            yield CSV, name, accept


def _query_of(example: dict[str, Any]) -> dict[str, str]:
    """The query that an example's description shows."""
    query = _QUERY.search(example.get("description", ""))
    return dict(parse_qsl(query[1], strict_parsing=True)) if query else {}
