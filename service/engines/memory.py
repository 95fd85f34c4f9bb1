"""The memory that an engine in this process takes by default: half of what the process may use.

Knows the limits of a machine, a container and a process; nothing of engines. The other half is for the groups that this
process holds, and for other processes. The share does not depend on what is free just now, so that runs are alike.
"""

import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")

_LEAST = 128 << 20


def default_memory(own_groups: Path = OWN_GROUPS, control_groups: Path = CONTROL_GROUPS) -> int:
    """Half of the machine's memory or of the lowest limit of this process or its control groups; at least 128 MiB."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [machine, *_of_process(), *_of_control_groups(own_groups, control_groups)]
    return max(min(limits) // 2, _LEAST)


def _of_process() -> Iterator[int]:
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        limit, _ = resource.getrlimit(kind)
        if limit != resource.RLIM_INFINITY:
            yield limit


def _of_control_groups(own_groups: Path, control_groups: Path) -> Iterator[int]:
    """The limits of this process's control groups, version 1 or 2, and of their parents."""
    lines: list[str] = []
    with suppress(OSError):  # not Linux
        lines = own_groups.read_text("utf-8").splitlines()
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, name = control_groups, "memory.max"
        elif "memory" in controllers.split(","):
            root, name = control_groups / "memory", "memory.limit_in_bytes"
        else:
            continue
        within = PurePosixPath(path.lstrip("/"))
        for folder in (within, *within.parents):
            with suppress(OSError, ValueError):  # not shown in a container; "max"
                yield int((root / folder / name).read_text("ascii"))
