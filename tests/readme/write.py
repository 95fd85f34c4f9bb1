"""Writes what commands print now into the documents, under each command.

    python -m tests.readme.write

A block that still holds is left as it is. Read what changed: the prose around it may have to change, too.
"""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.readme.commands import Example, beside, examples, has_curl, run
from tests.readme.documents import DOCUMENTS, ROOT, text_of
from tests.readme.test_commands import RANDOM, check
from tests.support.ready_rocpr import ready_rocpr
from tests.support.servers import rocpr_serve


def laid_out(value: object, indent: str = "") -> str:
    """JSON as the documents have it: a line for each field, and one for a list without objects."""
    inner = f"{indent}  "
    match value:
        case dict() if value:
            lines = [f"{json.dumps(key, ensure_ascii=False)}: {laid_out(each, inner)}" for key, each in value.items()]
            opening, closing = "{}"
        case list() if any(isinstance(each, dict) for each in value):
            lines = [laid_out(each, inner) for each in value]
            opening, closing = "[]"
        case _:
            return json.dumps(value, ensure_ascii=False)
    body = ",\n".join(f"{inner}{line}" for line in lines)
    return f"{opening}\n{body}\n{indent}{closing}"


def updated(document: str, printed: Callable[[Example], str]) -> str:
    """The text of a document in which each command is followed by what it prints."""
    text = text_of(document)
    place = 0
    for example in examples(document):
        place = text.index(f"```{example.language}\n{example.output}```\n", text.index(example.command, place))
        output = printed(example)
        try:
            check(example, output)
        except AssertionError:
            is_json = example.language == "json"
            shown = f"{laid_out(json.loads(output))}\n" if is_json else RANDOM.sub("...", output)
            start = place + len(f"```{example.language}\n")
            text = text[:start] + shown + text[start + len(example.output) :]
    return text


def main() -> None:
    """Write all documents."""
    with (
        TemporaryDirectory() as folder,
        rocpr_serve(ROOT, Path(folder) / "log") as server,
        ready_rocpr(Path(folder)) as rocpr,
    ):
        for document in DOCUMENTS:
            text = updated(document, lambda example: run(example.command, server.port, beside(rocpr), curl=has_curl()))
            (ROOT / document).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
