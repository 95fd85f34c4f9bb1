"""The lane of big requests: the same answers as in the server's process, and what happens when a helper dies."""

import errno
import math
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.answer import Answer, Request, answer
from service.web import lanes, slots
from service.web.helper import Helper, HelperDied, NoRoom
from service.web.lanes import BigLane, is_big
from service.web.slots import Slots
from service.wire.media_types import ARROW_STREAM, CSV, JSON, PARQUET, XML
from service.wire.problems import Problem
from tests.web.big_requests import BODY, LIMITS, request

WRONG = b'{"scores": [0.9, "high"], "labels": [1, 0]}'


class Lane(BigLane):
    """A lane that remembers how its helpers ended, and can have them stopped before they work."""

    def __init__(self, directory: Path, seconds: float = 30.0, memory_bytes: int = 1 << 30) -> None:
        self.ended: list[str] = []
        self.to_stop = 0
        self.to_kill = 0
        super().__init__(
            Slots(directory, "big", 1),
            Slots(directory, "unread", 2),
            LIMITS,
            seconds=seconds,
            memory_bytes=memory_bytes,
            spool_directory=str(directory),
            on_helper_end=self.ended.append,
        )

    def _helper(self) -> Helper:
        helper = super()._helper()
        if self.to_stop:
            self.to_stop -= 1
            os.kill(helper.pid, signal.SIGSTOP)
        if self.to_kill:
            self.to_kill -= 1
            os.kill(helper.pid, signal.SIGKILL)
        return helper

    def ask(self, body: bytes, **changes: Any) -> tuple[Any, bytes]:
        with self.spool() as file:
            file.write(body)
            result, content = self.answer(request(**changes), file)
        with content:
            content.seek(0)
            return result, content.read()

    def end(self) -> None:
        self._end_idle(since=math.inf)


@pytest.fixture
def lane(tmp_path: Path) -> Iterator[Lane]:
    lane = Lane(tmp_path)
    yield lane
    lane.end()


@pytest.mark.parametrize("body", [BODY, WRONG, b"", b"{"])
@pytest.mark.parametrize("accept", [JSON, CSV, ARROW_STREAM])
def test_a_helper_answers_as_the_server_does(lane: Lane, body: bytes, accept: str) -> None:
    here = answer(request(body=body, accept=accept), LIMITS)
    there, content = lane.ask(body, accept=accept)
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


def test_a_helper_answers_a_failed_gate(lane: Lane) -> None:
    asked = {"operation": "gates", "accept": XML}
    body = BODY[:-1] + b', "rules": [{"metric": "roc", "min": 1}], "fail_status": 424}'
    here = answer(request(body=body, **asked), LIMITS)
    there, content = lane.ask(body, **asked)
    assert (there.status, there.media_type, there.problem, content) == (424, XML, None, here.body)


def test_one_helper_answers_request_after_request(lane: Lane) -> None:
    lane.prepare()
    ((helper, _),) = lane._idle
    for _ in range(3):
        assert lane.ask(BODY)[0].status == 200
        assert [kept for kept, _ in lane._idle] == [helper]
    assert lane.ended == []


def test_a_request_survives_one_death(lane: Lane) -> None:
    lane.to_kill = 1
    assert lane.ask(BODY)[0].status == 200
    assert lane.ended == ["died"]
    lane.to_kill = 2
    with pytest.raises(Problem, match="died, 2 times") as caught:
        lane.ask(BODY)
    assert caught.value.type.code == "helper_died"
    assert lane.ended == ["died"] * 3
    assert lane.ask(BODY)[0].status == 200


def test_a_helper_that_dies_while_it_waits_costs_no_try(lane: Lane) -> None:
    lane.prepare()
    ((helper, _),) = lane._idle
    os.kill(helper.pid, signal.SIGKILL)
    helper._process.join(5)
    lane.to_kill = 1
    assert lane.ask(BODY)[0].status == 200
    assert lane.ended == ["died", "died"]


def test_helpers_that_wait_for_long_are_ended(lane: Lane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "IDLE_SECONDS", 0.05)
    lane.prepare()
    ((helper, _),) = lane._idle
    helper._process.join(10)
    assert not helper._process.is_alive()
    assert lane._idle == []
    assert lane.ask(BODY)[0].status == 200
    assert lane.ended == []


def test_helpers_that_were_too_young_are_ended_later(lane: Lane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "IDLE_SECONDS", 0.3)
    helpers_then = [lane._helper() for _ in range(2)]
    for helper in helpers_then:
        lane._keep(helper)
        time.sleep(0.15)
    for helper in helpers_then:
        helper._process.join(10)
        assert not helper._process.is_alive()


def test_an_answer_is_given_where_no_thread_can_be_had(lane: Lane, monkeypatch: pytest.MonkeyPatch) -> None:
    """The helper waits, and the next one that is kept sees to both."""
    monkeypatch.setattr(lanes, "IDLE_SECONDS", 0.05)
    with monkeypatch.context() as patched:

        def start(_: object) -> None:
            raise RuntimeError("can't start new thread")

        patched.setattr(lanes.Timer, "start", start)
        assert lane.ask(BODY)[0].status == 200
        ((helper, _),) = lane._idle
    assert lane.ask(BODY)[0].status == 200
    helper._process.join(10)
    assert not helper._process.is_alive()


