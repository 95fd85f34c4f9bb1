"""Answers as lines of JSON: how far the work is, at each new step and each second, and last the answer or a problem.

Knows threads and lines; nothing of requests. The lines keep a connection alive, and show when its client has left.
"""

import logging
from collections.abc import Callable, Iterator
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

_PIECE_BYTES = 1 << 18

_LOG = logging.getLogger("service")

_Work = Callable[[OnProgress], tuple[Answer, BinaryIO]]
"""What is to be done: it tells its progress, and returns an answer and the file with its body."""

_End = tuple[Answer, BinaryIO | None] | None
"""The result; None if the client has gone."""


def lines(work: _Work, instance: str) -> Iterator[bytes]:
    """Do the work on a thread of its own, and write the lines meanwhile."""
    told: SimpleQueue[tuple[str, float]] = SimpleQueue()
    ends: list[_End] = []

    def run() -> None:
        ends.append(_end_of(work, lambda step, done: told.put((step, done)), instance))
        told.put(("", 1.0))

    Thread(target=run, name="lines", daemon=True).start()
    step, done, due = "", 0.0, monotonic() + BEAT_SECONDS
    while not ends:
        is_due, before = False, step
        try:
            step, done = told.get(timeout=max(0.0, due - monotonic()))
        except Empty:
            is_due = True
        if not ends and (is_due or step != before):
            yield orjson.dumps({"progress": {"step": step, "done": round(done, 3)}}, option=orjson.OPT_APPEND_NEWLINE)
            due = monotonic() + BEAT_SECONDS
    yield from _last_line(ends[0])


def _end_of(work: _Work, tell: OnProgress, instance: str) -> _End:
    try:
        return work(tell)
    except ClientGone:
        return None
    except Problem as problem:
        return problem_answer(problem, instance), None
    except Exception as error:  # noqa: BLE001  # a status was sent already; the last line says what happened
        _LOG.error("Unexpected failure", exc_info=error)
        return problem_answer(Problem("internal_error", "The server failed unexpectedly."), instance), None


def _last_line(end: _End) -> Iterator[bytes]:
    if end is None:
        return
    answer, content = end
    yield b'{"problem":' if answer.problem else b'{"answer":'
    if content is None:
        yield answer.body.rstrip()
    else:
        with content:
            content.seek(0)
            while piece := content.read(_PIECE_BYTES):
                yield piece.replace(b"\n", b"")  # one at the end
    yield b"}\n"
