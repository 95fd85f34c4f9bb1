"""The commands in README.md with the output that is shown under each, and how to run one."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import requests

README = Path(__file__).resolve().parent.parent.parent / "README.md"
SET_UP = {
    "sh deploy/run.sh",
    ".venv/bin/rocpr serve",
    "sh deploy/test.sh",
    ".venv/bin/rocpr compile",
    "sh deploy/setup.sh dev\n.venv/bin/rocpr compile\n.venv/bin/python -m tests.bench",
}
"""Commands not run here: tests/e2e has the first two and the fourth, tests/bench the last, the third runs this."""

ELSEWHERE = {"nginx", "install", "cp", "systemctl", "docker", "kubectl"}
"""Programs whose commands change a machine or need one that is set up; tests/deploy checks the files that they name."""

SERVICE = "http://127.0.0.1:8000"
PIPE = " |\n"
ROCPR = ".venv/bin/rocpr "
PYTHON = ".venv/bin/python "
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$\n", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A command, the language of the block under it, and that block."""

    command: str
    language: str
    output: str

    @property
    def kind(self) -> str:
        """The program that answers: the last of a pipe."""
        return self.command.rpartition(PIPE)[2].split()[0]


def blocks(text: str) -> list[re.Match[str]]:
    return list(_BLOCK.finditer(text))


def examples(text: str) -> list[Example]:
    """Pair each command with the block that follows it; nothing but an empty line stands between them."""
    found = blocks(text)
    pairs = []
    for block, after in zip(found, [*found[1:], None], strict=True):
        command = block[2].strip()
        if block[1] != "sh" or command in SET_UP or command.split()[0] in ELSEWHERE:
            continue
        assert after is not None, command
        assert not text[block.end() : after.start()].strip(), f"no output is shown under: {command}"
        pairs.append(Example(command, after[1], after[2]))
    return pairs


def run(command: str, port: int, *, curl: bool) -> str:
    """Run a command of README.md against the server on `port`; without curl, do what the curl line says."""
    command = command.replace(SERVICE, f"http://127.0.0.1:{port}")
    feed, _, last = command.rpartition(PIPE)
    if last.split()[0] == "curl" and not curl:
        return like_curl(shlex.split(last.replace("\\\n", " ")), _in_shell(feed))
    return _in_shell(command).decode()


def _in_shell(command: str) -> bytes:
    command = command.replace(PYTHON, f"{shlex.quote(sys.executable)} ")
    command = command.replace(ROCPR, f"{shlex.quote(sys.executable)} -c 'from service.cli.main import main; main()' ")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("ROCPR_")}
    done = subprocess.run(
        ["sh", "-c", command], cwd=README.parent, env=variables, capture_output=True, timeout=60, check=True
    )
    assert done.stderr == b""
    return done.stdout


def like_curl(words: list[str], fed: bytes) -> str:
    """Send what a curl line would send, for machines without curl: the few options that README.md uses."""
    headers, data, url = {}, b"", ""
    rest = iter(words[1:])
    for word in rest:
        if word == "-H":
            name, _, value = next(rest).partition(": ")
            headers[name] = value
        elif word in {"-d", "--data-binary"}:
            text = next(rest)
            if text == "@-":
                data = fed
            else:
                data = (README.parent / text[1:]).read_bytes() if text.startswith("@") else text.encode()
        elif word == "--compressed":
            headers["Accept-Encoding"] = "gzip"
        elif word != "-sS":
            assert not word.startswith("-"), f"an option of curl that this test does not know: {word}"
            url = word
    answer = requests.post(url, data=data, headers={"Accept-Encoding": "identity"} | headers, timeout=60)
    assert answer.headers.get("Content-Encoding", "identity") == headers.get("Accept-Encoding", "identity")
    return answer.content.decode()


def has_curl() -> bool:
    return shutil.which("curl") is not None
