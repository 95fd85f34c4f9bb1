"""Answers as lines of JSON: how far the work is, at each new step and each second, and last the answer or a problem.

Knows threads and lines; nothing of requests. The lines keep a connection alive, and show when its client has left.
"""

import logging
from collections.abc import Callable, Iterator
from itertools import chain
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import BinaryIO

import orjson

from service.answer import Answer, problem_answer
from service.datasets.dataset_groups import OnProgress
from service.web.passes import ClientGone
from service.wire.problems import Problem

BEAT_SECONDS = 1.0
"""How long there is no line at most."""

_COPIED_BYTES = 1 << 18

_LOG = logging.getLogger("service")

_Work = Callable[[OnProgress], tuple[Answer, BinaryIO]]
"""What is to be done: it tells its progress, and returns an answer and the file with its body."""

_End = tuple[Answer, BinaryIO] | Exception

_PROBLEM_BEGINS = b'{"problem":'


def lines(work: _Work, instance: str) -> tuple[Answer, BinaryIO] | Iterator[bytes]:
    """Do the work in another thread, and write the lines meanwhile.

    If it fails before there is a line to write, it is as if there were no lines: what the work raised is raised here,
    and a problem that it answered is returned.
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
    written = _written(told, ends, instance)
    first = next(written, b"")
    if first in {b"", _PROBLEM_BEGINS}:
        end = ends[0]
        if isinstance(end, Exception):
            raise end
        return end
    return chain([first], written)


def _written(told: "SimpleQueue[tuple[str, float]]", ends: list[_End], instance: str) -> Iterator[bytes]:
    step, done, due = "waiting", 0.0, monotonic() + BEAT_SECONDS
    while not ends:
        is_due, before = False, step
        try:
            step, done = told.get(timeout=max(0.0, due - monotonic()))
        except Empty:
            is_due = True
        if not ends and (is_due or step != before):
            yield orjson.dumps({"progress": {"step": step, "done": round(done, 3)}}, option=orjson.OPT_APPEND_NEWLINE)
            due = monotonic() + BEAT_SECONDS
    yield from _last_line(ends[0], instance)


def _last_line(end: _End, instance: str) -> Iterator[bytes]:
    if isinstance(end, ClientGone):
        return
    if isinstance(end, Exception):
        if not isinstance(end, Problem):
            _LOG.error("Unexpected failure", exc_info=end)
            end = Problem("internal_error", "The server failed unexpectedly.")
        yield _PROBLEM_BEGINS
        yield problem_answer(end, instance).body.rstrip()
        yield b"}\n"
        return
    answer, content = end
    yield _PROBLEM_BEGINS if answer.problem else b'{"answer":'
    with content:
        content.seek(0)
        while piece := content.read(_COPIED_BYTES):
            yield piece.replace(b"\n", b"")  # one at the end
    yield b"}\n"
