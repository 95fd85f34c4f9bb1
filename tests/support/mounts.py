"""Commands with private file systems: small ones, full ones, read-only ones."""

import subprocess
from functools import cache

import pytest

READ_ONLY = """
for place in $(awk '{print $5}' /proc/self/mountinfo); do
    case $place in /proc* | /sys*) ;; *) mount -o remount,bind,ro "$place" 2>/dev/null ;; esac
done
"""
"""Shell commands after which nothing can be written."""


def small(place: object, size: str) -> str:
    """A shell command that mounts an empty file system of this many bytes, in memory."""
    return f"mount -t tmpfs -o size={size} tmpfs '{place}'\n"


def filled(place: object) -> str:
    """A shell command that fills a small file system to the last byte."""
    return f"dd if=/dev/zero of='{place}/filler' bs=4k 2>/dev/null\n"


@cache
def may_mount() -> bool:
    """Whether this process may mount file systems that only its children see."""
    try:
        return subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def behind(mounts: str, *command: str) -> list[str]:
    """The command that runs another after the mounts, in one process; skips the test if mounting is not allowed."""
    if not may_mount():
        pytest.skip("mounts need the rights of root, and unshare")
    return ["unshare", "-m", "sh", "-c", f'{mounts}exec "$@"', "sh", *command]
