"""The action's part in a pull request: finds the previous model's scores, and keeps one comment up to date.

    python3 pull_request.py baseline ARTIFACT DIRECTORY
        downloads the newest ARTIFACT of the branch that the pull request goes to, or of the run's own; prints its file
    python3 pull_request.py comment NAME REPORT.md
        writes the comment that begins with the mark of the gate NAME, or writes it anew; prints its address

Needs only Python. Reads GitHub's variables, and the token in GITHUB_TOKEN. What cannot be done is a warning and never
an error, because the verdict stands without it.
"""

import io
import json
import os
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Any

A_PAGE, MOST_PAGES = 100, 10
LONGEST_COMMENT = 65_000
"""Characters of a report; GitHub takes 65,536 in all."""

MOST_BYTES = 1 << 29
"""Of an artifact, and of the file in it."""

SECONDS = 60


class WithoutToken(urllib.request.HTTPRedirectHandler):
    """Follows to where artifacts are kept, without GitHub's token."""

    def redirect_request(self, *asked: Any) -> urllib.request.Request | None:  # noqa: ANN401  # urllib's
        """Make the next request."""
        following = super().redirect_request(*asked)
        if following is not None:
            following.remove_header("Authorization")
        return following


def ask(path: str, method: str = "GET", document: object = None) -> bytes:
    """Ask GitHub's interface for this repository."""
    request = urllib.request.Request(  # noqa: S310  # GitHub sets its address
        f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}{path}",
        None if document is None else json.dumps(document).encode(),
        {
            "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
            "User-Agent": "rocpr",
            "X-GitHub-Api-Version": "2022-11-28",
        },
        method=method,
    )
    with urllib.request.build_opener(WithoutToken).open(request, timeout=SECONDS) as answer:
        read: bytes = answer.read(MOST_BYTES)
    return read


def pages(path: str, key: str | None = None) -> Iterator[dict[str, Any]]:
    """The items of a list, page by page."""
    for number in range(1, MOST_PAGES + 1):
        found = json.loads(ask(f"{path}{'&' if '?' in path else '?'}per_page={A_PAGE}&page={number}"))
        items = found if key is None else found[key]
        yield from items
        if len(items) < A_PAGE:
            return


def baseline(artifact: str, directory: str) -> None:
    """Download the newest artifact of a branch. A fork's branch may have the same name, so its runs do not count."""
    branch = os.environ.get("GITHUB_BASE_REF") or os.environ["GITHUB_REF_NAME"]

    def counts(found: dict[str, Any]) -> bool:
        run = found["workflow_run"] or {}
        own = run.get("repository_id") is not None and run.get("head_repository_id") == run["repository_id"]
        return found["name"] == artifact and not found["expired"] and own and run.get("head_branch") == branch

    kept = [found for found in pages(f"/actions/artifacts?name={artifact}", "artifacts") if counts(found)]
    if not kept:
        warn(f"The branch {branch} has no artifact {artifact} yet; rules such as max_drop are not checked.")
        return
    newest = max(kept, key=lambda found: str(found["created_at"]))
    with zipfile.ZipFile(io.BytesIO(ask(f"/actions/artifacts/{newest['id']}/zip"))) as archive:
        files = [member for member in archive.infolist() if not member.is_dir()]
        if len(files) != 1 or files[0].file_size > MOST_BYTES:
            warn(f"The artifact {artifact} of the branch {branch} is not one file of at most {MOST_BYTES >> 20} MiB.")
            return
        path = Path(directory, f"baseline{PurePosixPath(files[0].filename).suffix}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(archive.read(files[0]))
    print(path)


def comment(name: str, report: str) -> None:
    """Write a gate's comment. Anyone can copy its mark, so only a comment of a bot is written anew."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    if "pull_request" not in event:
        return
    number, commit = event["pull_request"]["number"], event["pull_request"]["head"]["sha"]
    mark = f"<!-- rocpr-gate: {name.replace('--', '')} -->"
    run = "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}".format_map(os.environ)
    text = Path(report).read_text("utf-8")
    if len(text) > LONGEST_COMMENT:
        text = f"{text[:LONGEST_COMMENT].rpartition(chr(10))[0]}\n\nThe rest is in the summary of the run.\n"
    document = {"body": f"{mark}\n{text}\n[The run, with its picture]({run}#artifacts), of {commit[:8]}\n"}
    for found in pages(f"/issues/{number}/comments"):
        if found["body"].startswith(mark) and found["user"]["type"] == "Bot":
            answer = ask(f"/issues/comments/{found['id']}", "PATCH", document)
            break
    else:
        answer = ask(f"/issues/{number}/comments", "POST", document)
    print(json.loads(answer)["html_url"])


def warn(text: str) -> None:
    """Tell the reader of the run."""
    print(f"::warning::{text}", file=sys.stderr)


def main() -> None:
    """Do what the first word says."""
    work, *words = sys.argv[1:]
    try:
        {"baseline": baseline, "comment": comment}[work](*words)
    except urllib.error.HTTPError as error:
        forbidden = " The token may not do it, and a fork's never may." if error.code == HTTPStatus.FORBIDDEN else ""
        warn(f"GitHub answers {error.code} to the {work} of the gate.{forbidden}")
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        warn(f"The {work} of the gate cannot be had from GitHub: {type(error).__name__}.")


if __name__ == "__main__":
    main()
