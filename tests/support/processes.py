"""A server's processes as /proc shows them: which they are, their memory, their descriptors and sockets."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

MIB = 1 << 20


def parents() -> dict[int, int]:
    """Every living process with its parent, without zombies."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                state, parent, *_ = (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
                if state not in "ZX":
                    found[int(entry.name)] = int(parent)
    return found


def tree(root: int) -> list[int]:
    """A process and all its descendants, parents first."""
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
"""The parts of PSS that depend only on these processes: their share of a library's pages depends on other users."""


def pss(pids: list[int], parts: tuple[str, ...] = ("Pss",)) -> int:
    """The total memory of processes, in bytes; shared memory counts once."""
    total = 0
    for pid in pids:
        with suppress(OSError, KeyError):  # one that has ended has none
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()[1:]
            sizes = {name: size for name, _, size in (line.partition(":") for line in lines)}
            total += 1024 * sum(int(sizes[part].removesuffix("kB")) for part in parts)
    return total


def descriptors(pids: list[int]) -> Counter[str]:
    """The targets of the open descriptors of processes, and how many lead to each."""
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
    """The TCP connections of processes: (own port, peer's port); the peer's is 0 for a listener."""
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


def established(port: int) -> int:
    """The number of established connections whose server's side is this port of 127.0.0.1."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    return sum(line[1] == f"0100007F:{port:04X}" and line[3] == "01" for line in lines)


def wait_until(holds: Callable[[], object], seconds: float, what: str, every: float = 0.02) -> float:
    """Wait until a condition holds, and return how long that took; raises AssertionError if it takes too long."""
    start = time.monotonic()
    while not holds():
        if time.monotonic() - start > seconds:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(every)
    return time.monotonic() - start


class Peak:
    """The greatest memory seen."""

    bytes = 0
    samples = 0


@contextmanager
def watched(root: int, every: float = 0.1) -> Iterator[Peak]:
    """Watch the memory of a process and its descendants."""
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
