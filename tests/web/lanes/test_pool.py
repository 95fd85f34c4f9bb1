"""Evaluators that are kept and replaced: they answer like the server, and a request survives their death."""

import errno
import math
import os
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from service.answer import answer
from service.curves.clock import TooMuchWork
from service.request import Answer, Effort, Request
from service.web.lanes import pool as pools
from service.web.lanes.evaluating import NoRoom
from service.web.lanes.evaluator import CRASHES, NICENESS, EvaluatorDied, EvaluatorProcess
from service.web.lanes.pool import EvaluatorPool
from service.web.passes import Client, ClientGone
from service.web.spool import Spool
from service.wire.media_types import ARROW_STREAM, CSV, JSON, PARQUET, XML
from service.wire.problems import Problem
from tests.e2e.wire import SECONDS
from tests.web.big_requests import BODY, LIMITS, request

WRONG = b'{"scores": [0.9, "high"], "labels": [1, 0]}'


class Pool(EvaluatorPool):
    """A pool that records how its evaluators ended, and can have them stopped before they work."""

    def __init__(self, directory: Path, seconds: float = 30.0, memory_bytes: int = 1 << 30) -> None:
        self.ended: list[str] = []
        self.to_stop = 0
        self.to_kill = 0
        self.by = signal.SIGKILL
        super().__init__(
            LIMITS,
            seconds=seconds,
            memory_bytes=memory_bytes,
            niceness=NICENESS,
            spool=Spool(str(directory)),
            on_end=self.ended.append,
        )

    def _evaluator(self) -> EvaluatorProcess:
        evaluator = super()._evaluator()
        if self.to_stop:
            self.to_stop -= 1
            os.kill(evaluator.pid, signal.SIGSTOP)
        if self.to_kill:
            self.to_kill -= 1
            os.kill(evaluator.pid, self.by)
        return evaluator

    def ask(self, body: bytes, client: Client | None = None, **changes: Any) -> tuple[Any, bytes]:
        """Send a request with its body in a file; return the answer and its body."""
        with self.spooled(body) as file:
            result, content = self.answer_in_files(request(**changes), file, client or Client())
        with content:
            content.seek(0)
            return result, content.read()

    def ask_small(self, body: bytes, client: Client | None = None) -> Answer:
        """Send a request through the pipe."""
        return self.answer(request(body=body), PLENTY, client or Client())

    def end(self) -> None:
        self._end_idle(since=math.inf)


PLENTY = Effort(60, 1 << 20, 1 << 20)


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    """A pool whose idle evaluators wait longer than any test takes."""
    monkeypatch.setattr(pools, "IDLE_SECONDS", SECONDS)
    pool = Pool(tmp_path)
    yield pool
    pool.end()


@pytest.mark.parametrize("body", [BODY, WRONG, b"", b"{"])
@pytest.mark.parametrize("accept", [JSON, CSV, ARROW_STREAM])
def test_an_evaluator_answers_as_the_server_does(pool: Pool, body: bytes, accept: str) -> None:
    here = answer(request(body=body, accept=accept), LIMITS)
    there, content = pool.ask(body, accept=accept)
    assert content == here.body
    assert there.body == b""
    assert (there.status, there.media_type, there.headers, there.problem) == (
        here.status,
        here.media_type,
        here.headers,
        here.problem,
    )
    assert there.facts.rows == here.facts.rows
    assert there.facts.decode_seconds > 0


