"""The contract of the release before this checkout, from git's tags; and whether this checkout keeps it.

    python -m tests.contract.released v1.2.3

compares openapi.yaml with that of the last release before this one. The exit status is 0 if nothing breaks or there is
no earlier release, 1 if something breaks, and 2 if git cannot tell.
"""

import re
import subprocess
import sys
from pathlib import Path

import yaml

from tests.contract.compatibility import breaks
from tests.contract.document import PATH, Tree

_RELEASE = re.compile(r"v(\d+)\.(\d+)\.(\d+)")


class HistoryError(Exception):
    """Git does not know what was released: there is no repository, or only part of its history."""


def last_release(root: Path, before: str | None = None) -> str | None:
    """The newest release among the ancestors of HEAD, other than `before`; None if there is none.

    Raises HistoryError if tags may be missing.
    """
    if _git(root, "rev-parse", "--is-shallow-repository").strip() != "false":
        raise HistoryError(
            "only part of the history is here, perhaps without the last release: git fetch --unshallow --tags"
        )
    tags = [tag for tag in map(_RELEASE.fullmatch, _git(root, "tag", "--merged", "HEAD").split()) if tag]
    newest = max((tag for tag in tags if tag[0] != before), key=lambda tag: tuple(map(int, tag.groups())), default=None)
    return newest[0] if newest else None


def contract_of(root: Path, tag: str) -> Tree:
    """The contract as it was released."""
    tree: Tree = yaml.safe_load(_git(root, "show", f"{tag}:openapi.yaml"))
    return tree


def _git(root: Path, *words: str) -> str:
    try:
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        raise HistoryError("there is no git") from None
    except subprocess.CalledProcessError as error:
        raise HistoryError(error.stderr.strip()) from None


def main(root: Path, tag: str) -> int:
    """Compare, and print what breaks; returns the exit status."""
    try:
        last = last_release(root, tag)
        found = breaks(contract_of(root, last), yaml.safe_load((root / PATH.name).read_text("utf-8"))) if last else []
    except HistoryError as error:
        print(error, file=sys.stderr)
        return 2
    kept = f"The contract keeps what {last} promises." if last else f"There is no release before {tag} to compare with."
    print("\n".join(found) or kept)
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: python -m tests.contract.released TAG", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(PATH.parent, sys.argv[1]))
