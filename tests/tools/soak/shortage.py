"""Shortages: no shared memory, no disk, no descriptors, nothing writable. Small calls are still answered.

The server runs in a mount namespace, where /dev/shm and the spool directory are small file systems; that takes
root. Metrics and big requests may be refused while there is no room, and are served again once there is.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support import processes
from tests.support.attacks.attackers import crowds
from tests.support.attacks.found import Found
from tests.support.attacks.small_calls import counted
from tests.support.clients import LOST, Client
from tests.support.samples import question, small
from tests.support.servers import Service, serving

SMALL_TIMES = 50
SHM = "/dev/shm"
SHM_BYTES, SPOOL_BYTES = 8 << 20, 1 << 20
FILES = 64
IDLE = 200
RECOVERY_SECONDS = 20.0
READ_ONLY = 'for mount in $(cut -d" " -f2 /proc/mounts); do mount -o remount,ro,bind "$mount" 2>/dev/null; done; '
WRITABLE = f"mount -t tmpfs -o size={SHM_BYTES} tmpfs {SHM}; "
RUN = 'exec "$@"'


def reason_against() -> str:
    """Why no such namespace can be made here; empty if it can."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return "unshare takes root"
    done = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    return "" if done.returncode == 0 else "this machine does not allow mount namespaces"


def inside(script: str) -> tuple[str, ...]:
    """The command that runs another one in a mount namespace that a shell script prepares."""
    return ("unshare", "-m", "sh", "-c", f"mount --make-rprivate /; {script}{RUN}", "sh")


@contextmanager
def filled(service: Service, directory: str) -> Iterator[None]:
    """Fill a file system of the server's namespace for a while."""
    file = Path(f"/proc/{service.process.pid}/root{directory}/filler")
    with suppress(OSError), file.open("wb") as stream:
        for size in (1 << 16, 1 << 8, 1):  # to the last byte
            with suppress(OSError):
                while True:
                    stream.write(bytes(size))
                    stream.flush()
    try:
        yield
    finally:
        file.unlink()


def small_calls(service: Service, times: int = SMALL_TIMES) -> list[str]:
    """What went wrong with this many small calls, each on a new connection."""
    asked, wrong = small(), []
    for _ in range(times):
        try:
            with Client(service.port, timeout=30) as client:
                answer = client.post(asked.body)
        except LOST as error:
            wrong.append(repr(error))
        else:
            if answer.status != 200 or answer.body != asked.answer:
                wrong.append(f"{answer.status} {answer.problem}")
    return wrong


def ended(service: Service, target: str) -> str:
    """The outcome of a call that may fail: a big request, or another path."""
    try:
        with Client(service.port, timeout=60) as client:
            if target.startswith("/v1/"):
                return str(client.post(question(20_000, "auc").body).status)
            return str(client.ask("GET", target).status)
    except LOST as error:
        return repr(error)


def tried(service: Service, name: str, found: Found) -> None:
    """Small calls, which must be answered, and calls that may fail."""
    wrong = small_calls(service)
    big, metrics, ready = (ended(service, target) for target in ("/v1/curves", "/metrics", "/health/ready"))
    wrong += small_calls(service)
    found.missed += [f"{name}: small: {what}" for what in counted(wrong)]
    found.require(big in {"200", "503"}, f"{name}: big: {big}")
    found.require(metrics in {"200", "503"}, f"{name}: metrics: {metrics}")
    found.require(ready == "200", f"{name}: ready: {ready}")
    found.figures[name] = f"{len(wrong)} of {2 * SMALL_TIMES} small lost, big {big}, metrics {metrics}, ready {ready}"


def recovered(service: Service, name: str, found: Found) -> None:
    """Wait until everything is served again."""
    everything = ("/v1/curves", "/metrics", "/health/ready")
    try:
        processes.wait_until(
            lambda: all(ended(service, target) == "200" for target in everything), RECOVERY_SECONDS, "all is served"
        )
    except AssertionError as error:
        found.missed.append(f"{name}, afterwards: {error}")


def full(name: str, script: str, directory: str, found: Found, **settings: object) -> None:
    """A file system that is full for a while, under a running server."""
    with serving(inside=inside(script), **settings) as service:
        workers = service.workers()
        with filled(service, directory):
            tried(service, name, found)
        recovered(service, name, found)
        found.require(service.workers() == workers, f"{name}: a worker died")


def full_from_the_start(found: Found) -> None:
    """A server that finds /dev/shm full when it starts."""
    script = f"{WRITABLE}head -c {2 * SHM_BYTES} /dev/zero > {SHM}/filler 2>/dev/null; "
    with serving(inside=inside(script), prepared=False) as service:
        tried(service, f"{SHM} full from the start", found)


def read_only(name: str, script: str, found: Found) -> None:
    """A server that can write nowhere, or almost nowhere."""
    with serving(inside=inside(script), prepared=False) as service:
        tried(service, name, found)


def few_descriptors(found: Found) -> None:
    """Fewer descriptors than connections."""
    name = f"{FILES} descriptors, {IDLE} idle connections"
    with serving(inside=("sh", "-c", f'ulimit -n {FILES}; exec "$@"', "sh")) as service:
        with crowds(service.port, {"idle": IDLE}):
            time.sleep(1)
            wrong = small_calls(service, 10)
        found.missed += [f"{name}: small: {what}" for what in counted(wrong)]
        found.figures[name] = f"{len(wrong)} of 10 small lost"
        recovered(service, name, found)


def run(tell: Callable[[str], None] = lambda _: None) -> Found:
    """Each shortage on its own server; if one fails, the others are still tried."""
    found = Found(f"each on its own server, {2 * SMALL_TIMES} small calls, a big one, /metrics and /health/ready")
    spool = tempfile.mkdtemp(prefix="rocpr-soak-")
    mounted = f"mount -t tmpfs -o size={SPOOL_BYTES} tmpfs {spool}; "
    trials: dict[str, Callable[[], None]] = {"descriptors": lambda: few_descriptors(found)}
    if why := reason_against():
        found.figures["full and read-only file systems"] = f"not tried: {why}"
    else:
        trials |= {
            "shared memory": lambda: full(f"{SHM} full", WRITABLE, SHM, found),
            "shared memory at the start": lambda: full_from_the_start(found),
            "spool": lambda: full("spool full", mounted, spool, found, spool_dir=spool),
            "disk": lambda: read_only(f"all but {SHM} read-only", READ_ONLY + WRITABLE, found),
            "everything": lambda: read_only("everything read-only", READ_ONLY, found),
        }
    try:
        for name, trial in trials.items():
            tell(name)
            try:
                trial()
            except AssertionError as error:
                found.missed.append(f"{name}: {' '.join(str(error).split())[-400:]}")
    finally:
        Path(spool).rmdir()
    return found
