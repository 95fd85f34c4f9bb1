"""`POST /v1/columns`: what a table holds."""

from typing import Any

from service.operations.operation import Operation
from service.wire.answers.parts import AnswerTable, AnswerValue, Cells
from service.wire.columns import MOST_VALUES, Listing
from service.wire.formats.listings import EveryColumn
from service.wire.requests.columns_schemas import ColumnsRequestSchema


def _columns(listing: Listing) -> dict[str, Any]:
    found = [contents for _, contents in listing.columns]
    return {
        # In a JSON body a column's name may have half of a surrogate pair.
        "name": [name.encode("utf-8", "replace").decode() for name, _ in listing.columns],
        "type": [each.kind for each in found],
        "missing": [each.missing for each in found],
        "values": [each.values for each in found],
        "more": [each.more for each in found],
    }


OPERATION = Operation(
    name="columns",
    schema=ColumnsRequestSchema(),
    form=EveryColumn({}, (), answers_tables=False),
    evaluate=lambda checked, _selection, _limits: checked.listing,
    answer=(
        AnswerValue("rows", "How many rows the table has.", lambda listing: listing.rows, kind="whole"),
        AnswerTable(
            "columns",
            "A row for each column of the table, in its order.",
            _columns,
            component="ColumnsTable",
            columns=(
                Cells.text("name", "The name of the column. No operation reads columns that share a name."),
                Cells.text(
                    "type",
                    "What operations can read the column as: `number`, `boolean` or `text`; `null` where no cell has a "
                    "value. In CSV, a column is a number or boolean column if all its values are. Bytes that are UTF-8 "
                    "are text. No operation reads any other type as scores: its name is that of the format, such as "
                    "`timestamp[us]`; `duplicate` if another column has the same name; in JSON also `mixed`, `list` or "
                    "`object`.",
                ),
                Cells.whole(
                    "missing",
                    "How many cells have no value: nulls, NaN, and empty ones in CSV. `null` if the cells were not "
                    "read.",
                    null=True,
                ),
                Cells(
                    "values",
                    "values",
                    f"At most {MOST_VALUES} distinct values in order of appearance, as `positive_label` takes them: in "
                    "CSV text, otherwise numbers, booleans and text as they are.",
                ),
                Cells.flag(
                    "more",
                    "Whether the column has other values: more than 20, text longer than 200 characters, values that "
                    "JSON cannot express (such as infinity), or cells that were not read.",
                ),
            ),
        ),
    ),
)
