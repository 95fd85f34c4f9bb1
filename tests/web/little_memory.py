"""Answers requests with less memory than they take, from nearly none on until it is enough, for test_little_memory.py.

Each is answered in a process of its own, which alone ends where a library crashes. Prints the exit status and the
answer's status of each, and with how much memory beyond what was there before.
"""

import io
import json
import os
import resource
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from service.answer import Request
from service.web import helper
from service.wire.codings import IDENTITY, compress
from service.wire.media_types import ARROW_STREAM, CSV, JSON, PARQUET
from tests.web.big_requests import LIMITS

ROWS = 60_000
"""Fewer than JSON writes at once: its first piece is a whole column."""

MOST_MIB = 120


def requests() -> Iterator[Request]:
    """Each format and coding, in and out."""
    dice = np.random.default_rng(1)
    scores = dice.random(ROWS)
    labels = (dice.random(ROWS) < scores).astype(np.int64)
    table = pa.table({"scores": scores, "labels": labels})
    text, file, stream = io.BytesIO(), io.BytesIO(), io.BytesIO()
    csv.write_csv(table, text)
    parquet.write_table(table, file)
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    document = json.dumps({"scores": scores.tolist(), "labels": labels.tolist()}).encode()
    for content_type, accept, body, coding in (
        (JSON, JSON, document, IDENTITY),
        (JSON, JSON, document, "zstd"),
        (JSON, JSON, document, "gzip"),
        (CSV, CSV, text.getvalue(), IDENTITY),
        (PARQUET, ARROW_STREAM, file.getvalue(), IDENTITY),
        (ARROW_STREAM, JSON, stream.getvalue(), IDENTITY),
    ):
        yield Request("curves", "/v1/curves", content_type, accept, (), compress(coding, body), coding, coding)


def outcome(request: Request, mib: int) -> tuple[int, str]:
    """Answer in a process that may take so much more memory; return its exit status and the answer's."""
    with tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as content, tempfile.TemporaryFile() as told:
        body.write(request.body)
        body.flush()
        process = os.fork()
        if process == 0:
            most = _data_bytes() + (mib << 20)
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            result = helper._answered(replace(request, body=b""), LIMITS, body.fileno(), content.fileno())
            os.write(told.fileno(), str(getattr(result, "status", result)).encode())
            os._exit(0)
        _, status = os.waitpid(process, 0)
        told.seek(0)
        return os.waitstatus_to_exitcode(status), told.read().decode()


def _data_bytes() -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmData:")) << 10


def main() -> None:
    """Try each request until it is answered."""
    for request in requests():
        for mib in range(MOST_MIB):
            exit_status, status = outcome(request, mib)
            print(request.content_type, request.content_encoding, request.accept, mib, exit_status, status, flush=True)
            if status == "200":
                break


if __name__ == "__main__":
    main()
