"""The server before its event loop, from a worktree of its commit, to compare with in one run."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.servers import ROOT, Service, serving

COMMIT = "29bce5d1d4bb"
"""The last commit whose workers have a thread for each request that they read."""


class NoOldServer(Exception):
    """This checkout does not have that commit."""


def _git(*words: str) -> None:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoOldServer(f"git {words[0]} does not know the old server: {done.stderr.strip()[-200:]}")


@contextmanager
def old_checkout() -> Iterator[Path]:
    """Check out the old server; raises NoOldServer if that is impossible, as in a shallow clone."""
    try:
        _git("cat-file", "-e", f"{COMMIT}^{{commit}}")
    except FileNotFoundError as error:
        raise NoOldServer("git is not installed") from error
    with tempfile.TemporaryDirectory(prefix="rocpr-soak-") as directory:
        path = Path(directory) / "old"
        _git("worktree", "add", "--detach", str(path), COMMIT)
        try:
            yield path
        finally:
            _git("worktree", "remove", "--force", str(path))


def in_turns(round_: int, servers: dict[str, Service]) -> list[tuple[str, Service]]:
    """The order of a round: the first in one is the last in the next."""
    return list(servers.items())[:: -1 if round_ % 2 else 1]


@contextmanager
def both(**settings: object) -> Iterator[dict[str, Service]]:
    """Both servers at once, one of them idle while the other is in use: {"old": , "new": }.

    Neither has compiled loops, which are not what is compared.
    """
    settings = {"compiled": "off"} | settings
    with ExitStack() as stack:
        old = stack.enter_context(old_checkout())
        yield {
            "old": stack.enter_context(serving(root=old, **settings)),
            "new": stack.enter_context(serving(**settings)),
        }
