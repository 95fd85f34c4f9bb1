"""Parquet files that no writer writes: each is refused, for the right error, before pyarrow sees its pages."""

import numpy as np
import pyarrow as pa
import pytest

from service.wire.formats import parquet_format
from service.wire.formats.parquet_footer import Footer
from service.wire.formats.parquet_format import ParquetTable
from service.wire.formats.parquet_pages import ParquetPage, page_headers
from service.wire.formats.thrift_compact import BINARY, I32, I64, LIST, STRUCT, Reader, written
from service.wire.limits import Limits
from service.wire.problems import Problem
from tests.properties.bodies import parquet_body

LIMITS = Limits(max_rows=1000, max_interpolated_rows=10)
BODY = parquet_body(pa.table({"x": [1.5, 2.5, 3.5], "y": [4.5, 5.5, 6.5]}), row_group_size=2, use_dictionary=False)

ROWS, GROUPS = (3, I64), (4, LIST)
COLUMNS, META = (1, LIST), (3, STRUCT)
PHYSICAL, CODEC, VALUES, COMPRESSED, OFFSET = (1, I32), (4, I32), (5, I64), (7, I64), (9, I64)


def with_footer(change):
    """The file with a footer that `change` has changed in place; its columns are 0 and 1."""
    footer = Footer(BODY)
    anew = footer.of_columns(footer.columns)
    tree = Reader(anew, 4, len(anew) - 8).struct()
    change(tree)
    changed = written(tree)
    start = len(BODY) - 8 - int.from_bytes(BODY[-8:-4], "little")
    return BODY[:start] + changed + len(changed).to_bytes(4, "little") + b"PAR1"


def read(body, *names, limits=LIMITS):
    return [column.cells.to_pylist() for column in ParquetTable(body, limits).read(list(names)).values()]


def refused(body, *names, limits=LIMITS):
    with pytest.raises(Problem) as caught:
        read(body, *names, limits=limits)
    return caught.value.type.code


def meta(tree, group=0, column=0):
    return tree[GROUPS][1][group][COLUMNS][1][column][META]


def lie(group=0, column=0, **values):
    """Change what the footer says about a column in a row group: set a number, or add to it."""
    keys = {"offset": OFFSET, "length": COMPRESSED, "values": VALUES, "codec": CODEC, "physical": PHYSICAL}

    def change(tree):
        found = meta(tree, group, column)
        for name, value in values.items():
            found[keys[name]] = value(found[keys[name]]) if callable(value) else value

    return change


def rows_of_groups(file, *groups):
    def change(tree):
        tree[ROWS] = file
        for position, rows in enumerate(groups):
            tree[GROUPS][1][position][ROWS] = rows
            for column in (0, 1):
                meta(tree, position, column)[VALUES] = rows

    return change


def same_row_groups(tree):
    tree[GROUPS] = STRUCT, [tree[GROUPS][1][0]] * 2
    tree[ROWS] = 4


def same_columns(tree):
    for key in (OFFSET, COMPRESSED):
        meta(tree, 0, 1)[key] = meta(tree, 0, 0)[key]


def overlap(tree):
    meta(tree, 0, 1)[OFFSET] -= 1


def groups_of_bytes(tree):
    tree[GROUPS] = BINARY, [b"a"]


def test_the_file_that_the_lies_start_from_is_read():
    assert read(with_footer(lambda _: None), "1", "0") == [[4.5, 5.5, 6.5], [1.5, 2.5, 3.5]]


OUTSIDE = "outside the file, or has another length"
FOOTERS = {
    "more rows than groups have": (rows_of_groups(4), "do not add up to the rows of the file"),
    "negative rows": (rows_of_groups(-3, -1, -2), "do not add up to the rows of the file"),
    "negative rows of a group": (rows_of_groups(1, 3, -2), OUTSIDE),
    "a start within the magic": (lie(offset=3), OUTSIDE),
    "an end before the start": (lie(length=-1), OUTSIDE),
    "an end beyond the footer": (lie(1, 1, length=lambda _: len(BODY)), OUTSIDE),
    "more values than rows": (lie(values=3), OUTSIDE),
    "row groups that are one": (same_row_groups, "share their pages"),
    "columns that are one": (same_columns, "share their pages"),
    "columns that overlap": (overlap, "share their pages"),
    "no codec": (lie(codec=8), "not stored as the type in its schema, or its codec is unknown"),
    "a negative codec": (lie(codec=-1), "not stored as the type in its schema, or its codec is unknown"),
    "another physical type": (lie(1, physical=2), "not stored as the type in its schema, or its codec is unknown"),
    "row groups of bytes": (groups_of_bytes, "declares another type than its items have"),
}


