"""Bodies that end early: whatever the format, none is evaluated."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa

from service.wire.formats.codings import CODINGS, compress
from service.wire.media_types import ARROW_STREAM, CSV, JSON, PARQUET
from tests.e2e.wire import Answer, Connection, chunked, request
from tests.properties.bodies import arrow_body, csv_body, json_body, parquet_body
from tests.properties.bodies import chunked as in_batches
from tests.support.attacks.found import Found
from tests.support.servers import Service, serving

ROWS = 150
PIECE = 97
"""The length of a chunk, chosen so that cuts fall into chunks, between them and into their sizes."""

CLIENTS = 4
SETTINGS = {"slots": CLIENTS, "workers": 2, "big_seconds": 300}
"""An evaluator has a low priority, and may wait for long on a busy machine."""
TRIES = 20


def bodies() -> dict[str, tuple[dict[str, str], bytes]]:
    """{name: (headers, whole body)}; Arrow in several batches, CSV in rows: a part of these is often valid."""
    random = np.random.default_rng(3)
    table = pa.table({"scores": random.random(ROWS), "labels": random.integers(0, 2, ROWS)})
    text = json_body(table.to_pydict())
    found = {
        "JSON": ({"Content_Type": JSON}, text),
        "CSV": ({"Content_Type": CSV}, csv_body(table)),
        "Arrow": ({"Content_Type": ARROW_STREAM}, arrow_body(in_batches(table, 10))),
        "Parquet": ({"Content_Type": PARQUET}, parquet_body(table, row_group_size=50)),
    }
    return found | {
        coding: ({"Content_Type": JSON, "Content_Encoding": coding}, compress(coding, text)) for coding in CODINGS
    }


def messages(headers: dict[str, str], body: bytes) -> Iterator[tuple[str, bytes, bytes]]:
    """How a body is sent: (framing, head, what follows it)."""
    yield "Content-Length", request("POST", "/v1/curves", **headers, Content_Length=str(len(body))), body
    pieces = [body[start : start + PIECE] for start in range(0, len(body), PIECE)]
    head = request("POST", "/v1/curves", **headers, Transfer_Encoding="chunked")
    yield "chunked", head, chunked(*pieces)


def sent(port: int, data: bytes, *, ends: bool = False) -> Answer:
    """Send this much and, if it ends there, close the sending side; retry while there is no room."""
    for _ in range(TRIES):
        with Connection(port) as connection:
            connection.send(data)
            answer = (connection.half_close() if ends else connection).read()
        if answer.status != 503:
            break
    return answer


def cut(service: Service, places: int) -> Found:
    """Cut every body at this many places, the last of them one byte before the end."""
    found = Found()
    statuses: Counter[int] = Counter()
    tried = 0
    with ThreadPoolExecutor(CLIENTS) as pool:
        for name, (headers, body) in bodies().items():
            for framing, head, follows in messages(headers, body):
                whole = sent(service.port, head + follows)
                found.require(whole.status == 200, f"{name}, {framing}: the whole body is {whole.status}")
                ends = sorted({*np.linspace(0, len(follows) - 1, places).astype(int).tolist(), len(follows) - 1})
                cuts = [head + follows[:end] for end in ends]
                answers = pool.map(lambda data: sent(service.port, data, ends=True), cuts)
                for end, answer in zip(ends, answers, strict=True):
                    statuses[answer.status] += 1
                    tried += 1
                    found.require(answer.status == 400, f"{name}, {framing}, cut at {end}: {answer.status}")
    found.figures = {"cuts": f"{tried:,}", "answers 200": str(statuses[200]), "answers 400": f"{statuses[400]:,}"}
    found.require(not service.failures(), f"the log: {service.failures()[:1]}")
    found.done = f"{len(bodies())} formats and codings, Content-Length and chunked, {places:,} places each"
    return found


def run(places: int) -> Found:
    with serving(**SETTINGS) as service:
        return cut(service, places)
