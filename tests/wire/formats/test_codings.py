"""A body is one or more gzip members or exactly one Zstandard frame, and never decompresses to more than the limit."""

import gzip
import random
import tracemalloc
import zlib
from dataclasses import replace

import pytest

from service.wire.formats import codings
from service.wire.formats.codings import CODINGS, IDENTITY, compress, decompress, zstd
from service.wire.problems import Problem
from tests.support.raising import raised

NOISE = random.Random(4).randbytes(3 << 20)
"""Longer than a step, even when compressed."""

CONTENT = NOISE + bytes(3 << 20)
LIMIT = len(CONTENT)
EACH = pytest.mark.parametrize("coding", CODINGS)


def told(coding: str, body: bytes) -> str:
    problem = raised(Problem, decompress, coding, body, 4 * LIMIT)
    assert problem.type.code == "malformed_body"
    return problem.detail


def refusal(coding: str, body: bytes, limit: int = LIMIT) -> str:
    return raised(Problem, decompress, coding, body, limit).type.code


@EACH
@pytest.mark.parametrize("content", [b"", b"a", bytes(1 << 20), NOISE[: (1 << 20) - 5], NOISE[: 2 << 20], CONTENT])
def test_what_was_compressed_comes_back(coding: str, content: bytes) -> None:
    assert decompress(coding, compress(coding, content), len(content)) == content


def test_identity_is_the_same() -> None:
    assert compress(IDENTITY, NOISE) is NOISE
    assert decompress(IDENTITY, NOISE, 1) is NOISE


@EACH
def test_an_answer_is_the_same_bytes_each_time(coding: str) -> None:
    """gzip's header could hold the time and a file's name."""
    assert compress(coding, CONTENT) == compress(coding, CONTENT)
    assert gzip.decompress(compress("gzip", CONTENT)) == CONTENT
    assert compress("gzip", b"")[4:8] == bytes(4)


@EACH
@pytest.mark.parametrize("length", [1, 100, LIMIT - 1])
def test_one_byte_more_than_the_limit_is_too_large(coding: str, length: int) -> None:
    assert refusal(coding, compress(coding, CONTENT[: length + 1]), length) == "body_too_large"


