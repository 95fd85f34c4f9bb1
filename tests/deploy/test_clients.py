"""The scripts that generate clients and lint the contract; CI runs them whole, tests only what needs no network."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.readme.documents import section, table

pytestmark = pytest.mark.all

TOOLS = ("cat", "dirname", "kill", "mkdir", "mktemp", "rm", "sh", "tail", "python3")
GENERATED_ONLY = ["csharp", "kotlin", "rust"]
COMPILED = ["java", "generated", "fetch", "orval", "go", "python", "php"]


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """An environment without a compiler, node or java."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (programs / tool).symlink_to(found)
    return {"PATH": str(programs), "PYTHON": sys.executable, "CLIENTS_TOOLS": str(tmp_path / "tools")}


def run(root: Path, environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "deploy/clients.sh", *words],
        cwd=root,
        env={**environment, "TMPDIR": environment["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_what_a_machine_lacks_is_skipped_by_name(root: Path, bare: dict[str, str]) -> None:
    done = run(root, bare)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == [*COMPILED, *GENERATED_ONLY, "postman"]
    assert "fetch: skipped, this machine lacks node" in lines
    assert all(re.fullmatch(r"\w+: skipped, this machine lacks \S+", line) for line in lines)
    assert {path.name for path in Path(bare["PATH"]).iterdir()} == set(TOOLS)  # what it made has been removed


def test_only_what_is_named_is_tried(root: Path, bare: dict[str, str]) -> None:
    assert run(root, bare, "go", "fetch").stdout.splitlines() == [
        "fetch: skipped, this machine lacks node",
        "go: skipped, this machine lacks java",
    ]


def test_the_guide_lists_the_clients_that_are_compiled() -> None:
    rows = table("service/guide/languages.md", "Generated clients")
    generators = " ".join(row[1] for row in rows)
    for name in COMPILED:
        assert {"generated": "typescript-fetch", "fetch": "openapi-fetch", "orval": "`orval`"}.get(
            name, f"-g {name}"
        ) in generators
    assert "C#, Kotlin and Rust clients are also generated" in section(
        "service/guide/languages.md", "Generated clients"
    )


def test_ci_runs_both_scripts(root: Path) -> None:
    jobs = yaml.safe_load((root / ".github/workflows/ci.yml").read_text("utf-8"))["jobs"]
    commands = [step.get("run") for step in jobs["contract"]["steps"]]
    assert {"sh deploy/contract.sh", "sh deploy/clients.sh"} <= set(commands)
