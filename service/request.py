"""One request to evaluate, how much work it may be, and its answer: plain data, which also goes through pipes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from service.datasets.file import Dataset
from service.wire.formats.charsets import UTF_8
from service.wire.formats.codings import IDENTITY, Body


@dataclass(slots=True)
class Request:
    """What to evaluate. `parameters` are the query's, in order; media types and codings are known to be supported.

    `content_type` may also be a vague one (`GENERAL` in wire/media_types.py). `charset` is that of a text. `datasets`
    are those that the client may name in place of an evaluation.
    """

    operation: str
    instance: str
    content_type: str
    accept: str
    parameters: tuple[tuple[str, str], ...]
    body: Body
    content_encoding: str = IDENTITY
    accept_encoding: str = IDENTITY
    charset: str = UTF_8
    datasets: Mapping[str, Dataset] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Effort:
    """The most work to do for a request while others wait.

    seconds       the processor time of its thread.
    body_bytes    the most that the body may become when it is decompressed or its columns are decoded.
    answer_bytes  the most that the answer may become before it is compressed.
    """

    seconds: float
    body_bytes: int
    answer_bytes: int


@dataclass(slots=True)
class Facts:
    """Facts about a request for logs and metrics: the number of rows, and the duration of each stage.

    A stage that was not reached has no duration. Checking counts as decoding, compression as encoding.
    """

    rows: int | None = None
    decode_seconds: float | None = None
    evaluate_seconds: float | None = None
    encode_seconds: float | None = None

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Measure a stage, even if it fails."""
        start = perf_counter()
        try:
            yield
        finally:
            setattr(self, stage, perf_counter() - start)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to send; `problem` is the code of a failure."""

    status: int
    media_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    content_encoding: str = IDENTITY
    problem: str | None = None
    facts: Facts = field(default_factory=Facts, compare=False)
