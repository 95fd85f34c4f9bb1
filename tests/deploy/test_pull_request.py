"""deploy/ci/github/pull_request.py finds the base branch's scores, writes one comment, and never fails a job."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.ci_jobs import Ran, run
from tests.deploy.fake_github import REPOSITORY, TOKEN, FakeGithub, artifact, packed

PULL_REQUEST = {"pull_request": {"number": 7, "head": {"sha": "0123456789abcdef"}}}
SCORES = b"scores,labels\n1,1\n0,0\n"
REPORT = "### Gate passed\n\n| | rule |\n"
MARK = "<!-- rocpr-gate: churn -->"


@pytest.fixture
def github() -> Iterator[FakeGithub]:
    with FakeGithub.serving() as server:
        yield server


def asked(github: FakeGithub, place: Path, root: Path, *words: str, event: Any = PULL_REQUEST, **variables: str) -> Ran:
    """Run the program as the action does."""
    (place / "event.json").write_text(json.dumps(event))
    (place / "report.md").write_text(REPORT)
    of_github = {
        "GITHUB_API_URL": github.address,
        "GITHUB_BASE_REF": "main",
        "GITHUB_EVENT_PATH": str(place / "event.json"),
        "GITHUB_REF_NAME": "7/merge",
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_RUN_ID": "5",
        "GITHUB_SERVER_URL": "https://example.org",
        "GITHUB_TOKEN": TOKEN,
    }
    command = [sys.executable, str(root / "deploy/ci/github/pull_request.py"), *words]
    ran = run(command, place, of_github | variables, root)
    assert ran.status == 0
    return ran


def baseline(github: FakeGithub, place: Path, root: Path, **variables: str) -> Ran:
    return asked(github, place, root, "baseline", "rocpr-gate-baseline", str(place / "found"), **variables)


def comment(github: FakeGithub, place: Path, root: Path, **given: Any) -> Ran:
    return asked(github, place, root, "comment", "churn", "report.md", **given)


def test_the_newest_of_the_base_branch(github: FakeGithub, tmp_path: Path, root: Path) -> None:
    """On the second page; a fork's branch of the same name, an expired one and other names do not count."""
    github.artifacts = [artifact(number, "2026-01-01") for number in range(100, 200)]
    github.artifacts += [
        artifact(1, "2026-01-05", fork=True),
        artifact(2, "2026-01-02"),
        artifact(3, "2026-01-04", branch="feature"),
        artifact(4, "2026-01-06", expired=True),
        artifact(5, "2026-01-07", name="other"),
        artifact(6, "2026-01-08", workflow_run=None),
    ]
    github.content = {2: packed(**{"scores of main.csv": SCORES})}
    ran = baseline(github, tmp_path, root)
    assert (ran.printed, ran.complaints) == (f"{tmp_path}/found/baseline.csv\n", "")
    assert (tmp_path / "found/baseline.csv").read_bytes() == SCORES
    assert {(path.startswith("/store/"), token) for _, path, token in github.asked} == {
        (False, f"Bearer {TOKEN}"),
        (True, None),
    }


def test_on_a_branch_its_own(github: FakeGithub, tmp_path: Path, root: Path) -> None:
    github.artifacts = [artifact(1, "2026-01-01", branch="7/merge"), artifact(2, "2026-01-02")]
    github.content = {1: packed(a=SCORES)}
    assert baseline(github, tmp_path, root, GITHUB_BASE_REF="").printed == f"{tmp_path}/found/baseline\n"


def test_there_is_none_yet(github: FakeGithub, tmp_path: Path, root: Path) -> None:
    ran = baseline(github, tmp_path, root)
    assert ran.printed == ""
    assert ran.complaints.startswith("::warning::The branch main has no artifact rocpr-gate-baseline yet;")


@pytest.mark.parametrize("content", [packed(), packed(a=SCORES, b=SCORES), b"no archive"])
def test_an_artifact_that_is_not_one_file(github: FakeGithub, tmp_path: Path, root: Path, content: bytes) -> None:
    github.artifacts, github.content = [artifact(1, "2026-01-01")], {1: content}
    ran = baseline(github, tmp_path, root)
    assert (ran.printed, ran.complaints.startswith("::warning::")) == ("", True)
    assert not (tmp_path / "found").exists()


def test_no_name_in_an_archive_leads_elsewhere(github: FakeGithub, tmp_path: Path, root: Path) -> None:
    github.artifacts = [artifact(1, "2026-01-01")]
    github.content = {1: packed(**{"../../event.json": SCORES})}
    assert baseline(github, tmp_path, root).printed == f"{tmp_path}/found/baseline.json\n"
    assert json.loads((tmp_path / "event.json").read_text()) == PULL_REQUEST


def test_one_comment_is_kept_up_to_date(github: FakeGithub, tmp_path: Path, root: Path) -> None:
    """It is on the second page; a person who copies the mark gets no other comment."""
    people = [{"id": number, "body": "fine", "user": {"type": "User"}} for number in range(1, 150)]
    people[3]["body"] = f"{MARK}\nmine"
    github.comments = people
    assert comment(github, tmp_path, root).printed == "https://example.org/150\n"
    first = github.comments[-1]["body"]
    link = "[The run, with its picture](https://example.org/owner/model/actions/runs/5#artifacts), of 01234567\n"
    assert first == f"{MARK}\n{REPORT}\n{link}"
    assert comment(github, tmp_path, root).printed == "https://example.org/150\n"
    assert github.methods() == ["POST", "PATCH"]
    assert len(github.comments) == 150


def test_a_long_report_is_cut_with_a_word(github: FakeGithub, tmp_path: Path, root: Path) -> None:
    (tmp_path / "long.md").write_text("| a row of a table |\n" * 5000)
    asked(github, tmp_path, root, "comment", "churn", "long.md")
    (written,) = github.comments
    assert 64_000 < len(written["body"]) < 65_536
    assert "| a row of a table |\n\nThe rest is in the summary of the run.\n" in written["body"]


def test_without_a_pull_request_there_is_none(github: FakeGithub, tmp_path: Path, root: Path) -> None:
    assert comment(github, tmp_path, root, event={}) == Ran(0, "", "")
    assert not github.asked


def test_a_fork_may_not_write(github: FakeGithub, tmp_path: Path, root: Path) -> None:
    github.may_write = False
    ran = comment(github, tmp_path, root)
    assert ran.printed == ""
    assert ran.complaints.startswith("::warning::GitHub answers 403 to the comment of the gate.")


def test_github_that_does_not_answer(github: FakeGithub, tmp_path: Path, root: Path) -> None:
    ran = comment(github, tmp_path, root, GITHUB_API_URL="http://127.0.0.1:9")
    assert ran.complaints == "::warning::The comment of the gate cannot be had from GitHub: URLError.\n"
