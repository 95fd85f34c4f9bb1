"""Columns of Arrow and Parquet: their cells as those that the other modules know."""

from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.wire.columns.column import Column, is_bytes, is_text, one_array

_LONGEST_TYPE = 60
"""The characters of a type's name that a problem repeats."""


def unreadable_column(kind: pa.DataType | str) -> Column:
    """Make a column that no operation reads; its type's name may hold any text, such as the name of a time zone."""
    return Column(None, kind="".join(filter(str.isprintable, str(kind)[:_LONGEST_TYPE])))


def typed_column(cells: pa.ChunkedArray, name: str = "") -> Column:
    """Make a column of validated cells. Bytes that are UTF-8 are text; a dictionary of text stays encoded.

    name   what problems and listings call its type, if not as pyarrow does.
    """
    kind = cells.type
    if isinstance(kind, pa.Bool8Type):
        cells = pa.chunked_array([pc.not_equal(chunk.storage, 0) for chunk in cells.chunks], pa.bool_())
    elif types.is_dictionary(kind) and (is_text(kind) or is_bytes(kind)):
        with suppress(pa.ArrowInvalid):
            return Column(_one_dictionary(cells))
        return unreadable_column("binary that is not UTF-8")
    elif types.is_dictionary(kind):
        cells = pa.chunked_array([chunk.dictionary_decode() for chunk in cells.chunks], kind.value_type)
    elif types.is_string_view(kind) or is_bytes(kind):
        try:
            cells = cells.cast(pa.large_string())
        except pa.ArrowInvalid:
            return unreadable_column("binary that is not UTF-8")
    if types.is_float16(cells.type):  # pyarrow lacks functions for these
        cells = cells.cast(pa.float32())
    return Column(one_array(cells), kind=unreadable_column(name or kind).kind)


def _one_dictionary(cells: pa.ChunkedArray) -> pa.DictionaryArray:
    """Give all chunks one dictionary of text, without nulls: a row that points to one has none itself."""
    chunks = []
    for chunk in cells.chunks:
        texts, indices = chunk.dictionary.cast(pa.large_string()), chunk.indices
        if texts.null_count:
            indices = pc.if_else(texts.is_null().take(indices), pa.scalar(None, indices.type), indices)
        chunks.append(pa.DictionaryArray.from_arrays(indices.cast(pa.int32()), texts.fill_null("")))
    whole = pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.large_string()))
    return one_array(whole.unify_dictionaries())
