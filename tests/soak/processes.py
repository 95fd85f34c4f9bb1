"""What /proc tells of a server's processes: who they are, their memory, their descriptors and sockets."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

MIB = 1 << 20


def parents() -> dict[int, int]:
    """Every living process with its parent; those that have ended and wait to be collected are left out."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                state, parent, *_ = (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
                if state not in "ZX":
                    found[int(entry.name)] = int(parent)
    return found


def tree(root: int) -> list[int]:
    """A process and all that descend from it, parents first."""
    known = parents()
    found = [root] if root in known else []
    for pid in found:
        found += [child for child, parent in known.items() if parent == pid]
    return found


def children(pid: int) -> list[int]:
    return sorted(child for child, parent in parents().items() if parent == pid)


def is_forkserver(pid: int) -> bool:
    with suppress(OSError):
        return b"multiprocessing.forkserver" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def living(pids: list[int]) -> list[int]:
    known = parents()
    return [pid for pid in pids if pid in known]


WITHOUT_FILES = ("Pss_Anon", "Pss_Shmem")
"""The parts of PSS that nothing but the processes changes: of a library's pages less is theirs while others use it."""


def pss(pids: list[int], parts: tuple[str, ...] = ("Pss",)) -> int:
    """The memory of processes together, in bytes; what they share counts once."""
    total = 0
    for pid in pids:
        with suppress(OSError, KeyError):  # one that has ended has none
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()[1:]
            sizes = {name: size for name, _, size in (line.partition(":") for line in lines)}
            total += 1024 * sum(int(sizes[part].removesuffix("kB")) for part in parts)
    return total


def descriptors(pids: list[int]) -> Counter[str]:
    """What the open descriptors of processes lead to, and how many lead there."""
    found = Counter[str]()
    for pid in pids:
        with suppress(OSError):
            for descriptor in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    found[str(descriptor.readlink())] += 1
    return found


def peer_ports(pid: int) -> set[int]:
    """The other ends of a process's TCP connections."""
    return {other for _, other in connections([pid])}


def connections(pids: list[int]) -> set[tuple[int, int]]:
    """The TCP connections of processes: (own port, the other's); the other's is 0 of a listener."""
    inodes = {
        name.removeprefix("socket:[").removesuffix("]") for name in descriptors(pids) if name.startswith("socket")
    }
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError):
            for line in Path(table).read_text("ascii").splitlines()[1:]:
                fields = line.split()
                if fields[9] in inodes:
                    own, other = (int(fields[place].rpartition(":")[2], 16) for place in (1, 2))
                    found.add((own, other))
    return found


def wait_until(holds: Callable[[], bool], seconds: float, what: str) -> float:
    """Wait until something holds, and tell for how long; raises AssertionError when it does not in time."""
    start = time.monotonic()
    while not holds():
        if time.monotonic() - start > seconds:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(0.02)
    return time.monotonic() - start


class Peak:
    """The most memory that was seen."""

    bytes = 0
    samples = 0


@contextmanager
def watched(root: int, every: float = 0.1) -> Iterator[Peak]:
    """Look at the memory of a process and its descendants again and again."""
    peak, over = Peak(), Event()

    def watch() -> None:
        while not over.is_set():
            peak.bytes = max(peak.bytes, pss(tree(root)))
            peak.samples += 1
            over.wait(every)

    thread = Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()
