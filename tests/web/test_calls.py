"""Ordinary calls: what common tools send by default, and the answers they get.

Each is (headers, body, query) as the tool writes them; tests/e2e/test_tools.py has the tools themselves send some.
"""

import json
from dataclasses import dataclass, field
from functools import cache

import pyarrow as pa
import pytest
from flask.testing import FlaskClient

from service.app import create_app
from service.settings import read_settings
from service.wire.formats.codings import compress
from tests.properties.bodies import arrow_body, parquet_body

CURVES = "/v1/curves"
JSON_BODY = b'{"scores": [0.9, 0.8, 0.7, 0.2], "labels": [1, 0, 1, 0], "include": ["auc"]}'
CSV_BODY = b"scores,labels\n0.9,1\n0.8,0\n0.7,1\n0.2,0\n"
TABLE = pa.table({"scores": [0.9, 0.8, 0.7, 0.2], "labels": [1, 0, 1, 0]})
ROWS = [{"scores": 0.9, "labels": 1}, {"scores": 0.2, "labels": 0}]
BY_ROW = {"scores": {"0": 0.9, "1": 0.2}, "labels": {"0": 1, "1": 0}}
FORM = "application/x-www-form-urlencoded"
GZIP = {"Content-Encoding": "gzip"}
LIST = 'df.to_dict(orient="list")'


@dataclass(frozen=True)
class Call:
    """A call as a tool makes it; the status of its answer, and what a refusal says."""

    content_type: str | None
    body: bytes
    status: int = 200
    says: str = ""
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)


def in_json(document: object) -> bytes:
    return json.dumps(document).encode()


CALLS = {
    "curl -d '{...}', wget --post-file=body.json": Call(FORM, JSON_BODY),
    "curl -d with a query": Call(FORM, JSON_BODY, query="thresholds=0.5,0.75&lower_is_positive=False"),
    "curl --data-binary @scores.parquet": Call(FORM, parquet_body(TABLE), query="include=auc"),
    "curl --data-binary @scores.csv, wget --post-file=scores.csv": Call(
        FORM, CSV_BODY, 415, "send Content-Type: text/csv"
    ),
    "curl -d @scores.csv": Call(FORM, CSV_BODY.replace(b"\n", b""), 415, "--data-binary"),
    "curl -H 'Content-Type: text/csv' -d @scores.csv": Call(
        "text/csv", CSV_BODY.replace(b"\n", b""), 422, "--data-binary"
    ),
    "curl -F file=@scores.csv, requests.post(url, files=...)": Call(
        "multipart/form-data; boundary=x", b"--x\r\n\r\n--x--\r\n", 415, "or body: file of JavaScript's fetch"
    ),
    "curl -X POST": Call(None, b"", 400, "The body is empty; send scores and labels"),
    "curl -H 'Content-Type: text/csv' --data-binary @nothing.csv": Call(
        "text/csv", b"", 400, "The body is empty; send a table, with columns such as scores and labels."
    ),
    "http POST url @scores.csv": Call("text/csv", CSV_BODY, query="include=auc"),
    "http POST url < scores.csv": Call(
        "application/json", CSV_BODY, 400, ("looks like CSV: send Content-Type: text/csv")
    ),
    "http --form POST url scores=0.9 labels=1": Call(FORM, b"scores=0.9&labels=1", 415, "send a JSON object"),
    "requests.post(url, data=json.dumps(body)), Java's HttpClient with a string": Call(None, JSON_BODY),
    "requests.post(url, data=file) of CSV, Java's ofFile": Call(None, CSV_BODY, 415, "Content-Type: text/csv"),
    "requests.post(url, params={'paired': True, 'include': ''}, json=body)": Call(
        "application/json", JSON_BODY, query="lower_is_positive=True&thresholds="
    ),
    "requests.post(url, json=df.to_dict())": Call("application/json", in_json(BY_ROW), 422, LIST),
    "requests.post(url, json=df.to_dict('records'))": Call("application/json", in_json(ROWS), 422, LIST),
    "requests.post(url, json=df.to_json())": Call("application/json", in_json(json.dumps(BY_ROW)), 422, "twice"),
    "fetch(url, {method: 'POST', body: JSON.stringify(body)})": Call("text/plain;charset=UTF-8", JSON_BODY),
    "Invoke-RestMethod -InFile, of a file that was saved as UTF-16": Call(
        None, JSON_BODY.decode().encode("utf-16"), 415, "UTF-16: send it in UTF-8"
    ),
}
"""The 19 ordinary calls."""

