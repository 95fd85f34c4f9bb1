"""Answers as bytes: their heads, and bodies in files."""

import io
import re
import tempfile

import pytest

from service.web.server.reply import FileBody, Reply, close_body, written_head
from tests.web.server.applications import Body


def test_a_head_has_the_fields_and_the_date() -> None:
    head = written_head("200 OK", [("A", "b"), ("A", "c"), ("Content-Length", "7")], 7)
    date = rb"Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT"
    assert re.fullmatch(rb"HTTP/1\.1 200 OK\r\n" + date + rb"\r\nA: b\r\nA: c\r\nContent-Length: 7\r\n", head)


@pytest.mark.parametrize(
    ("fields", "length", "told"),
    [
        ([], 7, b"Content-Length: 7\r\n"),
        ([("content-length", "7")], 7, b"content-length: 7\r\n"),
        ([("content-length", "7")], None, b"content-length: 7\r\n"),
        ([], None, b""),
    ],
)
def test_the_length_is_reported_once(fields: list[tuple[str, str]], length: int | None, told: bytes) -> None:
    assert written_head("200 OK", fields, length).partition(b"GMT\r\n")[2] == told


@pytest.mark.parametrize("field", [("A", "b\r\nC: d"), ("A", "b\n"), ("A\r", "b")])
def test_a_field_is_one_line(field: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="end of a line"):
        written_head("200 OK", [field])
    with pytest.raises(ValueError, match="end of a line"):
        written_head("200 OK\r\nA: b", [])


def test_a_field_has_the_bytes_of_latin_1() -> None:
    assert b"A: \xe9\r\n" in written_head("200 OK", [("A", "é")])
    with pytest.raises(UnicodeEncodeError):
        written_head("200 OK", [("A", "€")])


def test_a_file_is_a_body_from_where_it_stands() -> None:
    with tempfile.TemporaryFile() as file:
        file.write(b"0123456789")
        file.seek(4)
        body = FileBody(file, 4)
        assert body.extent() == (4, 6)
        assert list(body) == [b"4567", b"89"]
        body.close()
        assert file.closed


def test_a_file_that_is_not_regular_is_read() -> None:
    body = FileBody(io.BytesIO(b"0123456789"), 4)
    assert body.extent() is None
    assert b"".join(body) == b"0123456789"


def test_an_answer_that_is_not_sent_lets_its_body_go() -> None:
    with tempfile.TemporaryFile() as file:
        for body in (FileBody(file), b"abc"):
            Reply(b"", body, 3).drop()
        assert file.closed


def test_a_body_is_closed_where_it_can_be() -> None:
    body = Body([])
    close_body(body)
    close_body([b"abc"])
    assert body.closed == 1
