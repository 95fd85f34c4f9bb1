"""Answers requests with less memory than they need, from almost none up to enough, for test_little_memory.py.

Each is answered in a separate process, the only one to end if a library crashes. Prints the exit status, the answer's
status, and the amount of additional memory. With the argument 4, it tries every fourth amount.
"""

import json
import os
import resource
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from service.environment import leave_pandas_out, prepare_process
from service.request import Request
from service.web.lanes import evaluating
from service.wire.formats.codings import IDENTITY, compress
from service.wire.media_types import ARROW_STREAM, CSV, JSON, PARQUET
from tests.properties.bodies import arrow_body, csv_body, parquet_body
from tests.web.big_requests import LIMITS

ROWS = 60_000
"""Fewer than JSON writes at once, so that its first piece is a whole column."""

MOST_MIB = 120

LONG_ROWS = 2_500_000
LONG_MIB = range(180, 1000, 24)
"""For an answer much longer than the memory that is checked in advance."""

TEXT_ROWS = 500_000
TEXT_MIB = range(0, 1000, 6)


def requests() -> Iterator[tuple[Request, range]]:
    """Each format and coding, in and out, with the memory to try; last, columns that compress to almost nothing."""
    dice = np.random.default_rng(1)
    scores = dice.random(ROWS)
    labels = (dice.random(ROWS) < scores).astype(np.int64)
    table = pa.table({"scores": scores, "labels": labels})
    longer = csv_body(pa.table({"scores": dice.random(TEXT_ROWS), "labels": np.arange(TEXT_ROWS) % 2}))
    query = (("include", "auc"),)
    yield Request("curves", "/v1/curves", CSV, CSV, (*query, ("table", "auc")), longer), TEXT_MIB
    document = json.dumps({"scores": scores.tolist(), "labels": labels.tolist()}).encode()
    for content_type, accept, body, coding in (
        (JSON, JSON, document, IDENTITY),
        (JSON, JSON, document, "zstd"),
        (JSON, JSON, document, "gzip"),
        (CSV, CSV, csv_body(table), IDENTITY),
        (PARQUET, ARROW_STREAM, parquet_body(table), IDENTITY),
        (ARROW_STREAM, JSON, arrow_body(table), IDENTITY),
    ):
        packed = compress(coding, body)
        yield Request("curves", "/v1/curves", content_type, accept, (), packed, coding, coding), range(MOST_MIB)
    table = pa.table({"scores": dice.random(LONG_ROWS), "labels": np.arange(LONG_ROWS) % 1_000_000 == 1})
    query = (("include", "points"),)
    yield (
        Request("curves", "/v1/curves", ARROW_STREAM, JSON, query, arrow_body(table), accept_encoding="zstd"),
        LONG_MIB,
    )


def outcome(request: Request, mib: int) -> tuple[int, str]:
    """Answer in a process that may take this much more memory; return its exit status and the answer's."""
    with tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as content, tempfile.TemporaryFile() as told:
        body.write(request.body)
        body.flush()
        process = os.fork()
        if process == 0:
            most = data_bytes() + (mib << 20)
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            result = evaluating._answered_in_files(replace(request, body=b""), LIMITS, body.fileno(), content.fileno())
            os.write(told.fileno(), str(getattr(result, "status", result)).encode())
            os._exit(0)
        _, status = os.waitpid(process, 0)
        told.seek(0)
        return os.waitstatus_to_exitcode(status), told.read().decode()


def data_bytes() -> int:
    """How much private memory this process has, as the limit counts it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmData:")) << 10


def main() -> None:
    """Try each request until it is answered."""
    leave_pandas_out()
    prepare_process()  # as in the server, because where memory comes from decides where it runs out
    for number, (request, memory) in enumerate(requests()):
        for mib in memory[:: int(sys.argv[1])]:
            exit_status, status = outcome(request, mib)
            print(number, mib, exit_status, status, flush=True)
            if status == "200":
                break


if __name__ == "__main__":
    main()
