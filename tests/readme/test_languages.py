"""Runs the programs of the guide's page on languages, if the language is installed, and checks what they print."""

import importlib.util
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.readme.commands import SERVICE
from tests.readme.documents import ROOT, blocks, text_of
from tests.support.servers import Server

PAGE = "service/guide/languages.md"
ROC = "0.7777777777777778\n"
"""What a program prints if the page shows no output below it."""

FOUND = blocks(text_of(PAGE))
NEXT = {block.start(): after for block, after in pairwise(FOUND)}
PROGRAMS = [block for block in FOUND if block[1] not in {"sh", "text", "json", "csv"}]
RUN = {
    "java": ("Curves.java", ["java"]),
    "typescript": ("curves.mjs", ["node"]),
    "go": ("curves.go", ["go", "run"]),
    "php": ("curves.php", ["php"]),
    "python": ("curves.py", [sys.executable]),
    "bash": ("curves.sh", ["bash"]),
}
"""{language: the file that a program is written to, and what runs it}"""

NOT_HERE = {"csharp", "r"}
"""Languages whose tools none of our machines has."""


def test_every_language_is_known() -> None:
    assert {block[1] for block in PROGRAMS} == {*RUN, *NOT_HERE}


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(block, marks=[] if block[1] == "python" and "import pandas" not in block[2] else [pytest.mark.all])
        for block in PROGRAMS
        if block[1] in RUN
    ],
    ids=lambda block: f"{block[1]}-{block.start()}",
)
def test_a_program_prints_what_is_shown(block: re.Match[str], server: Server, tmp_path: Path) -> None:
    name, command = RUN[block[1]]
    needed = [command[0], *(["duckdb", "curl"] if block[1] == "bash" else [])]
    modules = re.findall(r"^import (?:\w+, )*(pandas|polars)", block[2], re.MULTILINE)
    lacking = [tool for tool in needed if shutil.which(tool) is None]
    lacking += [module for module in modules if importlib.util.find_spec(module) is None]
    if lacking:
        pytest.skip(f"there is no {' nor '.join(lacking)} on this machine")
    file = tmp_path / name
    file.write_text(block[2].replace(SERVICE, f"http://127.0.0.1:{server.port}"))
    ran = subprocess.run([*command, str(file)], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    after = NEXT[block.start()]
    if block[1] == "bash":
        assert ran.stdout.startswith('"roc",')
    else:
        assert ran.stdout == (after[2] if after[1] == "text" else ROC)
