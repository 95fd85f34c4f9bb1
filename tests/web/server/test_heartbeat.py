"""A worker's heartbeat needs no directory, and works like gunicorn's own."""

import os
import subprocess
import sys
from types import SimpleNamespace

import gunicorn.workers.base
import pytest

from service.web.server import heartbeat
from service.web.server.heartbeat import Heartbeat, use_memory_heartbeats

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="files without a directory are Linux's")

OURS = SimpleNamespace(uid=os.geteuid(), gid=os.getegid())


FORKING = """
import os, time
from types import SimpleNamespace
from service.web.server.heartbeat import Heartbeat

beat = Heartbeat(SimpleNamespace(uid=os.geteuid(), gid=os.getegid()))
before = time.monotonic()
process = os.fork()
if process == 0:
    beat.notify()
    os._exit(0)
os.waitpid(process, 0)
print(before - 1 <= beat.last_update() <= time.monotonic())
"""


def test_a_fork_is_heard() -> None:
    """In a process of its own: a fork of one with thousands of tests takes half a minute to end."""
    done = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)


def test_its_file_is_closed_with_it_and_by_an_exec() -> None:
    beat = Heartbeat(OURS)
    descriptor = beat.fileno()
    assert not os.get_inheritable(descriptor)
    beat.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_the_file_is_that_of_whom_the_worker_becomes(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    monkeypatch.setattr(heartbeat.os, "fchown", lambda *arguments: given.append(arguments))
    beat = Heartbeat(OURS)
    assert given == []
    beat.close()
    beat = Heartbeat(SimpleNamespace(uid=OURS.uid + 1, gid=OURS.gid))
    assert given == [(beat.fileno(), OURS.uid + 1, OURS.gid)]
    beat.close()


def test_workers_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gunicorn.workers.base, "WorkerTmp", None)
    use_memory_heartbeats()
    assert gunicorn.workers.base.WorkerTmp is Heartbeat


def test_other_systems_keep_gunicorns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gunicorn.workers.base, "WorkerTmp", None)
    monkeypatch.setattr(heartbeat.sys, "platform", "darwin")
    use_memory_heartbeats()
    assert gunicorn.workers.base.WorkerTmp is None
