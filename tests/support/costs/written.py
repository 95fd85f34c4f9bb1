"""The longest answers to short requests. `python -m tests.tools.costs --written` prints the bytes that rocpr writes.

An answer repeats what a request says once: names of slices, classes and evaluations, the texts of a dictionary. It
also has rows that were not sent, such as those of an interpolated curve. Each request asks for the most of one kind.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from service.answer import answer
from service.charts.picture import CHARTS
from service.curves.classes import MOST_CLASSES
from service.curves.slicing import MOST_SLICE_COLUMNS
from service.request import Request
from service.wire.answers.output import Output
from service.wire.formats.codings import Piece, compress
from service.wire.media_types import ARROW_STREAM, CSV, JSON, MARKDOWN, SVG, XML
from service.wire.requests.gates_schemas import MOST_RULES
from service.wire.requests.picture_schemas import LONGEST_TITLE
from service.wire.requests.slice_columns import LONGEST_VALUE
from service.wire.requests.slices_schemas import MOST_SLICE_POINTS
from tests.properties.bodies import arrow_body
from tests.support.asking import LIMITS
from tests.support.costs.families import BIG_BODY_BYTES, asking
from tests.support.costs.measure import SMALL, small_answer
from tests.support.costs.other_families import compared, rule
from tests.support.costs.tables import TABLES, classes, counts, sample

FORMS = {"JSON": JSON, "CSV": CSV, "Arrow": ARROW_STREAM}
QUOTE, CONTROL, FACE = '"', "\x01", "\N{GRINNING FACE}"
"""Characters that JSON escapes with two bytes, with six, and that take four."""


@dataclass(frozen=True)
class Written:
    """What a request made the service write.

    lane   where it is answered: small in the server's process, big in an evaluator.
    held   the bytes that the server's process held for it.
    """

    name: str
    sent: int
    written: int
    lane: str
    held: int
    status: int

    def __str__(self) -> str:
        ratio = self.written / self.sent
        return f"| {self.name} | {self.sent:,} | {self.written:,} | {ratio:,.0f} | {self.lane} | {self.status} |"


HEADER = "| request | bytes sent | bytes written | written / sent | lane | status |\n|---|---:|---:|---:|---|---:|"


class _Counting(Output):
    """Counts an answer's bytes without keeping them."""

    def __init__(self) -> None:
        super().__init__()
        self.size = 0

    def write(self, piece: Piece) -> None:
        self.size += len(piece)


def written(name: str, request: Request) -> Written:
    """Answer a request as the lane does that takes it."""
    packed = compress("gzip", bytes(request.body)) if request.content_encoding == "identity" else request.body
    sent = replace(request, body=packed, content_encoding="gzip")
    small = None if len(sent.body) > BIG_BODY_BYTES else small_answer(sent)
    counting = _Counting()
    result = small or answer(sent, LIMITS, output=counting)
    length = len(small.body) if small else counting.size + len(result.body)
    query = sum(len(key) + len(text) + 2 for key, text in sent.parameters)
    held = len(small.body) if small else 0
    return Written(name, len(sent.body) + query, length, "small" if small else "big", held, result.status)


def requests() -> Iterator[tuple[str, Request]]:
    """The worst of each operation, with their names."""
    yield from _of_curves()
    for name, form in FORMS.items():
        yield (
            f"trade-offs, every row on the hull, {name}",
            asking("tradeoffs", TABLES["counts, a root"](20_000), accept=form),
        )
        for names in ("quoted", "of four bytes"):
            crossings = compared("one that crosses equal ones", 50, 300, names)
            yield f"comparison, 49 equal curves, names {names}, {name}", asking("comparisons", crossings, accept=form)
        yield f"classes, {MOST_CLASSES} long names, {name}", asking("classes", _classes(), accept=form)
    crossings = compared("one that crosses equal ones", 50, 300, "quoted") | {"charts": [*CHARTS["comparisons"]]}
    yield "comparison, drawn", asking("comparisons", crossings)
    yield "classes, drawn", asking("classes", _classes() | {"charts": [*CHARTS["classes"]]})
    yield from _of_slices()
    yield from _of_gates()
    yield "columns, one dictionary of 200 characters for all", _columns()


def _of_curves() -> Iterator[tuple[str, Request]]:
    few = counts([100_000 - 2], [10**15])
    drawn = {"include": ["interpolated_pr", "achievable_pr"], "interpolation": {"every": 1}}
    for name, form in FORMS.items():
        yield f"curves, 1 row, interpolated, {name}", asking("curves", few | drawn, accept=form)
    rows = sample(20_000) | {"include": ["points", "calibration", "interpolated_pr", "achievable_pr"]}
    yield "curves, 20,000 rows, all tables", asking("curves", rows)
    title = [("title", FACE * LONGEST_TITLE), ("side", "1200")]
    yield "curves, drawn", asking("curves", sample(20_000), accept=SVG, query=title)
    words = {"scores": [1, 0] * 100, "labels": [FACE * 10_000, CONTROL * 10_000] * 100, "positive_label": FACE * 10_000}
    yield "curves, long labels", asking("curves", words)