OTHERS = {
    "octet-stream": Call("application/octet-stream", JSON_BODY),
    "octet-stream, a list": Call("application/octet-stream", in_json(ROWS), 422, LIST),
    "octet-stream, an Arrow stream": Call("application/octet-stream", arrow_body(TABLE), query="include=auc"),
    "octet-stream, anything": Call("application/octet-stream", b"hello", 415, "does not show its format"),
    "octet-stream, HTML": Call("application/octet-stream", b"<!doctype html>", 415, "HTML or XML"),
    "octet-stream, an Excel workbook": Call(
        "application/octet-stream", b"PK\x03\x04...xl/workbook.xml...", 415, "save it as CSV"
    ),
    "Excel's name of CSV": Call("application/vnd.ms-excel", CSV_BODY, 415, "Content-Type: text/csv"),
    "an old Excel workbook": Call(
        "application/vnd.ms-excel", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 415, "save it as CSV"
    ),
    "application/csv": Call("application/csv", CSV_BODY, query="include=auc"),
    "application/csv that is Parquet": Call("application/csv", parquet_body(TABLE), query="include=auc"),
    "application/x-parquet": Call("application/x-parquet", parquet_body(TABLE), query="include=auc"),
    "text/json": Call("text/json", JSON_BODY),
    "no type, gzip": Call(None, compress("gzip", JSON_BODY), headers=GZIP),
    "no type, gzip that nobody said": Call(None, compress("gzip", JSON_BODY), 415, "send Content-Encoding: gzip"),
    "no type, gzip twice": Call(
        None,
        compress("gzip", compress("gzip", JSON_BODY)),
        415,
        "compress it once",
        headers={"Content-Encoding": "gzip"},
    ),
    "no type, a quoted header": Call(None, b'"scores","labels"\n0.9,1\n', 415, "Content-Type: text/csv"),
    "no type, a byte order mark": Call(None, b"\xef\xbb\xbf" + JSON_BODY, 400, "byte order mark"),
    "a byte order mark": Call("application/json", b"\xef\xbb\xbf" + JSON_BODY, 400, "byte order mark (EF BB BF)"),
    "UTF-16": Call("application/json", JSON_BODY.decode().encode("utf-16-le"), 400, "UTF-16: send it in UTF-8"),
    "UTF-16, the other way": Call("application/json", JSON_BODY.decode().encode("utf-16-be"), 400, "UTF-16"),
    "an Excel workbook": Call(
        "application/json", b"PK\x03\x04...xl/workbook.xml...", 400, "an Excel workbook: save it as CSV"
    ),
    "no body": Call("text/csv", b"", 400, "The body is empty"),
    "labels in quotes": Call(
        "application/json",
        b'{"scores": [0.9, 0.2], "labels": ["1", "0"]}',
        422,
        "labels[0]: '1' is a string; send 1 without quotes.",
    ),
    "labels in quotes, True": Call(
        "application/json", b'{"scores": [0.9, 0.2], "labels": ["True", "False"]}', 422, "send true without quotes"
    ),
    "scores in quotes": Call(
        "application/json", b'{"scores": ["0.9", "0.2"], "labels": [1, 0]}', 422, "send 0.9 without quotes"
    ),
    "CSV in a string": Call("application/json", in_json(CSV_BODY.decode()), 422, "Content-Type: text/csv"),
    "orient=split": Call("application/json", in_json({"columns": ["scores"], "index": [0], "data": [[1]]}), 422, LIST),
    "orient=table": Call("application/json", in_json({"schema": {}, "data": ROWS}), 422, LIST),
    "orient=index": Call("application/json", in_json({"0": ROWS[0], "1": ROWS[1]}), 422, LIST),
    "orient=values": Call("application/json", b"[[0.9, 1], [0.2, 0]]", 422, LIST),
    "a number": Call("application/json", b"1", 422, "The body is not an object"),
    "JSON lines": Call("application/json", b'{"scores": 0.9}\n{"scores": 0.2}', 400, "JSON Lines"),
    "str() of a dict": Call("application/json", b"{'scores': [0.9]}", 400, "double quotes"),
    "str() of a dict in double quotes": Call(
        "application/json", b'{"labels": [True]}', 400, "True is Python; JSON has true"
    ),
    "columns as scikit-learn calls them": Call(
        "application/json",
        b'{"y_true": [1, 0], "y_score": [0.9, 0.2]}',
        422,
        "did you mean scores?",
    ),
    "one column as others call it": Call(
        "application/json", b'{"target": [1, 0], "scores": [0.9, 0.2]}', 422, "did you mean labels?"
    ),
    "a comma too many": Call("application/json", b'{"labels": [1, 0], }', 400, "ends with a comma"),
    "cut off": Call("application/json", b'{"labels": [1, 0]', 400, "It ends too early, at character 17."),
    "predict_proba(X).tolist()": Call(
        "application/json", b'{"scores": [[0.1, 0.9], [0.8, 0.2]], "labels": [1, 0]}', 422, "predict_proba(X)[:, 1]"
    ),
    "fetch(url, {method, body: {scores, labels}})": Call(
        "text/plain", b"[object Object]", 415, "JSON.stringify(object)"
    ),
    "the same with a Content-Type": Call("application/json", b"[object Object]", 400, "send JSON.stringify(object)"),
    "JSON.stringify() of a Float64Array": Call(
        "application/json", b'{"scores": {"0": 0.9, "1": 0.2}, "labels": [1, 0]}', 422, "Array.from(array)"
    ),
    "NaN": Call("application/json", b'{"scores": [NaN]}', 400, "leave out its row"),
    "JSON that is said to be CSV": Call("text/csv", JSON_BODY, 400, "This looks like JSON: send Content-Type"),
}


