"""The most expensive small requests: bodies of 1 KiB or less, default options.

The law: none takes more than 100 ms of CPU or has an answer of more than 1 MB. CPU depends on the machine, so the tests
count its causes: calls of functions, and elements of the arrays that functions hold when they return. `python -m
tests.properties.small_requests` also measures CPU, and fails if the law does not hold.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import cycle, product
from types import FrameType
from typing import Any, TypeAlias

import numpy as np

from service.answer import answer
from service.curves.operating_points import METRICS
from service.inference.metric import AREAS, AREAS_WITH_INTERVALS
from service.request import Answer, Request
from tests.support.asking import LIMITS

LONGEST_BODY = 1024
MOST_CPU = 0.1
"""Seconds."""
MOST_BYTES = 1_000_000

_JSON, _CSV = "application/json", "text/csv"
_OURS = ("service.curves", "service.inference", "service.wire", "service.answer")


@dataclass(frozen=True)
class Cost:
    """The cost of a request: its calls and elements hardly vary from run to run."""

    calls: int
    elements: int
    answered: int
    status: int


Maker: TypeAlias = Callable[[random.Random], Request]


def requests() -> dict[str, Callable[[], Request]]:
    """The worst known kinds, and requests generated around them; each is the same, whichever others are made."""
    return {name: partial(make, random.Random(name)) for name, make in _makers()}


def _makers() -> Iterator[tuple[str, Maker]]:
    shapes = cycle(_SHAPES)
    for positives, negatives in product(_POSITIVES, _NEGATIVES):
        shape = next(shapes)
        counts = partial(_counts, positives, negatives, shape)
        name = f"P = {positives:g}, N = {negatives:g}, {shape}"
        for operation in ("curves", "tradeoffs"):
            yield f"{operation}, {name}", partial(_longest, operation, counts)
        yield f"comparisons, {name}", partial(_longest, "comparisons", partial(_compared, counts), least=2)
    for scores, weights in product(_SCORES, _WEIGHTS):
        name = f"scores {scores}, weights {weights}"
        for operation in ("curves", "tradeoffs"):
            yield f"{operation}, {name}", partial(_longest, operation, partial(_sample, scores, weights), least=4)
        for rows in (2, 8):
            yield f"comparisons of {rows} rows, {name}", partial(_table, rows, scores, weights)
    yield "curves, one row at 1e7", _same("curves", '{"counts":{"tp":[1],"fp":[1],"positives":1e7,"negatives":1e16}}')
    yield "curves, all tied at 1e7", _same("curves", '{"scores":[1,1],"labels":[0,1],"weights":[1e7,1e7]}')
    for (name, text), operation in product(TEXTS.items(), ("curves", "tradeoffs", "comparisons", "gates")):
        yield f"{operation}, {name}", _same(operation, text)
    yield from _gates()


def _same(operation: str, text: str) -> Maker:
    return lambda _: _request(operation, text)


def _gates() -> Iterator[tuple[str, Maker]]:
    """Rules of every kind: a few about many rows, or many about few rows; none that resamples."""
    kinds, shapes = cycle(_RULES), cycle(_SHAPES)
    for positives, negatives in product(_POSITIVES, _NEGATIVES):
        kind, shape = next(kinds), next(shapes)
        ruled = partial(_ruled, partial(_counts, positives, negatives, shape), _RULES[kind])
        name = f"gates, P = {positives:g}, N = {negatives:g}, {shape}, rules {kind}"
        yield name, partial(_longest, "gates", ruled)
    for scores, weights in product(_SCORES, _WEIGHTS):
        kind = next(kinds)
        ruled = partial(_ruled, partial(_sample, scores, weights), _RULES[kind])
        yield f"gates, scores {scores}, weights {weights}, rules {kind}", partial(_longest, "gates", ruled, least=4)
    for (kind, rules), positives in product(_RULES.items(), (20.0, 1e16, 7.3)):
        many = partial(_many, partial(_counts, positives, 1e16, "on an arc"), rules)
        yield f"gates, many rules {kind}, P = {positives:g}", partial(_longest, "gates", many)
    yield "gates, paired", _paired


def _paired(draw: random.Random) -> Request:
    one = _sample("of all scales", "1", draw, 12)
    paired = f'{one[:-1]},"baseline":{_sample("of digits", "1", draw, 12)},"paired":true}}'
    rules = [rule.replace('"min"', '"max_drop"') for rule in _RULES["with confidence"]]
    return _request("gates", _ruled(lambda *_: paired, rules[:1], draw, 0))


_POSITIVES = (1999, 1e7, 1e8, 2.0**53, 1e16, 1e150, 1999.5, 7.3, 1e-150)
_NEGATIVES = (1, 1e7, 2.0**53, 1e150, 0.3, 1e-150)
_RULES = {
    "of areas": [f'{{"metric":"{area}","min":1}}' for area in AREAS],
    "of places": [f'{{"metric":"{metric}","at":0.3,"min":1}}' for metric in METRICS],
    "of thresholds": [
        f'{{"metric":"{rate}","at_threshold":1,"min":0}}' for rate in ("precision", "recall", "fpr", "mcc", "lift")
    ],
    "with confidence": [f'{{"metric":"{area}","min":1,"confidence":0.9}}' for area in AREAS_WITH_INTERVALS],
}
_SHAPES: dict[str, Callable[[float], float]] = {
    "on a line": lambda share: share,
    "on an arc": lambda share: share**4,
    "under the diagonal": lambda share: share**0.25,
    "of all scales": lambda share: 10 ** (150 * (share - 1)),
}
_SCORES: dict[str, Callable[[random.Random, int], str]] = {
    "of digits": lambda draw, _: str(draw.randint(0, 9)),
    "of all scales": lambda draw, _: f"{draw.choice('- ')}{draw.randint(1, 9)}e{draw.randint(-320, 307)}".strip(),
    "tied": lambda _, __: "0",
    "ending the same": lambda draw, row: "0" if row < 2 else str(draw.randint(1, 9)),
}
_WEIGHTS: dict[str, Callable[[random.Random, int], str]] = {
    "1": lambda _, __: "1",
    "whole and large": lambda _, __: "4e6",
    "of two large rows": lambda _, row: "1e7" if row < 2 else "0",
    "fractional": lambda draw, _: f"{draw.random():.2}",
    "of 300 decades": lambda draw, row: "1e140" if row < 2 else f"1e-{draw.randint(150, 305)}",
    "tiny beside 1": lambda draw, row: "1" if row < 2 else f"{draw.randint(1, 9)}e-30{draw.randint(0, 9)}",
}
TEXTS = {
    "deep lists": "[" * LONGEST_BODY,
    "deep objects": '{"a":' * 204,
    "a long integer": '{"scores":[' + "9" * 990 + '],"labels":[1]}',
    "a long fraction": '{"scores":[0.' + "9" * 980 + ',1],"labels":[0,1]}',
    "unknown fields": "{" + ",".join(f'"{key}":0' for key in range(140)) + "}",
    "wrong values": '{"scores":[' + ",".join(['""'] * 300) + '],"labels":[1]}',
    "long names": '{"evaluations":['
    + ",".join(f'{{"name":"{key}{"x" * 100}","scores":[1,2],"labels":[0,1]}}' for key in range(6))
    + "]}",
}


def _request(operation: str, text: str, content_type: str = _JSON, **parameters: str) -> Request:
    body = text.encode()
    return Request(operation, f"/v1/{operation}", content_type, _JSON, tuple(parameters.items()), body)


Text: TypeAlias = Callable[[random.Random, int], str]


def _longest(operation: str, text: Text, draw: random.Random, *, least: int = 1) -> Request:
    """The request with the most rows, or evaluations, that is short enough."""
    short, long = least, LONGEST_BODY // 4  # a row is a number and a comma in two columns at least
    best = text(draw, short)
    while short + 1 < long:
        middle = (short + long) // 2
        drawn = text(draw, middle)
        if len(drawn) <= LONGEST_BODY:
            short, best = middle, drawn
        else:
            long = middle
    return _request(operation, best)


def _counts(positives: float, negatives: float, shape: str, draw: random.Random, rows: int) -> str:
    shares = sorted(draw.random() for _ in range(rows))
    columns = [
        [float(np.floor(share * total)) if total >= 2**53 or total % 1 == 0 else share * total for share in column]
        for column, total in ((shares, positives), ([_SHAPES[shape](share) for share in shares], negatives))
    ]
    digits = [3 if total > 1e9 or total % 1 else 17 for total in (positives, negatives)]
    tp, fp = (
        ",".join(_short(min(float(f"{count:.{size}g}"), total)) for count in column)
        for column, size, total in zip(columns, digits, (positives, negatives), strict=True)
    )
    return f'{{"counts":{{"tp":[{tp}],"fp":[{fp}],"positives":{_short(positives)},"negatives":{_short(negatives)}}}}}'


def _short(number: float) -> str:
    text = str(int(number)) if number % 1 == 0 and number < 1e17 else repr(number)
    return min(text, f"{number:g}", key=lambda one: (float(one) != number, len(one))).replace("e+", "e")


def _ruled(evaluation: Text, rules: list[str], draw: random.Random, rows: int) -> str:
    return f'{evaluation(draw, rows)[:-1]},"rules":[{",".join(rules)}]}}'


def _many(evaluation: Text, rules: list[str], draw: random.Random, times: int) -> str:
    """This many rules about five rows, taken from these in rotation."""
    return _ruled(evaluation, (rules * times)[:times], draw, 5)


def _compared(counts: Text, draw: random.Random, times: int) -> str:
    """The same curve of one row this many times, so that all tie."""
    evaluation = counts(draw, 1)
    named = (f'{{"name":"{chr(97 + key % 26)}{key // 26}",{evaluation[1:]}' for key in range(times))
    return f'{{"evaluations":[{",".join(named)}]}}'


def _sample(scores: str, weights: str, draw: random.Random, rows: int) -> str:
    columns = {
        "scores": [_SCORES[scores](draw, row) for row in range(rows)],
        "labels": [str(row % 2) for row in range(rows)],
        "weights": [_WEIGHTS[weights](draw, row) for row in range(rows)],
    }
    return "{" + ",".join(f'"{name}":[{",".join(column)}]' for name, column in columns.items()) + "}"


def _table(rows: int, scores: str, weights: str, draw: random.Random) -> Request:
    """As many samples, over shared labels and weights, as fit into a table of this many rows, at most 50."""
    names = [character for character in map(chr, range(35, 127)) if character not in ",'0123456789"][:50]
    lines = [f",{row % 2},{_WEIGHTS[weights](draw, row)}" for row in range(rows)]
    cells = [[f"{_SCORES[scores](draw, row)}" for row in range(rows)] for _ in names]
    while True:
        table = [",".join(cells[k][row] for k in range(len(names))) + lines[row] for row in range(rows)]
        text = "\n".join([",".join(names) + ",labels,weights", *table])
        if len(text) <= LONGEST_BODY:
            return _request("comparisons", text, _CSV, scores=",".join(names))
        names.pop()


def cost(request: Request) -> Cost:
    """Answer a request and count. The first of a kind also counts imports and what is cached for later ones."""
    calls = elements = 0

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal calls, elements
        if event in {"call", "c_call"}:
            calls += 1
        elif event == "return" and frame.f_globals.get("__name__", "").startswith(_OURS):
            elements += sum(value.size for value in frame.f_locals.values() if isinstance(value, np.ndarray))

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        found = answer(request, LIMITS)
    finally:
        sys.setprofile(before)
    return Cost(calls, elements, len(found.body), found.status)


def cpu(request: Request) -> tuple[float, Answer]:
    """Seconds of CPU, the minimum of a few runs."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        found = answer(request, LIMITS)
        best = min(best, time.process_time() - start)
    return best, found


def main() -> int:
    """Measure all requests and print the worst; the exit status says whether the law holds here."""
    measured = []
    for name, make in requests().items():
        request = make()
        seconds, found = cpu(request)
        measured.append((seconds, len(found.body), len(request.body), found.status, cost(request), name))
    measured.sort(key=lambda row: -row[0])
    print(f"{'CPU ms':>7} {'answer B':>9} {'body B':>6} {'status':>6} {'calls':>8} {'elements':>9}  request")
    largest = max(measured, key=lambda row: row[1])
    for seconds, answered, body, status, counted, name in [*measured[:25], largest]:
        line = f"{1000 * seconds:7.1f} {answered:9d} {body:6d} {status:6d}"
        print(f"{line} {counted.calls:8d} {counted.elements:9d}  {name}")
    print(
        f"{len(measured)} requests; the most CPU is {1000 * measured[0][0]:.1f} ms, the longest answer {largest[1]} B."
    )
    return int(measured[0][0] > MOST_CPU or largest[1] > MOST_BYTES)


if __name__ == "__main__":
    sys.exit(main())
