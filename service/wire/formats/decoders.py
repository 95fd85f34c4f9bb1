"""From a body of any media type and its query parameters to one document of plain values and columns.

The document has the shape of the JSON body, so that one schema checks them all. Knows formats, not what is valid.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from service.wire.formats.arrow_format import ArrowTable
from service.wire.formats.codings import Body
from service.wire.formats.csv_dialect import Dialect
from service.wire.formats.csv_format import CsvTable
from service.wire.formats.inputs import CSV_PARAMETERS
from service.wire.formats.json_format import decode_json
from service.wire.formats.json_shapes import refuse_other_shapes
from service.wire.formats.missing_cells import column_pointers
from service.wire.formats.parquet_format import ParquetTable
from service.wire.formats.query_options import Decoded
from service.wire.formats.table_columns import Table
from service.wire.formats.tables import TableForm
from service.wire.limits import Limits
from service.wire.media_types import ARROW_FILE, ARROW_STREAM, CSV, JSON, PARQUET
from service.wire.problems import invalid_value

Decoder = Callable[[Body, Mapping[str, str], TableForm, Limits], Decoded]
"""From a body, the query parameters, the operation's form of a table, and the limits."""

TableReader = Callable[[Body, Mapping[str, str], Limits], Table]
"""From a body, the query parameters and the limits to a table whose columns are read on demand."""


def _decode_json_body(body: Body, parameters: Mapping[str, str], form: TableForm, limits: Limits) -> Decoded:
    """Read the body, and add the query's options."""
    form.check(parameters)
    _refuse_dialect(parameters)
    document = decode_json(bytes(body), limits)  # copies a file: only bytes can be searched as text
    refuse_other_shapes(document)
    return form.complete(document, parameters)


def _decode_csv_body(body: Body, parameters: Mapping[str, str], form: TableForm, limits: Limits) -> Decoded:
    form.check(parameters)
    table = _csv_table(body, parameters, limits)
    decoded = form.decode(table, parameters if table.has_header else _with_columns(table, form, parameters))
    return replace(decoded, row_of=dict.fromkeys(column_pointers(decoded.document), table.number_of))


def _csv_table(body: Body, parameters: Mapping[str, str], limits: Limits) -> CsvTable:
    return CsvTable(bytes(body), limits, Dialect.of(parameters))


def _with_columns(table: CsvTable, form: TableForm, parameters: Mapping[str, str]) -> Mapping[str, str]:
    """Of exactly two columns without names, the first are scores and the second labels, unless the query says more."""
    free = [name for name in table.header if name not in parameters.values()]
    wanted = [key for key in ("scores", "labels") if key in form.parameters and key not in parameters]
    if len(table.header) != 2:  # noqa: PLR2004  # scores and labels
        return parameters
    return {**parameters, **dict(zip(wanted, free, strict=False))}


def _columnar(make: Callable[[Body, Limits], Table]) -> TableReader:
    """Make the reader of a table that is not CSV."""

    def table_of(body: Body, parameters: Mapping[str, str], limits: Limits) -> Table:
        _refuse_dialect(parameters)
        return make(body, limits)

    return table_of


def _decoder(read: TableReader) -> Decoder:
    return lambda body, parameters, form, limits: form.decode(read(body, parameters, limits), parameters)


def _refuse_dialect(parameters: Mapping[str, str]) -> None:
    """Refuse the parameters of CSV with a body of another format."""
    for key in CSV_PARAMETERS:
        if key in parameters:
            raise invalid_value(f"/{key}", "exclusive", f"{key} is for CSV; this body has another format.")


TABLES: dict[str, TableReader] = {
    CSV: _csv_table,
    ARROW_STREAM: _columnar(ArrowTable),
    ARROW_FILE: _columnar(lambda body, limits: ArrowTable(body, limits, is_file=True)),
    PARQUET: _columnar(ParquetTable),
}
"""{media type of a table: what reads it}"""

DECODERS: dict[str, Decoder] = {
    JSON: _decode_json_body,
    **{media_type: _decoder(read) for media_type, read in TABLES.items()},
    CSV: _decode_csv_body,
}
"""{media type: decoder}, the default first."""