def _classes() -> dict[str, Any]:
    given = classes(MOST_CLASSES, 2 * MOST_CLASSES)
    names = {name: f"{number:02d}" + FACE * 98 for number, name in enumerate(given["scores"])}
    scores = {names[name]: column for name, column in given["scores"].items()}
    return {"scores": scores, "labels": [names[name] for name in given["labels"]]}


def slices(count: int, points: int, *, columns: int = 1, length: int = LONGEST_VALUE, character: str = "x") -> Any:
    """A request for slices with long values."""
    values = [f"{row // 2}".ljust(length, character) for row in range(2 * count)]
    read = [{"metric": "precision_at_recall", "at": at / MOST_SLICE_POINTS} for at in range(points)]
    sliced = {f"c{number}": values for number in range(columns)}
    return {"scores": [0.5] * 2 * count, "labels": [1, 0] * count, "slices": sliced, "operating_points": read}


def _of_slices() -> Iterator[tuple[str, Request]]:
    for name, form in FORMS.items():
        for what, character in (("plain", "x"), ("quoted", QUOTE), ("of control characters", CONTROL)):
            given = slices(300, MOST_SLICE_POINTS, columns=MOST_SLICE_COLUMNS, character=character)
            yield f"slices, 300 of 10 {what} values, 20 points, {name}", asking("slices", given, accept=form)
        points = {"accept": form, "query": [] if form == JSON else [("table", "operating_points")]}
        yield f"slices, 3,000, 20 points, {name}", asking("slices", slices(3000, MOST_SLICE_POINTS), **points)
        yield f"slices, 20,000 in a dictionary, {name}", _dictionary(20_000, LONGEST_VALUE, form)
        yield f"slices, values above the limit, {name}", _dictionary(10_000, LONGEST_VALUE + 100, form)
    yield (
        "slices, 3 of 10 values, 20 points",
        asking("slices", slices(3, MOST_SLICE_POINTS, columns=MOST_SLICE_COLUMNS)),
    )
    drawn = slices(300, 0, character=QUOTE) | {"charts": [*CHARTS["slices"]]}
    yield "slices, drawn", asking("slices", drawn)


def _dictionary(count: int, length: int, form: str) -> Request:
    """Slices named by the texts of a dictionary, in Arrow."""
    texts = pa.array([f"{number}".ljust(length, "x") for number in range(count)])
    rows = np.arange(2 * count)
    country = pa.DictionaryArray.from_arrays(pa.array((rows // 2).astype(np.int32)), texts)
    table = pa.table({"scores": rows * 1.0, "labels": rows % 2, "country": country})
    query = (("slices", "country"),)
    return Request("slices", "/v1/slices", ARROW_STREAM, form, query, arrow_body(table))


def _of_gates() -> Iterator[tuple[str, Request]]:
    places: Mapping[str, dict[str, Any]] = {"recall": {"at_threshold": 0.5}, "jaccard": {"at": 0.5}}
    rules = [
        rule(metric, place, "drop", number) for number in range(MOST_RULES // 2) for metric, place in places.items()
    ]
    asked = sample(50) | {"baseline": sample(50) | {"scores": sample(50)["scores"][::-1]}, "rules": rules}
    for name, form in {"JSON": JSON, "Markdown": MARKDOWN, "JUnit": XML, "SVG": SVG}.items():
        yield f"gate, {MOST_RULES} rules, {name}", asking("gates", asked, accept=form)


def _columns() -> Request:
    texts = pa.array([f"{number}".ljust(200, "\x01") for number in range(20)])
    column = pa.DictionaryArray.from_arrays(pa.array(np.arange(20, dtype=np.int8)), texts)
    table = pa.table({f"{number}".ljust(60, "n"): column for number in range(900)})
    return Request("columns", "/v1/columns", ARROW_STREAM, JSON, (), arrow_body(table))


def longest_answers() -> int:
    """Print the table; the exit status is 1 if an answer is above a limit."""
    print(HEADER)
    beyond = 0
    for name, request in requests():
        found = written(name, request)
        print(found, flush=True)
        beyond += not is_bounded(found)
    return bool(beyond)


def is_bounded(found: Written) -> bool:
    """Whether an answer is as long as an answer may be, and the server's own process held at most a mebibyte of it."""
    return found.written <= LIMITS.max_answer_bytes and found.held <= SMALL.answer_bytes
