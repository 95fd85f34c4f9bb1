"""The commands in the documents, each with the output below it, and how to run one."""

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import requests

from tests.readme.documents import ROOT, blocks, text_of

NOT_RUN = {
    "sh deploy/run.sh": "tests/e2e runs it",
    "sh deploy/test.sh": "it runs this test",
    "sh deploy/soak.sh": "it takes over an hour; tests/e2e runs its rows in short",
    ".venv/bin/rocpr serve": "tests/e2e runs it",
    "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 .venv/bin/rocpr serve": "tests/e2e/test_traces.py sends spans",
    "python3 -m venv ~/rocpr-env\n~/rocpr-env/bin/python -m pip install '.[duckdb]'\n~/rocpr-env/bin/rocpr serve": (
        "it makes an environment; tests/e2e builds the wheel and uses it"
    ),
    ". .venv/bin/activate": "it changes the shell",
    "sh deploy/setup.sh dev\n.venv/bin/python -m tests.tools.bench": "tests/tools/bench runs it, in short",
    ".venv/bin/python -m tests.tools.costs --written": "tests/test_longest_answers.py measures most of them",
    "sh deploy/setup.sh dev\nsh deploy/spark.sh\n.venv/bin/python -m tests.tools.scale": "its tests run it, in short",
    ".venv/bin/python -m pytest tests/curves": "so this test is run",
    (
        ".venv/bin/python -m pytest tests/contract tests/readme tests/cli tests/test_*.py \\\n"
        "  tests/curves/test_areas.py tests/wire/formats/test_signatures.py tests/deploy/test_ci_scripts.py \\\n"
        "  tests/refusals/test_tables.py tests/golden/test_corpus.py"
    ): "so this test is run",
    ".venv/bin/python -m service.contract": "tests/contract runs it and compares",
    ".venv/bin/python -m tests.readme.test_pictures": "it changes the checkout; its tests compare",
    ".venv/bin/python -m tests.readme.write": "it changes the checkout; its tests compare",
    (
        ".venv/bin/python -m tests.tools.coverage_of_intervals --resamples 0\n"
        ".venv/bin/python -m tests.tools.coverage_of_intervals"
    ): "it takes hours; its tests run it in short",
    ".venv/bin/python -m tests.tools.coverage_of_intervals.classes": "it takes minutes; its tests run a cell of it",
    ".venv/bin/python -m tests.tools.coverage_of_intervals.bands": "it takes half an hour; its tests run cells of it",
    ".venv/bin/python -m tests.tools.error_rates_of_gates": "it takes hours; its tests run it in short",
    ".venv/bin/python -m tests.tools.error_rates_of_gates.cells": "it takes half an hour; its tests run a cell of it",
    ".venv/bin/python -m tests.tools.error_rates_of_gates.plans": "it takes minutes; its tests run a cell of it",
    ".venv/bin/python -m tests.tools.error_rates_of_gates.clusters": "its tests run cells",
    ".venv/bin/python -m tests.tools.error_rates_of_gates.clusters_in_slices": "its tests run cells",
    ".venv/bin/python -m tests.tools.error_rates_of_gates.slices --alone 40000 --sets 1000": "its tests run cells",
    ".venv/bin/python -m tests.tools.error_rates_of_gates.prevalence": "it takes minutes; its tests run a cell of it",
    ".venv/bin/python -m tests.tools.error_rates_of_gates.folds": "it takes minutes; its tests run a cell of it",
    ".venv/bin/python -m tests.tools.error_rates_of_gates.relative_drops": "its tests run cells",
    ".venv/bin/python -m tests.tools.error_rates_of_gates.classes": "its tests run cells",
    ".venv/bin/python -m tests.tools.error_rates_of_gates.parts": "it takes minutes; its tests run a cell of it",
    ".venv/bin/python -m tests.tools.mutants": "it takes an hour; its tests try its changes",
}
"""Commands that are not run here, and why."""

ELSEWHERE = {"nginx", "install", "cp", "systemctl", "docker", "helm", "kubectl"}
"""Programs whose commands change a machine or need one that is set up; tests/deploy checks the files that they name."""

SERVICE = "http://127.0.0.1:8000"
PIPE = " |\n"


@dataclass(frozen=True)
class Example:
    """A command, its document, the language of the block below it, and that block."""

    document: str
    command: str
    language: str
    output: str

    @property
    def kind(self) -> str:
        """The program whose output is shown: the last of a pipe."""
        return self.command.rpartition(PIPE)[2].split()[0]

    def __str__(self) -> str:
        return f"{self.document}: {self.kind}"


def draws(command: str) -> bool:
    """Whether a command writes a picture; tests/readme/test_pictures.py runs these."""
    return ".svg" in command


def examples(document: str) -> list[Example]:
    """Pair each command with the block after it; at most a line that ends in a colon may come between."""
    text = text_of(document)
    found = blocks(text)
    pairs = []
    for block, after in zip_longest(found, found[1:]):
        command = block[2].strip()
        if block[1] != "sh" or command in NOT_RUN or draws(command) or command.split()[0] in ELSEWHERE:
            continue
        assert after is not None, command
        between = text[block.end() : after.start()].strip()
        assert not between or (between.endswith(":") and "\n" not in between), f"no output is shown under: {command}"
        pairs.append(Example(document, command, after[1], after[2]))
    return pairs


def beside(rocpr: Path) -> Path:
    """Put the other program of an active environment beside this one; return their folder."""
    python = rocpr.with_name("python")
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    return rocpr.parent


def run(command: str, port: int, programs: Path, *, curl: bool) -> str:
    """Run a command against the server on `port`; without curl, do what the curl line says."""
    command = command.replace(SERVICE, f"http://127.0.0.1:{port}")
    feed, _, last = command.rpartition(PIPE)
    if last.split()[0] == "curl" and not curl:
        return like_curl(shlex.split(last.replace("\\\n", " ")), _in_shell(feed, programs))
    return _in_shell(command, programs).decode()


def _in_shell(command: str, programs: Path) -> bytes:
    command = command.replace(".venv/bin/", "")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("ROCPR_")}
    variables["PATH"] = f"{programs}{os.pathsep}{variables['PATH']}"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, env=variables, capture_output=True, timeout=120, check=True)
    assert done.stderr == b""
    return done.stdout


def like_curl(words: list[str], fed: bytes) -> str:
    """Send what a curl line would send, for machines without curl: the few options that the documents use."""
    headers, data, url = {}, b"", ""
    rest = iter(words[1:])
    for word in rest:
        if word == "-H":
            name, _, value = next(rest).partition(": ")
            headers[name] = value
        elif word in {"-d", "--data-binary"}:
            data = _sent(next(rest), fed)
        elif word == "--compressed":
            headers["Accept-Encoding"] = "gzip"
        elif word != "-sS":
            assert not word.startswith("-"), f"an option of curl that this test does not know: {word}"
            url = word
    answer = requests.post(url, data=data, headers={"Accept-Encoding": "identity"} | headers, timeout=60)
    assert answer.headers.get("Content-Encoding", "identity") == headers.get("Accept-Encoding", "identity")
    return answer.content.decode()


def _sent(text: str, fed: bytes) -> bytes:
    if text == "@-":
        return fed
    return (ROOT / text[1:]).read_bytes() if text.startswith("@") else text.encode()


def has_curl() -> bool:
    return shutil.which("curl") is not None