@EACH
@pytest.mark.parametrize("content", [b"", b"a", CONTENT])
def test_anything_but_one_whole_is_malformed(coding: str, content: bytes) -> None:
    whole = compress(coding, content)
    for cut in {0, 1, 4, len(whole) // 2, len(whole) - 1}:
        assert refusal(coding, whole[:cut]) == "malformed_body"
    for trailing in (b"\0", b"\n", bytes(2 << 20), *([] if coding == "gzip" else [whole, compress(coding, b"")])):
        assert refusal(coding, whole + trailing) == "malformed_body"
    for other in (b"\n" + whole, content, NOISE):
        assert refusal(coding, other) == "malformed_body"


@pytest.mark.parametrize(
    ("coding", "name", "whole"), [("gzip", "gzip", "gzip member"), ("zstd", "Zstandard", "Zstandard frame")]
)
def test_errors_are_told_apart(coding: str, name: str, whole: str) -> None:
    right = compress(coding, CONTENT)
    for other in (b"{", b"scores,labels\n1,1\n", compress("gzip" if coding == "zstd" else "zstd", b"a")):
        assert told(coding, other) == f"Content-Encoding says {name}, but the body is not {name}."
    for cut in (0, 1, 5, len(right) // 2, len(right) - 1):
        assert told(coding, right[:cut]) == f"The body ends before the end of its {whole}."
    for trailing in (b"\n", bytes(2 << 20)):
        assert told(coding, right + trailing) == f"There is extra data after the {whole}."
    checksum = {zstd.CompressionParameter.checksum_flag: 1}
    damaged = bytearray(zstd.compress(CONTENT, options=checksum) if coding == "zstd" else right)
    damaged[-1] ^= 1
    assert told(coding, bytes(damaged)) == f"The {whole} is damaged."


def test_a_zstandard_frame_that_asks_for_too_much_is_reported() -> None:
    long = zstd.compress(NOISE * 6, options={zstd.CompressionParameter.window_log: 24})
    assert "window of more than 8 MB" in told("zstd", long)
    dictionary = zstd.train_dict([b"score,label %d" % number for number in range(2000)], 1000)
    assert "needs a dictionary" in told("zstd", zstd.compress(b"score,label 5" * 10, zstd_dict=dictionary))


@pytest.mark.parametrize("trailing", [b"\0", NOISE[:10]])
@pytest.mark.parametrize(
    "length",
    [
        *(pytest.param((1 << 20) - short, marks=[pytest.mark.all] * (short % 8 > 0)) for short in range(40, 0, -1)),
        *(1 << 20, (1 << 20) + 1),
    ],
)
def test_an_end_near_that_of_a_step_is_an_end(length: int, trailing: bytes) -> None:
    """The last step may end before, within or after the checksum."""
    for coding in CODINGS:
        whole = compress(coding, NOISE[:length])
        assert decompress(coding, whole, LIMIT) == NOISE[:length]
        assert refusal(coding, whole + trailing) == "malformed_body"
        assert refusal(coding, whole[:-1]) == "malformed_body"


def test_a_wrong_checksum_is_malformed() -> None:
    with_checksum = zstd.compress(NOISE, options={zstd.CompressionParameter.checksum_flag: 1})
    assert decompress("zstd", with_checksum, LIMIT) == NOISE
    for coding, whole, place in (
        ("zstd", with_checksum, -1),
        *(("gzip", compress("gzip", NOISE), at) for at in (-1, -8)),
    ):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        assert refusal(coding, bytes(damaged)) == "malformed_body"


@pytest.mark.parametrize("wbits", [15, -15])
def test_deflate_is_not_gzip(wbits: int) -> None:
    assert refusal("gzip", zlib.compress(CONTENT, wbits=wbits)) == "malformed_body"


def test_a_zstandard_window_is_bounded() -> None:
    """RFC 9659 allows 8 MB; a larger window would be memory that the limit does not count."""
    parameter = zstd.CompressionParameter.window_log
    content = NOISE * 6
    for log in (10, 20, 23):
        assert decompress("zstd", zstd.compress(content, options={parameter: log}), len(content)) == content
    for log in (24, 27):
        assert refusal("zstd", zstd.compress(content, options={parameter: log}), len(content)) == "malformed_body"


def test_a_zstandard_dictionary_is_refused() -> None:
    dictionary = zstd.train_dict([b"score,label %d" % number for number in range(2000)], 1000)
    assert refusal("zstd", zstd.compress(b"score,label 5" * 10, zstd_dict=dictionary)) == "malformed_body"


def test_a_skippable_frame_is_not_a_body() -> None:
    skippable = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"
    assert refusal("zstd", skippable + compress("zstd", b"a")) == "malformed_body"
    assert refusal("zstd", compress("zstd", b"a") + skippable) == "malformed_body"


def test_what_a_zstandard_frame_announces_is_believed_when_it_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = zstd.compress(CONTENT)
    assert decompress("zstd", whole, LIMIT) == CONTENT
    never = replace(CODINGS["zstd"], decompressed=lambda _: pytest.fail("it was looked at"))
    monkeypatch.setitem(CODINGS, "zstd", never)
    assert refusal("zstd", whole, LIMIT - 1) == "body_too_large"


@EACH
def test_no_more_than_the_limit_is_made(coding: str) -> None:
    """Even if the body would give hundreds of times as much, whatever its header claims."""
    limit = 2 << 20
    bomb = compress(coding, bytes(25 * limit))
    tracemalloc.start()
    try:
        assert refusal(coding, bomb, limit) == "body_too_large"
        assert tracemalloc.get_traced_memory()[1] < 2 * limit + 4 * codings._CODED_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", ["Unable to create ZSTD_DCtx instance.", "Allocation error : not enough memory"])
@pytest.mark.parametrize("maker", ["ZstdDecompressor", "ZstdCompressor"])
def test_a_lack_of_memory_is_not_damage(maker: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zstandard's library reports both with the same error."""
    body = compress("zstd", b"a")

    def fail(*_: object, **__: object) -> None:
        raise zstd.ZstdError(text)

    monkeypatch.setattr(codings.zstd, maker, fail)
    with pytest.raises(MemoryError):
        decompress("zstd", body, LIMIT) if maker == "ZstdDecompressor" else compress("zstd", b"a")


def test_members_of_gzip_are_read_one_after_another() -> None:
    members = [b"", b"a", NOISE[: 1 << 16], CONTENT[: 1 << 20], b""]
    assert decompress("gzip", b"".join(compress("gzip", member) for member in members), LIMIT) == b"".join(members)
    for shift in range(1 << 16, (1 << 16) + 30):  # the second member begins before, at and after the end of a step
        first = gzip_of_length(shift)
        assert decompress("gzip", first + compress("gzip", b"b"), LIMIT).endswith(b"b")
        assert refusal("gzip", first + b"\x1f") == "malformed_body"
        assert refusal("gzip", first + b"\x1f\x8c" + bytes(20)) == "malformed_body"


def gzip_of_length(length: int) -> bytes:
    """A gzip member of this many bytes, of incompressible data, with a name that fills it up."""
    member = compress("gzip", NOISE[: length - 200])
    name = b"n" * (length - len(member) - 1) + b"\0"
    return member[:3] + b"\x08" + member[4:10] + name + member[10:]


def test_members_of_gzip_are_counted_and_held_to_the_limit() -> None:
    empty = compress("gzip", b"")
    assert decompress("gzip", 10_000 * empty, LIMIT) == b""
    assert told("gzip", 10_001 * empty) == (
        "The body has more than 10000 gzip members; compress it in fewer, longer ones."
    )
    zeros = compress("gzip", bytes(LIMIT // 2))
    assert len(decompress("gzip", zeros + zeros, LIMIT)) == LIMIT
    assert refusal("gzip", zeros + zeros + compress("gzip", b"a")) == "body_too_large"
