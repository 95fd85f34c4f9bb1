"""Commands that see file systems which nobody else sees: small ones, full ones, read-only ones."""

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
    """A shell command that leaves no byte of a small file system."""
    return f"dd if=/dev/zero of='{place}/filler' bs=4k 2>/dev/null\n"


@cache
def may_mount() -> bool:
    """Whether this process may mount anything where only its children see it."""
    try:
        return subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def behind(mounts: str, *command: str) -> list[str]:
    """The command, run after the mounts, as the same process; without the right to mount, the test is skipped."""
    if not may_mount():
        pytest.skip("mounts need the rights of root, and unshare")
    return ["unshare", "-m", "sh", "-c", f'{mounts}exec "$@"', "sh", *command]
