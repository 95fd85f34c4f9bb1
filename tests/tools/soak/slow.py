"""A thousand slow clients at nginx: other clients are answered as if they were not there."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.deploy.conftest import NGINX, configuration
from tests.support import processes
from tests.support.attacks.found import Found
from tests.support.attacks.lanes import Times, time_small
from tests.support.servers import ROOT, free_port, serving

SLOW = 1000
MOST_SECONDS = 0.25
LIMIT = "limit_conn addresses 100;"
"""All clients here have one address, for which nginx allows this many connections."""


@contextmanager
def nginx(behind: int, directory: Path) -> Iterator[int]:
    """Run nginx with deploy/nginx.conf, except for that limit; yields its port."""
    port = free_port()
    text = configuration(ROOT, directory, port, behind)
    assert text.count(LIMIT) == 1
    file = directory / "nginx.conf"
    file.write_text(text.replace(LIMIT, f"limit_conn addresses {4 * SLOW};"))
    with (directory / "nginx.log").open("wb") as stream:
        process = subprocess.Popen([str(NGINX), "-c", str(file), "-g", "user root;"], stdout=stream, stderr=stream)
    try:
        processes.wait_until(
            lambda: (
                (0 in {other for _, other in processes.connections(processes.tree(process.pid))})
                or process.poll() is not None
            ),
            20,
            "nginx listens",
        )
        assert process.poll() is None, (directory / "nginx.log").read_text()
        yield port
    finally:
        process.terminate()
        process.wait(timeout=30)


def attack(port: int, kind: str, seconds: float) -> tuple[Times, int]:
    """Time calls alongside slow clients; also return the most of them at once. `port` is nginx's."""
    url = f"http://127.0.0.1:{port}/v1/curves"
    words = ["slowhttptest", kind, "-c", str(SLOW), "-r", str(SLOW), "-i", "5", "-l", str(int(seconds) + 30), "-u", url]
    with tempfile.TemporaryFile() as out, subprocess.Popen(words, stdout=out, stderr=out) as process:
        try:
            processes.wait_until(
                lambda: processes.established(port) >= SLOW * 0.9, 30, "the slow clients are connected"
            )
            most = processes.established(port)
            found = time_small(port, seconds)
            most = max(most, processes.established(port))
        finally:
            process.kill()
    return found, most


def run(seconds: float, tell: Callable[[str], None] = lambda _: None) -> Found:
    """Slow headers, then slow bodies; before that the same calls alone."""
    if NGINX is None or shutil.which("slowhttptest") is None:
        return Found(left_out="nginx or slowhttptest is not installed")
    found = Found(f"slowhttptest against nginx before the service, {seconds:g} s of calls during each")
    with tempfile.TemporaryDirectory(prefix="rocpr-soak-") as directory, serving() as service:
        with nginx(service.port, Path(directory)) as port:
            times = {"alone": (time_small(port, seconds / 2), 0)}
            for name, kind in (("during slow headers", "-H"), ("during slow bodies", "-B")):
                tell(name)
                times[name] = attack(port, kind, seconds)
                processes.wait_until(lambda: processes.established(port) < SLOW / 10, 30, "the slow clients are gone")
        found.require(not service.failures(), f"the log: {service.failures()[:1]}")
    for name, (one, most) in times.items():
        found.figures[f"p50 / p99 / max of 50-row calls {name}"] = one.as_text()
        found.missed += [f"{name}: {wrong}" for wrong in one.wrong]
        if most:
            found.figures[f"connections {name}"] = str(most)
            slowest = max(one.small + one.health)
            found.require(slowest <= MOST_SECONDS, f"{name}: the slowest took {1000 * slowest:.0f} ms")
    return found
