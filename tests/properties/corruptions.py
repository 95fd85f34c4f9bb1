"""Corrupts bodies of every format and coding, one seed each, and asks for an answer; run by test_corruptions.py.

Every index is printed before it is tried, so that the last one shows what ended the process. `python -m
tests.properties.corruptions FROM TO` tries some again.
"""

import os
import random
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from service.answer import answer
from service.request import Request
from service.web.lanes.evaluating import mapped
from service.wire.formats.codings import CODINGS, IDENTITY, compress
from service.wire.limits import Limits
from service.wire.media_types import JSON
from tests.properties.right_bodies import Body, right_bodies

STATUSES = {200, 400, 413, 415, 422}
LIMITS = Limits(max_rows=100_000, max_interpolated_rows=1000, max_decompressed_bytes=16 << 20)
MORE_MEMORY = 1 << 30
"""The most address space that the process may use for corrupted bodies."""

WORDS = [0, 1, 2, 7, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1]


def _place(chance: random.Random, body: bytes, structure: list[tuple[int, int]]) -> int:
    start, end = chance.choice(structure) if structure and chance.random() < 0.6 else (0, len(body))
    return min(chance.randrange(start, max(end, start + 1)), max(len(body) - 1, 0))


def _flip(chance: random.Random, body: bytes, at: Callable[[], int], _: bytes) -> bytes:
    changed = bytearray(body)
    for _ in range(chance.choice([1, 1, 2, 3, 8])):
        changed[at()] ^= chance.choice([1 << chance.randrange(8), 0xFF, chance.randrange(256)])
    return bytes(changed)


def _overwrite(chance: random.Random, body: bytes, at: Callable[[], int], _: bytes) -> bytes:
    """Overwrite a place that may hold a number with an unusual number."""
    width = chance.choice([1, 2, 4, 8])
    place = at() // width * width
    number = (chance.choice(WORDS) & ((1 << 8 * width) - 1)).to_bytes(width, "little")
    return body[:place] + number + body[place + width :]


def _truncate(_: random.Random, body: bytes, at: Callable[[], int], __: bytes) -> bytes:
    return body[: at()]


def _cut_out(chance: random.Random, body: bytes, at: Callable[[], int], _: bytes) -> bytes:
    place = at()
    return body[:place] + body[place + chance.choice([1, 4, 8, 64]) :]


def _insert(chance: random.Random, body: bytes, at: Callable[[], int], _: bytes) -> bytes:
    place = at()
    return body[:place] + chance.randbytes(chance.choice([1, 4, 8, 64])) + body[place:]


def _duplicate(chance: random.Random, body: bytes, at: Callable[[], int], _: bytes) -> bytes:
    first, last = sorted((at(), at()))
    return body[:last] + body[first:last] * chance.choice([1, 1, 2, 50]) + body[last:]


def _splice(_: random.Random, body: bytes, at: Callable[[], int], other: bytes) -> bytes:
    return body[: at()] + other[min(at(), len(other)) :]


def _swap(_: random.Random, body: bytes, at: Callable[[], int], __: bytes) -> bytes:
    first, last = sorted((at() // 8 * 8, at() // 8 * 8))
    if last - first < 8:
        return body[first:] + body[:first]
    return body[:first] + body[last : last + 8] + body[first + 8 : last] + body[first : first + 8] + body[last + 8 :]


CORRUPTIONS = (_flip, _flip, _overwrite, _overwrite, _truncate, _cut_out, _insert, _duplicate, _splice, _swap)


def corrupted(index: int, right: list[Body]) -> tuple[Body, str, bytes]:
    """The body of an index, its coding, and the bytes to send."""
    chance = random.Random(index)
    body = chance.choice(right)
    coding = chance.choice([IDENTITY, IDENTITY, *CODINGS])
    outside = coding != IDENTITY and chance.random() < 0.5
    content = compress(coding, body.content) if outside else body.content
    structure = [] if outside else body.structure
    other = chance.choice(right).content
    for _ in range(chance.choice([1, 1, 1, 2])):
        if content:
            content = chance.choice(CORRUPTIONS)(chance, content, partial(_place, chance, content, structure), other)
    return body, coding, content if outside else compress(coding, content)


def main(first: int, last: int) -> None:
    """Try the seeds, in memory and from a file; print each one, then the counts of statuses and the memory used."""
    right = list(right_bodies())
    for body in right:
        result = answer(_request(body, IDENTITY, body.content), LIMITS)
        assert result.status == 200, (body, result.body)
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MORE_MEMORY, used + MORE_MEMORY))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    statuses: Counter[tuple[str, int]] = Counter()
    for index in range(first, last):
        os.write(1, b"%d\n" % index)
        body, coding, content = corrupted(index, right)
        result = answer(_request(body, coding, content), LIMITS)
        assert result.status in STATUSES, result.body
        with tempfile.TemporaryFile() as file:
            file.write(content)
            file.flush()
            assert answer(_request(body, coding, mapped(file)), LIMITS) == result
        statuses[body.media_type, result.status] += 1
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    for (media_type, status), times in sorted(statuses.items()):
        print(f"{media_type} {status}: {times}")
    print(f"MiB more: {taken >> 10}")


def _request(body: Body, coding: str, content: bytes) -> Request:
    path = f"/v1/{body.operation}"
    return Request(body.operation, path, body.media_type, JSON, body.query, content, content_encoding=coding)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