@pytest.mark.parametrize(("change", "detail"), FOOTERS.values(), ids=FOOTERS)
def test_a_lie_of_the_footer_is_found_out(change, detail):
    def understand(body):
        footer = Footer(body)
        footer.chunks(footer.columns)
        footer.of_columns(footer.columns)

    body = with_footer(change)
    with pytest.raises(ValueError, match=detail):
        understand(body)
    assert refused(body, "0", "1") == "malformed_body"


def test_a_column_ends_before_the_length_of_the_footer():
    """That is eight bytes before the end of the file."""

    def ending(at):
        def change(tree):
            found = meta(tree, 1, 1)
            found[COMPRESSED] = at - found[OFFSET]

        return Footer(body := with_footer(change)), len(body) - 8

    _, last = ending(1000)  # a number with as many digits
    footer, _ = ending(last)
    assert footer.chunks(footer.columns)[footer.columns[1]][1].end == last
    footer, _ = ending(last + 1)
    with pytest.raises(ValueError, match=OUTSIDE):
        footer.chunks(footer.columns)


def test_columns_that_are_not_read_may_lie():
    assert read(with_footer(same_columns), "0") == [[1.5, 2.5, 3.5]]


def page(values=3, uncompressed=10, compressed=10, extra=None):
    own = {(1, I32): values, (2, I32): 0, (3, I32): 3, (4, I32): 3}
    header = written({(1, I32): 0, (2, I32): uncompressed, (3, I32): compressed, (5, STRUCT): own, **(extra or {})})
    return header + bytes(max(compressed, 0))


def pages_of(body, rows=3):
    return list(page_headers(body, 0, len(body), rows))


def test_the_page_that_the_lies_start_from_is_read():
    one = page()
    assert pages_of(one) == [ParquetPage(3, len(one) - 10, 10, 0)]
    assert pages_of(one + one, 6) == pages_of(one) * 2


PAGES = {
    "negative rows": page(-1),
    "negative length when unpacked": page(uncompressed=-1),
    "negative length": page(compressed=-1),
    "more rows than there are": page(4),
    "an end beyond the column": page()[:-1],
}


@pytest.mark.parametrize("body", PAGES.values(), ids=PAGES)
def test_a_lie_of_a_page_is_found_out(body):
    with pytest.raises(ValueError, match="longer than its column"):
        pages_of(body)


def long_header(size):
    return {(9, BINARY): b"x" * size}


def test_the_header_of_a_page_is_short():
    assert pages_of(page(extra=long_header(60_000)))[0].header_bytes > 60_000
    with pytest.raises(ValueError, match=r"^$"):
        pages_of(page(extra=long_header(1 << 16)))


def test_the_headers_of_all_pages_are_short_together(monkeypatch):
    table = pa.table({"x": np.arange(600.0)})
    body = parquet_body(table, use_dictionary=False, data_page_size=8, write_batch_size=10)
    column = Footer(body).columns[0]
    chunk = Footer(body).chunks([column])[column][0]
    together = sum(found.header_bytes for found in page_headers(body, chunk.start, chunk.end, chunk.rows))
    monkeypatch.setattr(parquet_format, "LONGEST_HEADER", together)
    assert len(read(body, "x")[0]) == 600
    monkeypatch.setattr(parquet_format, "LONGEST_HEADER", together - 1)
    assert refused(body, "x") == "invalid_request"


def test_a_cell_that_is_there_many_times_is_counted_each_time():
    body = parquet_body(pa.table({"x": np.ones(1000), "y": np.ones(1000)}))
    assert len(body) < 1000
    assert refused(body, "x", "y", limits=Limits(1000, 1, 15_999)) == "body_too_large"
    assert len(read(body, "x", "y", limits=Limits(1000, 1, 16_000))) == 2
