"""Common tools with their default headers; tests/web/test_calls.py has all ordinary calls.

A tool that this machine lacks is skipped.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest
import requests

from tests.properties.bodies import parquet_body
from tests.support.servers import Server

BODY = '{"scores": [0.9, 0.8, 0.7, 0.2], "labels": [1, 0, 1, 0], "include": ["auc"]}'
CSV = "scores,labels\n0.9,1\n0.8,0\n0.7,1\n0.2,0\n"
ROC = 0.75
IN_JAVA = """
import java.net.URI;
import java.net.http.*;
import java.nio.file.Path;

class Call {
    public static void main(String[] given) throws Exception {
        var body = HttpRequest.BodyPublishers.ofFile(Path.of(given[1]));
        var request = HttpRequest.newBuilder(URI.create(given[0])).POST(body).build();
        System.out.print(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body());
    }
}
"""
IN_NODE = """
import { readFileSync } from "node:fs";
const [url, file] = process.argv.slice(2);
process.stdout.write(await (await fetch(url, { method: "POST", body: readFileSync(file, "utf8") })).text());
"""
CALLS = {
    "curl -d": ["curl", "-sS", "-d", "@FILE", "URL"],
    "curl --data-binary": ["curl", "-sS", "--data-binary", "@FILE", "URL"],
    "curl, from a pipe of unknown length": ["curl", "-sS", "-X", "POST", "-H", "Expect:", "-T", "-", "URL"],
    "wget": ["wget", "-qO-", "--content-on-error", "--post-file=FILE", "URL"],
    "Java's HttpClient": ["java", "JAVA", "URL", "FILE"],
    "fetch of Node": ["node", "NODE", "URL", "FILE"],
}

SLOW_TO_START = {"Java's HttpClient", "fetch of Node"}


def tools(*without: str) -> pytest.MarkDecorator:
    """A test for each tool."""
    marks = {True: [pytest.mark.all], False: []}
    names = [pytest.param(name, marks=marks[name in SLOW_TO_START]) for name in CALLS if name not in without]
    return pytest.mark.parametrize("name", names)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tools")
    (folder / "Call.java").write_text(IN_JAVA)
    (folder / "call.mjs").write_text(IN_NODE)
    (folder / "body.json").write_text(BODY)
    (folder / "scores.csv").write_text(CSV)
    table = pa.table({"scores": [0.9, 0.8, 0.7, 0.2], "labels": [1, 0, 1, 0]})
    (folder / "scores.parquet").write_bytes(parquet_body(table))
    return folder


def call(name: str, folder: Path, server: Server, file: str, query: str = "") -> dict:
    if shutil.which(CALLS[name][0]) is None:
        pytest.skip(f"there is no {CALLS[name][0]} on this machine")
    stands_for = {
        "URL": f"http://127.0.0.1:{server.port}/v1/curves{query}",
        "FILE": str(folder / file),
        "JAVA": str(folder / "Call.java"),
        "NODE": str(folder / "call.mjs"),
    }
    command = []
    for word in CALLS[name]:
        short = next((each for each in stands_for if word.endswith(each)), "")
        command.append(word.removesuffix(short) + stands_for.get(short, ""))
    fed = (folder / file).read_bytes()
    return json.loads(subprocess.run(command, input=fed, capture_output=True, timeout=60, check=False).stdout)


@tools()
def test_json_is_read(name: str, folder: Path, server: Server) -> None:
    assert call(name, folder, server, "body.json", "?lower_is_positive=False&thresholds=")["auc"]["roc"] == ROC


@tools("curl -d", "fetch of Node")
def test_parquet_is_read(name: str, folder: Path, server: Server) -> None:
    """curl -d removes bytes, and Node's strings are not bytes."""
    assert call(name, folder, server, "scores.parquet", "?include=auc")["auc"]["roc"] == ROC


@tools()
def test_csv_is_sent_with_its_type(name: str, folder: Path, server: Server) -> None:
    problem = call(name, folder, server, "scores.csv")
    assert problem["status"] == 415
    assert "send Content-Type: text/csv" in problem["detail"]
    assert ("--data-binary" in problem["detail"]) == (name == "curl -d")


def test_requests(server: Server) -> None:
    url = f"http://127.0.0.1:{server.port}/v1/curves"
    for sent in (
        {"data": BODY},
        {"data": iter([BODY.encode()])},
        {"json": json.loads(BODY), "params": {"lower_is_positive": False, "thresholds": None}},
        {"json": json.loads(BODY) | {"include": []}, "params": {"include": "auc"}},
    ):
        assert requests.post(url, timeout=60, **sent).json()["auc"]["roc"] == ROC
    assert "send a JSON object" in requests.post(url, data=json.loads(BODY), timeout=60).json()["detail"]
    refused = requests.post(url, json={"scores": {"0": 0.9}, "labels": {"0": 1}}, timeout=60).json()
    assert 'df.to_dict(orient="list")' in refused["detail"]
