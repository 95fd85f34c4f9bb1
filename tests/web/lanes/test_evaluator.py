"""A helper process by itself: what it may take, what it gives back, and how its end is told."""

import errno
import json
import mmap
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing import Pipe, reduction
from pathlib import Path
from threading import Timer

import pytest

from service.answer import Answer, Request, lack_of_memory
from service.curves.compiled import KERNEL
from service.web import helper as helpers
from service.web.helper import DeadlineExceeded, Helper, HelperDied, NoRoom
from tests.compiled_library import library_in, used
from tests.web.big_requests import BODY, LIMITS, request


@pytest.fixture
def helper() -> Iterator[Helper]:
    helper = Helper(LIMITS, 1 << 30)
    yield helper
    helper.end()


def test_a_helper_is_weaker_than_the_server(helper: Helper) -> None:
    with tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as content:
        body.write(BODY)
        body.flush()
        assert helper.answer(request(), body, content, 30.0).status == 200  # it has started
    process = Path(f"/proc/{helper.pid}")
    limits_of = {line[:25].strip(): line[25:].split()[:2] for line in (process / "limits").read_text().splitlines()}
    assert limits_of["Max core file size"] == ["0", "0"]
    assert limits_of["Max data size"] == [str(1 << 30)] * 2
    assert int((process / "oom_score_adj").read_text()) >= 500
    niceness = int((process / "stat").read_text().rpartition(")")[2].split()[16])
    assert niceness > os.nice(0) or niceness == 19


def test_a_helper_takes_no_more_than_the_server_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the limit is lower than the setting, raising it would be refused."""
    limited = {}
    monkeypatch.setattr(helpers.os, "nice", lambda _: 0)
    monkeypatch.setattr(helpers.sys, "platform", "another")
    monkeypatch.setattr(helpers.resource, "getrlimit", lambda _: (1 << 29, 1 << 30))
    monkeypatch.setattr(helpers.resource, "setrlimit", limited.__setitem__)
    helpers._stand_back(1 << 31)
    assert limited[helpers.resource.RLIMIT_DATA] == (1 << 30, 1 << 30)
    helpers._stand_back(1 << 28)
    assert limited[helpers.resource.RLIMIT_DATA] == (1 << 28, 1 << 28)


def test_a_problem_takes_the_place_of_a_part_of_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was written before it."""
    long = b"x" * 100_000

    def answer_in_part(request: Request, _limits: object, write: Callable[[bytes], None], **_: object) -> Answer:
        write(long)
        return lack_of_memory(request)

    monkeypatch.setattr(helpers, "answer", answer_in_part)
    with tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as content:
        result = helpers._answered(request(), LIMITS, os.dup(body.fileno()), os.dup(content.fileno()))
        content.seek(0)
        assert json.loads(content.read())["type"] == "/problems/body_too_large"
    assert result.status == 413


@pytest.mark.parametrize("content", [b"", BODY])
def test_a_body_that_cannot_be_mapped_is_read(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems have no mappings."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENODEV, "No such device")

    with tempfile.TemporaryFile() as body:
        body.write(content)
        body.flush()
        mapping = helpers.mapped(body)
        assert bytes(mapping) == content
        assert isinstance(mapping, mmap.mmap) == bool(content)
        monkeypatch.setattr(helpers.mmap, "mmap", fail)
        assert helpers.mapped(body) == content


def test_an_answer_that_cannot_be_written_is_no_failure(helper: Helper) -> None:
    with tempfile.TemporaryFile() as body, Path("/dev/full").open("wb") as full:
        body.write(BODY)
        body.flush()
        with pytest.raises(NoRoom):
            helper.answer(request(), body, full, 30.0)


def test_a_helper_of_no_use_says_so(helper: Helper) -> None:
    with tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as content:
        os.kill(helper.pid, signal.SIGSTOP)
        with pytest.raises(DeadlineExceeded):
            helper.answer(request(), body, content, 0.0)
        helper.end()
        with pytest.raises(HelperDied):
            helper.answer(request(), body, content, 1.0)


def given_back(monkeypatch: pytest.MonkeyPatch, taken: int, seconds: float) -> int:
    """Let this process be a helper of one request that took so much memory, and count how often it gives some back."""
    times: list[int] = []
    monkeypatch.setattr(helpers, "own_memory_bytes", lambda: taken)
    monkeypatch.setattr(helpers, "give_memory_back", lambda: times.append(1))
    serve_one(monkeypatch, seconds, None)
    return len(times)


def serve_one(monkeypatch: pytest.MonkeyPatch, seconds: float, compiled: Path | None) -> None:
    """Let this process be a helper of one request, for so long."""
    monkeypatch.setattr(helpers, "dictConfig", lambda _: None)
    monkeypatch.setattr(helpers, "_stand_back", lambda _: None)
    ours, theirs = Pipe()
    with theirs, tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as content:
        body.write(BODY)
        body.flush()
        ours.send(request())
        for file in (body, content):
            reduction.send_handle(ours, file.fileno(), os.getpid())
        server_goes = Timer(seconds, ours.close)
        server_goes.start()
        helpers._serve(theirs, LIMITS, 0, compiled)
        server_goes.join()
        assert content.seek(0, os.SEEK_END) > 0


def test_a_helper_keeps_some_memory_for_the_next_request(monkeypatch: pytest.MonkeyPatch) -> None:
    assert given_back(monkeypatch, helpers.KEPT_BYTES, 0.1) == 0


def test_a_helper_that_took_much_gives_it_back_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert given_back(monkeypatch, helpers.KEPT_BYTES + 1, 0.1) == 1


def test_a_helper_that_waits_gives_back_what_it_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helpers, "KEEP_SECONDS", 0.1)
    assert given_back(monkeypatch, 0, 0.5) == 1


def test_a_helper_uses_the_library_of_the_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = library_in(tmp_path)
    with used(None):
        serve_one(monkeypatch, 0.1, library)
        assert KERNEL.path == library


def test_a_helper_goes_on_without_a_library_that_is_gone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with used(None), caplog.at_level("WARNING", "service"):
        serve_one(monkeypatch, 0.1, tmp_path / "removed.so")
        assert KERNEL.path is None
    assert "What rocpr compile made cannot be used: " in caplog.text


def test_a_server_hands_its_library_on(tmp_path: Path) -> None:
    library = library_in(tmp_path)
    with used(library):
        helper = Helper(LIMITS, 1 << 30)
    try:
        with tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as content:
            body.write(BODY)
            body.flush()
            assert helper.answer(request(), body, content, 30.0).status == 200  # it has started
        assert str(library) in Path(f"/proc/{helper.pid}/maps").read_text()
    finally:
        helper.end()
