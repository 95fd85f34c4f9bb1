"""What an operation is: one declaration that the service, the command line and the contract read.

Knows schemas and answers in general; no operation.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import orjson
from marshmallow import Schema

from service.charts.charts import pictures_within
from service.charts.picture import CHARTS, Picture, Pictures
from service.curves.drawing import DrawingOptions
from service.wire.answers.encoders import DRAWN, ONE_TABLE, Encoded, json_answer, warnings_header
from service.wire.answers.parts import AnswerTable, Document, Part
from service.wire.formats.tables import TableForm
from service.wire.limits import Limits
from service.wire.media_types import JSON
from service.wire.problems import invalid_value
from service.wire.requests.picture_schemas import PICTURE_SCHEMAS


class Checked(Protocol):
    """A request that passed its schema."""

    @property
    def rows(self) -> int:
        """The rows of its longest table."""

    @property
    def charts(self) -> Pictures:
        """The pictures requested within its answer."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What to encode of a result: one table, one picture, or everything, perhaps with pictures."""

    table: str | None = None
    picture: Picture | None = None
    charts: Pictures = ()

    def has(self, table: str) -> bool:
        """Whether this table is among what is encoded."""
        return self.table in {None, table}

    @property
    def drawing(self) -> DrawingOptions | None:
        """The options for drawing; the pictures of one answer differ only in their chart."""
        pictures = self.charts if self.picture is None else (self.picture,)
        if not pictures:
            return None
        charts = frozenset(picture.chart for picture in pictures)
        return DrawingOptions(pictures[0].side, pictures[0].marks, charts)


@dataclass(frozen=True)
class Operation:
    """An operation; its path is /v1/ and its name.

    form       the form of a body that is a table, and the query parameters that go with it.
    evaluate   from the checked request, what to encode of the result, and the limits, to the result.
    answer     the parts of a JSON answer, in order.
    tables     the tables of an answer for formats that hold only one, the default first.
    asked      the tables that a checked request asks for; by default all.
    reports    {media type: writer of a report from the JSON document}
    status     the HTTP status of a result; by default 200.
    """

    name: str
    schema: Schema
    form: TableForm
    evaluate: Callable[[Any, Selection, Limits], Any]
    answer: tuple[Part, ...]
    tables: tuple[AnswerTable, ...] = ()
    asked: Callable[[Any], Collection[str]] | None = None
    reports: Mapping[str, Callable[[Document], bytes]] = field(default_factory=dict)
    status: Callable[[Any, Any], int] = lambda _checked, _result: 200

    @property
    def parameters(self) -> tuple[str, ...]:
        """The query parameters that go with a table, except `table`."""
        return self.form.parameters

    @cached_property
    def media_types(self) -> tuple[str, ...]:
        """The media types of its answers, the default first."""
        drawn = [media_type for media_type in DRAWN if (self.name, media_type) in PICTURE_SCHEMAS]
        return (JSON, *(ONE_TABLE if self.tables else ()), *self.reports, *drawn)

    def table(self, name: str | None) -> AnswerTable:
        """The table of this name. Raises Problem."""
        for table in self.tables:
            if table.name == name:
                return table
        known = ", ".join(table.name for table in self.tables)
        raise invalid_value("/table", "not_one_of", f"Must be one of {known}.")

    def asked_table(self, checked: Checked, named: str | None) -> str:
        """Choose the table of an answer that holds one: the named, or the first that is asked for. Raises Problem."""
        asked = {table.name for table in self.tables} if self.asked is None else self.asked(checked)
        if named is None:
            return next(table.name for table in self.tables if table.name in asked)
        if named not in asked:
            needs = self.table(named).needs
            if needs is None:
                raise invalid_value("/table", "not_one_of", "include does not name this table.")
            raise invalid_value("/table", "missing", f"This table needs {needs}.")
        return named

    def encode(self, accept: str, result: Any, selection: Selection) -> Encoded:  # noqa: ANN401  # its own result
        """Write a result."""
        if accept == JSON:
            charts = pictures_within(self.name, result, selection.charts)
            return Encoded(json_answer(self.answer, result, charts), {})
        if accept in self.reports:
            document = orjson.loads(b"".join(json_answer(self.answer, result, {})))
            return Encoded([self.reports[accept](document)], {})
        headers = warnings_header(result.warnings) if self.tables else {}
        if accept in ONE_TABLE:
            table = self.table(selection.table)
            return Encoded(ONE_TABLE[accept](table.one_table(result), table), headers)
        encoded = DRAWN[accept](self.name, result, selection.picture or Picture(CHARTS[self.name][0]))
        return Encoded(encoded.pieces, headers | encoded.headers)
