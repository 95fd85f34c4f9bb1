"""A second FILE of a command, whose sample is a field of the request: `rocpr curves test.csv --tuning validation.csv`.

It is read as the first one is. Knows files and the parts of a question; nothing of what the field means.
"""

from dataclasses import replace

import click

from service.cli.asking import Question, RequestPart
from service.cli.command_error import fail
from service.cli.files import STANDARD_INPUT
from service.cli.options import Texts, flag
from service.cli.sources import FileAccess, refuse_two_of_standard_input
from service.wire.formats.inputs import HOW_TO_READ, MEANING, PLAIN
from service.wire.formats.query_options import options_of
from service.wire.formats.tables import TableForm
from service.wire.requests.query_fields import READING_FIELDS

_SAMPLE_FORM = TableForm(READING_FIELDS, (PLAIN,))


def with_file_beside(question: Question, field: str, path: str | None, given: Texts, access: FileAccess) -> Question:
    """Add the sample in a file to a question about one table or JSON file. Raises UsageError."""
    if path is None:
        return question
    if access.engine is not None:
        raise click.UsageError(f"{flag(field)} cannot be combined with --engine.")
    if access.truth is not None:
        raise click.UsageError(f"{flag(field)} cannot be combined with --truth.")
    (first,) = question.parts
    if STANDARD_INPUT in first.source.name:
        refuse_two_of_standard_input(("-", path))
    (source,) = access.sources([path], ())
    if not first.source.is_table and field in question.document:
        fail([f"Error: {first.source.name} has the field {field}; leave out {flag(field)}, or the field."])
    texts = {key: text for key, text in given.items() if key in (*PLAIN.columns, *MEANING, *HOW_TO_READ)}
    meaning = options_of({key: texts[key] for key in MEANING if key in texts}, READING_FIELDS)
    part = RequestPart(source, _SAMPLE_FORM, texts, texts, f"/{field}", meaning=meaning)
    return replace(question, parts=[first, part])
