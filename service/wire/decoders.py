"""From a body and its query parameters to one document of plain values and columns, whatever the media type.

The document has the shape of the JSON body, so that one schema checks them all. Knows formats; not what is valid.
"""

from collections.abc import Callable, Mapping

from service.wire.csv_format import CsvTable
from service.wire.json_format import decode_json
from service.wire.problems import invalid_value, pointer_token
from service.wire.tables import Decoded, TableForm

Decoder = Callable[[bytes, Mapping[str, str], TableForm], Decoded]
"""From a body, the query parameters, and what a table is to the operation."""


def _decode_json_body(body: bytes, parameters: Mapping[str, str], _: TableForm) -> Decoded:
    """Read everything from the body; a JSON body takes no query parameters."""
    for key in parameters:
        message = "With a JSON body, options are fields of the body; the query takes only table, for a CSV answer."
        raise invalid_value(f"/{pointer_token(key)}", "unknown_field", message)
    return Decoded(decode_json(body))


def _decode_csv_body(body: bytes, parameters: Mapping[str, str], form: TableForm) -> Decoded:
    return form.decode(CsvTable(body), parameters)


DECODERS: dict[str, Decoder] = {"application/json": _decode_json_body, "text/csv": _decode_csv_body}
"""{media type: decoder}, the default first."""
