"""How the server takes an application's answer: from memory, or from a file."""

import io
import tempfile
from typing import Any

import pytest

from service.web.passes import Pass
from service.web.server.reply import FileBody
from tests.web.server.applications import Body, Environ, answering
from tests.web.server.asking import Asked


class TestAnswers:
    @pytest.mark.parametrize("announced", [True, False])
    def test_in_memory(self, *, announced: bool) -> None:
        body = Body([b"abc", b"", b"de"])
        fields = [("Content-Length", "5")] if announced else []
        reply = Asked(answering(body, "201 CREATED", *fields)).in_pass(Pass.SMALL)
        assert (reply.body, reply.length) == (b"abcde", 5)
        assert reply.head.startswith(b"HTTP/1.1 201 CREATED\r\n")
        assert reply.head.count(b"Content-Length: 5\r\n") == 1
        assert body.closed == 1

    @pytest.mark.parametrize("which", [Pass.SMALL, Pass.BIG])
    def test_in_a_file(self, which: Pass) -> None:
        with tempfile.TemporaryFile() as file:
            file.write(b"before" + b"abc")
            file.seek(6)
            reply = Asked(lambda environ, start: answering(environ["wsgi.file_wrapper"](file))(environ, start)).in_pass(
                which
            )
            assert isinstance(reply.body, FileBody)
            assert (reply.length, b"Content-Length: 3\r\n" in reply.head) == (3, True)
            assert not file.closed

    def test_in_a_file_that_is_not_regular(self) -> None:
        """It is read like any other body."""
        for which in (Pass.SMALL, Pass.BIG):
            assert Asked(answering(FileBody(io.BytesIO(b"abc")))).in_pass(which).body == b"abc"

    @pytest.mark.parametrize(
        ("method", "status"), [("HEAD", "200 OK"), ("GET", "204 NO CONTENT"), ("GET", "304 NOT MODIFIED")]
    )
    @pytest.mark.parametrize("which", [Pass.SMALL, Pass.BIG])
    def test_without_content(self, method: str, status: str, which: Pass) -> None:
        """HEAD is told the length that the content would have; statuses that never have content have no length."""
        body = Body([b"abc"])
        reply = Asked(answering(body, status, ("Content-Length", "3"), ("A", "b")), method).in_pass(which)
        assert (reply.body, reply.length, body.closed) == (b"", 0, 1)
        assert b"A: b\r\n" in reply.head
        assert (b"Content-Length: 3\r\n" in reply.head) == (method == "HEAD")

    @pytest.mark.parametrize(
        ("body", "fields"),
        [
            (Body([b"abc"]), [("Content-Length", "4")]),
            (Body([b"abc"]), [("Content-Length", "2")]),
            (Body([b"abc"]), [("Content-Length", "many")]),
            (Body([b"abc"]), [("A", "b\r\nC: d")]),
        ],
        ids=["longer", "shorter", "no number", "two lines"],
    )
    def test_that_contradict_themselves_are_failures(self, body: Body, fields: list[tuple[str, str]], caplog) -> None:
        assert Asked(answering(body, "200 OK", *fields)).in_pass(Pass.SMALL) == "failed"
        assert body.closed == 1
        assert "Unexpected failure" in caplog.text

    def test_in_a_file_that_cannot_be_sent_are_closed(self) -> None:
        with tempfile.TemporaryFile() as file:
            assert Asked(answering(FileBody(file), "200 OK", ("A", "b\n"))).in_pass(Pass.SMALL) == "failed"
            assert file.closed

    @pytest.mark.parametrize("error", [ValueError("secret"), SystemExit(1), KeyboardInterrupt(), MemoryError()])
    def test_that_are_invalid_are_failures(self, error: BaseException) -> None:
        def fail(*_: object) -> Any:
            raise error

        def fail_later() -> Any:
            yield b"abc"
            raise error

        body = Body(fail_later())
        assert Asked(fail).in_pass(Pass.SMALL) == "failed"
        assert Asked(answering(body)).in_pass(Pass.SMALL) == "failed"
        assert body.closed == 1

    def test_that_were_not_begun_are_failures(self) -> None:
        assert Asked(lambda *_: []).in_pass(Pass.SMALL) == "failed"

    def test_may_begin_again(self) -> None:
        """PEP 3333 allows it after an error."""

        def application(_: Environ, start: Any) -> list[bytes]:
            start("200 OK", [])
            start("500 SORRY", [], (ValueError, ValueError(), None))
            return [b"abc"]

        assert Asked(application).in_pass(Pass.SMALL).head.startswith(b"HTTP/1.1 500 SORRY")

    def test_are_not_written_but_returned(self) -> None:
        def application(_: Environ, start: Any) -> list[bytes]:
            start("200 OK", [])(b"abc")
            return []

        assert Asked(application).in_pass(Pass.SMALL) == "failed"
