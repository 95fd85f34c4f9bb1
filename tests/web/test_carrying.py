"""Long bodies on their way, on a pair of sockets; with a whole server in tests/e2e."""

import errno
import gc
import io
import mmap
import os
import socket
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import pytest

from service.web import carrying
from service.web.carrying import NICENESS, ClientSocket, carried
from tests.web.conftest import Pair

CONTENT = bytes(range(20))


@pytest.fixture
def answer(tmp_path: Path) -> Iterator[BinaryIO]:
    (tmp_path / "answer").write_bytes(CONTENT)
    with (tmp_path / "answer").open("rb") as file:
        yield file


@pytest.fixture
def sends(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """What is sent in steps of four bytes: the thread and the length of each call."""
    noted: list[tuple[int, int]] = []

    def send(sock: ClientSocket, data: memoryview) -> int:
        noted.append((threading.get_ident(), len(data)))
        return socket.socket.send(sock, data)

    monkeypatch.setattr(carrying, "STEP_BYTES", 4)
    monkeypatch.setattr(ClientSocket, "send", send)
    return noted


@pytest.mark.parametrize(
    ("count", "steps"),
    [
        (10, [4, 4, 2]),
        (8, [4, 4]),
        (4, [4]),
        (None, [4, 4, 4, 4, 1]),
        (100, [4, 4, 4, 4, 1]),
    ],
    ids=["some", "whole steps", "one step", "all", "more than there is"],
)
def test_a_file_is_sent_in_steps(
    pair: Pair, answer: BinaryIO, sends: list[tuple[int, int]], count: int | None, steps: list[int]
) -> None:
    ours = ClientSocket.of(pair[0])
    ours.settimeout(1)
    expected = CONTENT[3:] if count is None else CONTENT[3 : 3 + count]
    with ours:
        assert ours.sendfile(answer, 3, count) == len(expected)
    assert pair[1].recv(100) == expected
    assert [length for _, length in sends] == steps


@pytest.fixture
def page_steps(monkeypatch: pytest.MonkeyPatch) -> int:
    """Steps that begin where pages do, as those of the service, so that they can be mapped."""
    monkeypatch.setattr(carrying, "STEP_BYTES", mmap.ALLOCATIONGRANULARITY)
    return mmap.ALLOCATIONGRANULARITY


def long_answer(tmp_path: Path, size: int) -> tuple[Path, bytes]:
    content = os.urandom(size)
    (tmp_path / "long").write_bytes(content)
    return tmp_path / "long", content


def received(pair: Pair, path: Path, count: int | None) -> bytes:
    """What arrives of a file that is sent."""
    with ThreadPoolExecutor(1) as reader, path.open("rb", buffering=0) as file, ClientSocket.of(pair[0]) as ours:
        got = reader.submit(lambda: b"".join(iter(lambda: pair[1].recv(1 << 16), b"")))
        ours.sendfile(file, 0, count)
        ours.shutdown(socket.SHUT_WR)
        return got.result(10)


def test_of_a_file_that_can_be_mapped_nothing_is_read(pair: Pair, tmp_path: Path, page_steps: int) -> None:
    path, content = long_answer(tmp_path, 3 * page_steps + 5)

    class Unread(io.FileIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise AssertionError(size)

    with Unread(path) as file:
        for start in (0, 3 * page_steps):
            expected = content[start : start + page_steps]
            with carrying._part(file, start, len(expected)) as part:
                assert part == expected
    assert received(pair, path, len(content)) == content


def test_a_file_that_cannot_be_mapped_is_read(
    pair: Pair, tmp_path: Path, page_steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems have no mappings."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENODEV, "No such device")

    monkeypatch.setattr(carrying.mmap, "mmap", fail)
    path, content = long_answer(tmp_path, 3 * page_steps + 5)
    assert received(pair, path, len(content)) == content


@pytest.mark.parametrize("count", [None, 1 << 20], ids=["all", "more than there is"])
def test_a_file_is_sent_to_its_end(pair: Pair, tmp_path: Path, page_steps: int, count: int | None) -> None:
    path, content = long_answer(tmp_path, 3 * page_steps + 5)
    assert received(pair, path, count) == content


def test_a_page_that_is_gone_while_it_is_sent_ends_the_connection_not_the_process(
    pair: Pair, tmp_path: Path, page_steps: int
) -> None:
    path, _ = long_answer(tmp_path, 2 * page_steps)
    with (
        path.open("r+b") as file,
        ClientSocket.of(pair[0]) as ours,
        carrying._part(file, 0, 2 * page_steps) as part,
    ):
        file.truncate(0)
        with pytest.raises(OSError, match="Bad address"):
            ours.send(part)


@pytest.fixture
def no_collection() -> Iterator[None]:
    """Nothing is freed but by who holds it."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what is mapped")
def test_nothing_is_kept_of_an_answer_that_nobody_reads(pair: Pair, tmp_path: Path) -> None:
    """Its pages are memory, or a disk's, as long as they are mapped; whoever has the error does not keep them."""
    path, content = long_answer(tmp_path, 8 * carrying.STEP_BYTES)
    mapped = []

    def fill(sock: ClientSocket, data: memoryview) -> int:
        mapped.append(str(path) in Path("/proc/self/maps").read_text())
        return socket.socket.send(sock, data)

    with path.open("rb") as file, ClientSocket.of(pair[0]) as ours, pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClientSocket, "send", fill)
        ours.settimeout(0.05)
        with pytest.raises(TimeoutError) as caught:
            ours.sendfile(file, 0, len(content))
        assert caught.value.__traceback__ is not None  # which has the frames of who sent
        assert str(path) not in Path("/proc/self/maps").read_text()
    assert mapped
    assert all(mapped)


@pytest.mark.usefixtures("no_collection")
def test_nothing_is_kept_of_work_that_fails() -> None:
    class Held:
        pass

    held = Held()
    kept = weakref.ref(held)

    def fail() -> None:
        nonlocal held
        mine = held
        del held
        raise TimeoutError(id(mine))

    try:
        carried(fail, None)
    except TimeoutError:
        pass
    else:
        pytest.fail("it did not fail")
    assert kept() is None


def test_of_a_step_the_rest_is_sent_that_a_call_did_not_take(
    pair: Pair, answer: BinaryIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ClientSocket, "send", lambda sock, data: socket.socket.send(sock, data[:3]))
    with ClientSocket.of(pair[0]) as ours:
        assert ours.sendfile(answer, 0, 20) == 20
    assert pair[1].recv(100) == CONTENT


def test_each_call_has_the_whole_time(pair: Pair, tmp_path: Path) -> None:
    """A client that reads slowly but steadily may take longer over a step than one call may wait."""
    content = os.urandom(carrying.STEP_BYTES)
    (tmp_path / "answer").write_bytes(content)
    pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
    got = bytearray()

    def take() -> None:
        while len(got) < len(content) and (piece := pair[1].recv(1 << 16)):
            got.extend(piece)
            time.sleep(0.05)

    reader = threading.Thread(target=take)
    reader.start()
    start = time.monotonic()
    with ClientSocket.of(pair[0]) as ours, (tmp_path / "answer").open("rb") as file:
        ours.settimeout(0.4)
        assert ours.sendfile(file, 0, len(content)) == len(content)
        took = time.monotonic() - start
    reader.join(10)
    assert got == content
    assert took > 0.4, "the client was too fast for the test to tell"


@pytest.mark.parametrize("count", [None, 20, 4])
def test_a_long_answer_is_sent_by_a_thread_that_stands_back(
    pair: Pair, answer: BinaryIO, sends: list[tuple[int, int]], count: int | None
) -> None:
    with ClientSocket.of(pair[0]) as ours:
        ours.sendfile(answer, 0, count)
    assert ({thread for thread, _ in sends} == {threading.get_ident()}) == (count == 4)


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