def test_an_answer_counts_while_it_is_written(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, counted = EvaluatorProcess.answer_in_files, []

    def counting(evaluator: EvaluatorProcess, asked: Any, files: Any, *rest: Any) -> Answer:
        result = whole(evaluator, asked, files, *rest)
        counted.append(pool.bytes_being_written())
        return result

    monkeypatch.setattr(EvaluatorProcess, "answer_in_files", counting)
    _, content = pool.ask(BODY)
    assert (counted, pool.bytes_being_written()) == ([len(content)], 0)


def test_an_evaluator_answers_a_failed_gate(pool: Pool) -> None:
    asked = {"operation": "gates", "accept": XML}
    body = BODY[:-1] + b', "rules": [{"metric": "roc", "min": 1}], "fail_status": 424}'
    here = answer(request(body=body, **asked), LIMITS)
    there, content = pool.ask(body, **asked)
    assert (there.status, there.media_type, there.problem, content) == (424, XML, None, here.body)


def test_one_evaluator_answers_request_after_request(pool: Pool) -> None:
    pool.prepare()
    ((evaluator, _),) = pool._idle
    for _ in range(3):
        assert pool.ask(BODY)[0].status == 200
        assert [kept for kept, _ in pool._idle] == [evaluator]
    assert pool.ended == []


def test_a_request_survives_one_death(pool: Pool) -> None:
    pool.to_kill = 1
    assert pool.ask(BODY)[0].status == 200
    assert pool.ended == ["died"]
    pool.to_kill = 2
    with pytest.raises(Problem, match="died in each of 2 tries") as caught:
        pool.ask(BODY)
    assert caught.value.type.code == "helper_died"
    assert pool.ended == ["died"] * 3
    assert pool.ask(BODY)[0].status == 200


@pytest.mark.parametrize("crash", sorted(CRASHES))
@pytest.mark.parametrize("media_type", [PARQUET, ""])
def test_a_body_of_which_an_evaluator_crashes_is_not_tried_again(pool: Pool, crash: int, media_type: str) -> None:
    pool.to_kill, pool.by = 1, signal.Signals(crash)
    with pytest.raises(Problem, match="could not be read") as caught:
        pool.ask(BODY, content_type=media_type)
    assert caught.value.type.code == "malformed_body"
    assert pool.ended == ["died"]
    pool.to_kill = 1
    assert pool.ask(BODY)[0].status == 200  # no crafted JSON does that, so it is tried again


def test_an_evaluator_that_dies_while_it_waits_costs_no_try(pool: Pool) -> None:
    pool.prepare()
    ((evaluator, _),) = pool._idle
    os.kill(evaluator.pid, signal.SIGKILL)
    evaluator._process.join(SECONDS)
    pool.to_kill = 1
    assert pool.ask(BODY)[0].status == 200
    assert pool.ended == ["died", "died"]


def test_evaluators_that_wait_for_long_are_ended(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "IDLE_SECONDS", 0.05)
    evaluator = pool._evaluator()
    pool._keep(evaluator)
    evaluator._process.join(SECONDS)
    assert not evaluator._process.is_alive()
    assert pool._idle == []
    assert pool.ask(BODY)[0].status == 200
    assert pool.ended == []


def test_evaluators_that_were_too_young_are_ended_later(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "IDLE_SECONDS", 0.3)
    evaluators_then = [pool._evaluator() for _ in range(2)]
    for evaluator in evaluators_then:
        pool._keep(evaluator)
        time.sleep(0.15)
    for evaluator in evaluators_then:
        evaluator._process.join(SECONDS)
        assert not evaluator._process.is_alive()


def test_an_answer_is_given_where_no_thread_can_be_had(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The evaluator waits, and the next one that is kept schedules the end of both."""
    monkeypatch.setattr(pools, "IDLE_SECONDS", 0.05)
    with monkeypatch.context() as patched:

        def start(_: object) -> None:
            raise RuntimeError("can't start new thread")

        patched.setattr(pools.Timer, "start", start)
        assert pool.ask(BODY)[0].status == 200
        ((evaluator, _),) = pool._idle
    assert pool.ask(BODY)[0].status == 200
    evaluator._process.join(SECONDS)
    assert not evaluator._process.is_alive()


def test_a_second_try_has_the_remaining_time(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def die(_self: object, _request: Request, _files: object, seconds: float) -> Answer:
        given.append(seconds)
        time.sleep(0.1)
        raise EvaluatorDied

    monkeypatch.setattr(EvaluatorProcess, "answer_in_files", die)
    with pytest.raises(Problem, match="died"):
        pool.ask(BODY)
    first, second = given
    assert first <= 30
    assert second <= first - 0.1


@pytest.mark.skipif(sys.platform != "linux", reason="the limits of another process are read in /proc")
def test_the_deadline_ends_an_evaluator_that_does_not_move(tmp_path: Path) -> None:
    pool = Pool(tmp_path, seconds=0.2)
    pool.prepare()
    ((evaluator, _),) = pool._idle
    pool.to_stop = 1
    with pytest.raises(Problem, match=r"the limit of 0\.2 s\.") as caught:
        pool.ask(BODY)
    assert caught.value.type.code == "deadline_exceeded"
    assert pool.ended == ["deadline"]
    assert not evaluator._process.is_alive()
    assert pool._idle == []


def test_what_takes_more_memory_than_an_evaluator_has_is_refused(tmp_path: Path) -> None:
    pool = Pool(tmp_path, memory_bytes=256 << 20)
    large = b"scores,labels\n" + b"0.25,1\n0.5,0\n" * 1_500_000
    assert pool.ask(large, content_type=CSV)[0].problem == "body_too_large"
    assert pool.ask(BODY)[0].status == 200
    assert pool.ended == []
    pool.end()


def test_bodies_lie_in_files_without_a_name(pool: Pool, tmp_path: Path) -> None:
    names = {path.name for path in tmp_path.iterdir()}
    with pool.spooled(b"secret") as file:
        assert {path.name for path in tmp_path.iterdir()} == names
        assert os.fstat(file.fileno()).st_nlink == 0


def check_no_room(pool: Pool) -> None:
    with pytest.raises(Problem, match="no room") as caught:
        pool.ask(BODY)
    assert caught.value.type.code == "overloaded"


def test_a_body_that_finds_no_room_is_overloaded(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(pool._spool, "open", partial(open, "/dev/full", "r+b"))
        check_no_room(pool)
    assert pool.ask(BODY)[0].status == 200


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "no descriptor is left"), NoRoom()])
def test_an_answer_that_finds_no_room_is_overloaded(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    open_file, opened = pool._spool.open, []

    def once() -> Any:
        if opened:
            raise error
        opened.append(open_file())
        return opened[0]

    with monkeypatch.context() as patched:
        patched.setattr(pool._spool, "open", once)
        check_no_room(pool)
    assert pool.ended == []
    assert pool.ask(BODY)[0].status == 200


def test_too_much_work_costs_no_evaluator(pool: Pool) -> None:
    pool.prepare()
    kept = list(pool._idle)
    with pytest.raises(TooMuchWork):
        pool.answer(request(body=BODY), Effort(0, 1 << 20, 1 << 20), Client())
    assert [evaluator for evaluator, _ in pool._idle] == [evaluator for evaluator, _ in kept]
    assert pool.ask_small(BODY).body == answer(request(body=BODY), LIMITS).body
    assert pool.ended == []


@pytest.mark.parametrize("ask", [Pool.ask, Pool.ask_small])
def test_who_leaves_ends_the_evaluation(pool: Pool, ask: Any) -> None:
    """That does not count as the death of an evaluator."""

    class Leaving(Client):
        """A client who leaves when the evaluation begins."""

        def stop_with(self, stop: Any) -> None:
            super().stop_with(stop)
            if stop is not None:
                Timer(0.01, self.leave).start()

    client = Leaving()
    pool.prepare()
    ((evaluator, _),) = pool._idle
    pool.to_stop = 1
    with pytest.raises(ClientGone):
        ask(pool, BODY, client)
    assert not evaluator._process.is_alive()
    assert (pool._idle, pool.ended) == ([], [])
    with pytest.raises(ClientGone):
        ask(pool, BODY, client)
    assert ask(pool, BODY) is not None
    client.leave()


def test_who_leaves_after_the_answer_ends_nothing(pool: Pool) -> None:
    client = Client()
    pool.ask(BODY, client)
    ((evaluator, _),) = pool._idle
    client.leave()
    assert evaluator._process.is_alive()
    assert pool.ask(BODY)[0].status == 200
    assert [kept for kept, _ in pool._idle] == [evaluator]


def test_spooled_bodies_are_whole(pool: Pool) -> None:
    """Also for a reader that uses the file's descriptor."""
    with pool.spooled(BODY) as file:
        assert os.pread(file.fileno(), 1 << 20, 0) == BODY
