"""openapi.yaml keeps what the last release promised, and the last release is found."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contract.compatibility import breaks
from tests.contract.document import document
from tests.contract.released import HistoryError, contract_of, last_release, main

Git = Callable[..., str]


def test_this_contract_keeps_what_the_last_release_promised(root: Path) -> None:
    try:
        last = last_release(root)
    except HistoryError as error:
        pytest.skip(f"git cannot say what was released: {error}")
    if last is None:
        pytest.skip("nothing has been released yet")
    assert breaks(contract_of(root, last), document()) == []


def repository(root: Path) -> Git:
    """An empty repository, and a way to run git in it without a user's configuration."""
    root.mkdir()
    nobody = {
        f"GIT_{role}_{what}": "nobody@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    variables = os.environ | nobody | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=root, env=variables, capture_output=True, text=True, check=True, timeout=60
        ).stdout

    git("init", "--quiet", "--initial-branch=main")
    return git


def commit(root: Path, git: Git, *paths: str, tag: str | None = None) -> None:
    (root / "openapi.yaml").write_text("paths: {" + ", ".join(f"{path}: {{get: {{}}}}" for path in paths) + "}\n")
    git("add", "--all")
    git("commit", "--quiet", "--message=.")
    if tag:
        git("tag", tag)


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    """A repository whose releases were made out of order, as when an older one is fixed, with one on another branch."""
    root = tmp_path / "here"
    git = repository(root)
    for tag, paths in (("v0.9.0", "/a"), ("v0.10.0", "/a /b"), ("v0.9.1", "/a"), ("v0.11.0rc1", "/c"), ("vain", "/d")):
        commit(root, git, *paths.split(), tag=tag)
    git("checkout", "--quiet", "-b", "elsewhere")
    commit(root, git, "/e", tag="v1.0.0")
    git("checkout", "--quiet", "main")
    commit(root, git, "/b", "/c", tag="v0.11.0")
    return root


def test_the_last_release_is_the_newest_of_this_line(releases: Path) -> None:
    assert last_release(releases) == "v0.11.0"
    assert last_release(releases, "v0.11.0") == "v0.10.0"
    assert last_release(releases, "v0.12.0") == "v0.11.0"


@pytest.mark.parametrize(
    ("tag", "status", "line"),
    [
        ("v0.11.0", 1, "operation GET /a: gone\n"),
        ("v0.11.1", 0, "The contract keeps what v0.11.0 promises.\n"),
    ],
)
def test_a_tag_is_compared_with_the_one_before(
    releases: Path, capsys: pytest.CaptureFixture[str], tag: str, status: int, line: str
) -> None:
    assert main(releases, tag) == status
    assert capsys.readouterr().out == line


def test_the_first_release_keeps_all_that_was_promised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "new"
    commit(root, repository(root), "/a", tag="v0.1.0")
    assert main(root, "v0.1.0") == 0
    assert capsys.readouterr().out == "There is no release before v0.1.0 to compare with.\n"


def test_what_git_cannot_tell_does_not_pass(
    releases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clone without the whole history, a folder that is not a repository, a release without a contract, no git."""
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{releases}", tmp_path / "short"], check=True)
    (tmp_path / "bare").mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    for root, words in (("short", "only part of the history"), ("bare", "not a git repository")):
        assert main(tmp_path / root, "v0.12.0") == 2
        assert words in capsys.readouterr().err
    with pytest.raises(HistoryError, match="v9"):
        contract_of(releases, "v9.0.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HistoryError, match="no git"):
        last_release(releases)
