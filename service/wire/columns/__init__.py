"""Columns of any format: how they are read as numbers, labels and slices, and what a listing says of them."""

from service.wire.columns.categorical import Categories, categories
from service.wire.columns.column import Column, is_readable, items, one_array
from service.wire.columns.joining import Ids, ids, partners
from service.wire.columns.labelled import Labels, distinct_labels, labels
from service.wire.columns.listed import MOST_VALUES, Contents, Listing, contents
from service.wire.columns.numeric import INFINITE_TEXTS, numbers
from service.wire.columns.sentences import LEAVE_OUT, NO_VALUE, is_unicode, shown
from service.wire.columns.typed import typed_column, unreadable_column

__all__ = [
    "INFINITE_TEXTS",
    "LEAVE_OUT",
    "MOST_VALUES",
    "NO_VALUE",
    "Categories",
    "Column",
    "Contents",
    "Ids",
    "Labels",
    "Listing",
    "categories",
    "contents",
    "distinct_labels",
    "ids",
    "is_readable",
    "is_unicode",
    "items",
    "labels",
    "numbers",
    "one_array",
    "partners",
    "shown",
    "typed_column",
    "unreadable_column",
]