@pytest.mark.parametrize("name", [*CALLS, *OTHERS])
def test_a_call_is_answered_or_advised_what_to_send(client: FlaskClient, name: str) -> None:
    call = (CALLS | OTHERS)[name]
    response = client.post(
        CURVES, data=call.body, query_string=call.query, headers=call.headers, content_type=call.content_type
    )
    document = json.loads(response.data)
    assert response.status_code == call.status, document
    if call.status == 200:
        assert "roc" in document["auc"]
    assert call.says in document.get("detail", "")


@cache
def client_of_a_server_that_allows(origins: str) -> FlaskClient:
    return create_app(read_settings({"ROCPR_CORS_ORIGINS": origins})).test_client()


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("", JSON_BODY),
        ("text/plain", JSON_BODY),
        (FORM, JSON_BODY),
        ("application/octet-stream", parquet_body(TABLE)),
        ("application/csv", CSV_BODY),
    ],
)
class TestOrigins:
    """Any page may send these types without asking first; only pages of our own or an allowed origin get an answer."""

    def status(self, origin: str, content_type: str, body: bytes, allowed: str = "", **headers: str) -> int:
        client = client_of_a_server_that_allows(allowed)
        given = {"Origin": origin, "Content-Type": content_type} | headers
        response = client.post(f"{CURVES}", data=body, headers=given, base_url="http://here:8000")
        if response.status_code != 200:
            assert response.get_json(force=True)["type"] == "/problems/unsupported_media_type"
        return response.status_code

    @pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://here", "http://here:8001", "https://x"])
    def test_a_foreign_page_is_refused(self, origin: str, content_type: str, body: bytes) -> None:
        assert self.status(origin, content_type, body) == 415
        assert self.status(origin, content_type, body, "https://allowed.example") == 415

    @pytest.mark.parametrize("origin", ["http://here:8000", "https://here:8000", "HTTP://HERE:8000"])
    def test_our_own_is_not(self, origin: str, content_type: str, body: bytes) -> None:
        assert self.status(origin, content_type, body) == 200

    def test_nor_is_one_that_is_allowed(self, content_type: str, body: bytes) -> None:
        assert self.status("https://a.example", content_type, body, "https://a.example, https://b.example") == 200
        assert self.status("https://evil.example", content_type, body, "*") == 200


def test_a_page_that_says_what_it_sends_asked_before(client: FlaskClient) -> None:
    headers = {"Origin": "http://evil.example", "Content-Type": "application/json"}
    assert client.post(CURVES, data=JSON_BODY, headers=headers).status_code == 200
