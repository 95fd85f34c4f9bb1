"""Answers as lines of JSON: progress, at each new step and at least once a second, then the answer or a problem.

Knows threads and lines; nothing of requests. The lines keep a connection alive, and show when its client has left.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from itertools import chain
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import BinaryIO

import orjson

from service.answer import problem_answer
from service.datasets.dataset_groups import OnProgress
from service.request import Answer
from service.web.passes import ClientGone
from service.wire.problems import Problem

BEAT_SECONDS = 1.0
"""The longest time between lines."""

FIRST_SECONDS = 5.0
"""The longest time to the first line. Until then a request can still be refused with a status other than 200, even if
the server is busy."""

_LOG = logging.getLogger("service")

_Work = Callable[[OnProgress], tuple[Answer, BinaryIO]]
"""The work: it reports its progress, and returns an answer and the file with its body."""

_PiecesOf = Callable[[BinaryIO], Iterable[bytes]]
"""Turns a file into pieces of the answer, and closes it."""

_OnEnd = Callable[[Answer, int], object]
"""Called before the last line, with the answer that it holds and the bytes of all lines."""

_End = tuple[Answer, BinaryIO] | Exception


def lines(
    work: _Work, instance: str, pieces: _PiecesOf
) -> tuple[Answer, BinaryIO] | Callable[[_OnEnd], Iterator[bytes]]:
    """Do the work in another thread; returns a function that writes the lines meanwhile.

    If it fails before the first line, no lines are written: what the work raised is raised here, and a problem that it
    answered is returned.
    """
    told: SimpleQueue[tuple[str, float]] = SimpleQueue()
    ends: list[_End] = []

    def run() -> None:
        try:
            ends.append(work(lambda step, done: told.put((step, done))))
        except Exception as error:  # noqa: BLE001  # raised again, or the last line says what happened
            ends.append(error)
        told.put(("", 1.0))

    Thread(target=run, name="lines", daemon=True).start()
    progress = _progress(told, ends)
    first = next(progress, b"")
    if not first:
        end = ends[0]
        if isinstance(end, Exception):
            raise end
        if end[0].problem:
            return end

    def written(on_end: _OnEnd) -> Iterator[bytes]:
        size = 0
        for line in chain([first], progress):
            size += len(line)
            yield line
        if not isinstance(ends[0], ClientGone):
            yield from _last_line(*_answered(ends[0], instance), size, on_end, pieces)

    return written


def _progress(told: "SimpleQueue[tuple[str, float]]", ends: list[_End]) -> Iterator[bytes]:
    step, done, due = "waiting", 0.0, monotonic() + FIRST_SECONDS
    while not ends:
        is_due, before = False, step
        try:
            step, done = told.get(timeout=max(0.0, due - monotonic()))
        except Empty:
            is_due = True
        if not ends and (is_due or step != before):
            yield orjson.dumps({"progress": {"step": step, "done": round(done, 3)}}, option=orjson.OPT_APPEND_NEWLINE)
            due = monotonic() + BEAT_SECONDS


def _answered(end: _End, instance: str) -> tuple[Answer, BinaryIO]:
    """Return the answer or, after a failure, its problem as one."""
    if not isinstance(end, Exception):
        return end
    if not isinstance(end, Problem):
        _LOG.error("Unexpected failure", exc_info=end)
        end = Problem("internal_error", "The server failed unexpectedly.")
    answer = problem_answer(end, instance)
    return answer, BytesIO(answer.body)


def _last_line(answer: Answer, content: BinaryIO, size: int, on_end: _OnEnd, pieces: _PiecesOf) -> Iterator[bytes]:
    begin, finish = b'{"problem":' if answer.problem else b'{"answer":', b"}\n"
    content.seek(-1, os.SEEK_END)
    content.seek(-(content.read() == b"\n"), os.SEEK_END)  # in place of the line break at its end
    content.write(finish)
    content.flush()
    on_end(answer, size + len(begin) + content.tell())
    yield begin
    content.seek(0)
    yield from pieces(content)
