"""The schema of a request to list a table's columns, of any kind and equal length.

Knows columns; nothing of what operations need from them.
"""

from dataclasses import dataclass
from typing import Any

from marshmallow import ValidationError, fields, post_load

from service.charts.picture import Pictures
from service.curves.clock import in_time
from service.curves.errors import counted_rows
from service.wire.columns import Contents, Listing, contents
from service.wire.problems import MAX_ERRORS
from service.wire.requests.fields import invalid
from service.wire.requests.object_schemas import ObjectSchema
from service.wire.wrong import Wrong


@dataclass(frozen=True, slots=True, eq=False)
class ColumnsRequest:
    """A checked table, with the contents of its columns."""

    listing: Listing
    charts: Pictures = ()

    @property
    def rows(self) -> int:
        """The rows of the table."""
        return self.listing.rows


class ContentsList(fields.Field[tuple[tuple[str, Contents], ...]]):
    """Columns with their names, deserialised to their contents."""

    def _deserialize(  # as marshmallow calls it
        self, value: list[tuple[str, object]], *_: object, **__: object
    ) -> tuple[tuple[str, Contents], ...]:
        listed: list[tuple[str, Contents]] = []
        errors: dict[str, list[Wrong]] = {}
        for name, column in in_time(value):
            try:
                listed.append((name, contents(column)))
            except Wrong as error:
                errors[name] = [error]
                if len(errors) >= MAX_ERRORS:
                    break
        if errors:
            raise ValidationError(errors)
        return tuple(listed)


class ColumnsRequestSchema(ObjectSchema):
    """A request to list columns: the table's columns, and its number of rows if the format declares it."""

    columns = ContentsList()
    rows = fields.Raw()

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> ColumnsRequest:
        """Build the request, if the columns have as many rows as the table, or as the first column."""
        if "columns" not in data:
            raise invalid("missing", "Give columns, lists of equal length; null and [] count as absent.", "columns")
        columns: tuple[tuple[str, Contents], ...] = data["columns"]
        rows: Any = data.get("rows", columns[0][1].rows)
        for name, found in columns:
            if found.rows not in {None, rows}:
                message = f"This column has {counted_rows(found.rows)}; the one before it has {rows}."
                raise ValidationError({"columns": {name: [Wrong("lengths_differ", message)]}})
        return ColumnsRequest(Listing(rows, columns))
