"""Long bodies on their way, on a pair of sockets; with a whole server in tests/e2e."""

import os
import threading
from pathlib import Path

import pytest

from service.web import carrying
from service.web.carrying import NICENESS, ClientSocket, carried
from tests.web.conftest import Pair


@pytest.mark.parametrize(
    ("count", "calls"),
    [
        (10, [(3, 4), (7, 4), (11, 2)]),
        (8, [(3, 4), (7, 4)]),
        (4, [(3, 4)]),
        (None, [(3, 4), (7, 4), (11, 4), (15, 4), (19, 4)]),
        (100, [(3, 4), (7, 4), (11, 4), (15, 4), (19, 4)]),
    ],
    ids=["some", "whole steps", "one step", "all", "more than there is"],
)
def test_a_file_is_sent_in_steps(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int | None, calls: list[tuple[int, int]]
) -> None:
    monkeypatch.setattr(carrying, "STEP_BYTES", 4)
    system, asked = os.sendfile, []

    def noted(target: int, source: int, offset: int, size: int) -> int:
        asked.append((offset, size))
        return system(target, source, offset, size)

    monkeypatch.setattr(os, "sendfile", noted)
    content = bytes(range(20))
    (tmp_path / "answer").write_bytes(content)
    ours = ClientSocket.of(pair[0])
    ours.settimeout(1)
    with ours, (tmp_path / "answer").open("rb") as file:
        sent = ours.sendfile(file, 3, count)
    expected = content[3:] if count is None else content[3 : 3 + count]
    assert sent == len(expected)
    assert pair[1].recv(100) == expected
    assert [call for call in asked if call[0] < len(content)] == calls


def priority() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only on Linux a thread has a priority of its own")
def test_who_carries_stands_back_and_nobody_else() -> None:
    before = priority()
    assert carried(priority, None) == min(before + NICENESS, 19)
    assert priority() == before


def test_a_short_body_has_no_thread_of_its_own() -> None:
    assert carried(threading.get_ident, carrying.STEP_BYTES) == threading.get_ident()
    assert carried(threading.get_ident, carrying.STEP_BYTES + 1) != threading.get_ident()


def test_what_goes_wrong_is_told() -> None:
    def fail() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        carried(fail, None)


def refuse(*_: object) -> None:
    raise RuntimeError


def test_without_another_thread_it_is_done_in_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert carried(threading.get_ident, None) == threading.get_ident()


def test_while_the_process_ends_it_is_done_in_this_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("concurrent.futures.thread._shutdown", True)
    assert carried(threading.get_ident, None) == threading.get_ident()


def test_an_error_of_the_work_itself_is_told_and_not_tried_again() -> None:
    tried = []

    def fail() -> None:
        tried.append(threading.get_ident())
        raise RuntimeError

    with pytest.raises(RuntimeError):
        carried(fail, None)
    assert len(tried) == 1


def test_a_priority_that_cannot_be_given_up_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse_to_yield(_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "nice", refuse_to_yield)
    assert carried(threading.get_ident, None) != threading.get_ident()