def test_a_second_try_has_the_time_that_is_left(lane: Lane, monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def die(_self: Lane, _request: Request, _body: object, _content: object, seconds: float) -> Answer:
        given.append(seconds)
        time.sleep(0.1)
        raise HelperDied

    monkeypatch.setattr(Lane, "_answer", die)
    with pytest.raises(Problem, match="died"):
        lane.ask(BODY)
    first, second = given
    assert 29 < first <= 30
    assert second <= first - 0.1


@pytest.mark.skipif(sys.platform != "linux", reason="the limits of another process are read in /proc")
def test_the_deadline_ends_a_helper_that_does_not_move(tmp_path: Path) -> None:
    lane = Lane(tmp_path, seconds=0.2)
    lane.prepare()
    ((helper, _),) = lane._idle
    lane.to_stop = 1
    with pytest.raises(Problem, match=r"0\.2 seconds") as caught:
        lane.ask(BODY)
    assert caught.value.type.code == "deadline_exceeded"
    assert lane.ended == ["deadline"]
    assert not helper._process.is_alive()
    assert lane._idle == []


def test_what_takes_more_memory_than_a_helper_has_is_refused(tmp_path: Path) -> None:
    lane = Lane(tmp_path, memory_bytes=256 << 20)
    large = b"scores,labels\n" + b"0.25,1\n0.5,0\n" * 1_500_000
    assert lane.ask(large, content_type=CSV)[0].problem == "body_too_large"
    assert lane.ask(BODY)[0].status == 200
    assert lane.ended == []
    lane.end()


def test_bodies_lie_in_files_without_a_name(lane: Lane, tmp_path: Path) -> None:
    names = {path.name for path in tmp_path.iterdir()}
    with lane.spool() as file:
        file.write(b"secret")
        file.flush()
        assert {path.name for path in tmp_path.iterdir()} == names
        assert os.fstat(file.fileno()).st_nlink == 0


def check_overloaded(lane: Lane, says: str) -> None:
    with pytest.raises(Problem, match=says) as caught, lane.admitted():
        pytest.fail("there was no place")
    assert caught.value.type.code == "overloaded"


def test_a_slot_is_held_until_the_evaluation_is_over(lane: Lane) -> None:
    with lane.admitted() as place:
        check_overloaded(lane, "As many big requests are under way as there may be: 1.")
        place.evaluated()
        with lane.admitted():
            check_overloaded(lane, "As many big requests are under way as there may be: 1.")
    with lane.admitted():
        pass


def test_an_unread_answer_holds_its_place_until_it_is_closed(lane: Lane) -> None:
    files = []
    for _ in range(2):
        with lane.admitted() as place, lane.spool() as content:
            content.write(b"answer")
            content.seek(0)
            files.append(place.sent_from(content))
    check_overloaded(lane, "As many answers wait to be read as there may be: 2.")
    assert files[0].read() == b"answer"
    files[0].close()
    files[0].close()
    with lane.admitted():
        pass
    files[1].close()


def test_an_answer_that_cannot_be_kept_open_leaves_its_place(lane: Lane, monkeypatch: pytest.MonkeyPatch) -> None:
    def dup(_: int) -> int:
        raise OSError(errno.EMFILE, "no descriptor is left")

    monkeypatch.setattr(lanes.os, "dup", dup)
    for _ in range(3):
        with lane.spool() as content, pytest.raises(Problem, match="no room"), lane.admitted() as place:
            place.sent_from(content)


@pytest.mark.parametrize("opened", [0, 1])
def test_without_another_descriptor_it_is_overloaded_and_no_slot_is_lost(
    lane: Lane, monkeypatch: pytest.MonkeyPatch, opened: int
) -> None:
    system = os.open
    left = iter([True] * opened)

    def refuse(*arguments: Any) -> int:
        if not next(left, False):
            raise OSError(errno.EMFILE, "no descriptor is left")
        return system(*arguments)

    monkeypatch.setattr(slots.os, "open", refuse)
    check_overloaded(lane, "cannot open another file now")
    monkeypatch.undo()
    with lane.admitted():
        pass


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), NoRoom()])
def test_no_room_in_the_spool_directory_is_overloaded(lane: Lane, error: Exception) -> None:
    with pytest.raises(Problem, match="no room") as caught, lane.admitted():
        raise error
    assert caught.value.type.code == "overloaded"
    with lane.admitted():
        pass


@pytest.mark.parametrize(
    ("content_type", "coding", "length", "big"),
    [
        (JSON, "identity", 0, False),
        (CSV, "identity", 100, False),
        (JSON, "identity", 101, True),
        (JSON, "identity", None, True),
        (JSON, "gzip", 10, True),
        (CSV, "zstd", 10, True),
        (ARROW_STREAM, "identity", 10, True),
        (PARQUET, "identity", 10, True),
    ],
)
def test_headers_tell_what_is_big(content_type: str, coding: str, length: int | None, big: bool) -> None:  # noqa: FBT001  # a table's column
    assert is_big(content_type, coding, length, 100) is big
