"""Slots are counted over all processes, and a dead process's slots are free."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from service.web.lanes import slots as slots_module
from service.web.lanes.slots import OwnSlots, Slots

HOLDER = """
import sys, time
from pathlib import Path
from service.web.lanes.slots import Slots
held = [Slots(Path(sys.argv[1]), "big", 3).take() for _ in range(2)]
print(*(slot is not None for slot in held), flush=True)
time.sleep(60)
"""


@pytest.fixture(params=["of all processes", "of one"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[int], Slots]:
    """Both kinds, by their number."""
    return OwnSlots if request.param == "of one" else partial(Slots, tmp_path, "big")


def test_as_many_are_held_as_there_are(make: Callable[[int], Slots]) -> None:
    slots = make(2)
    assert (slots.count, slots.in_use()) == (2, 0)
    first, second = slots.take(), slots.take()
    assert first is not None
    assert second is not None
    assert slots.take() is None
    assert slots.in_use() == 2
    first.release()
    first.release()
    assert slots.in_use() == 1
    third = slots.take()
    assert third is not None
    with third, second:
        assert slots.take() is None
        assert slots.in_use() == 2
    assert slots.in_use() == 0


def test_all_that_are_free_are_taken_at_once(make: Callable[[int], Slots]) -> None:
    slots = make(3)
    first = slots.take()
    assert first is not None
    with first:
        rest = slots.take_all()
        assert [slot.number for slot in (first, *rest)] == [0, 1, 2]
        assert slots.take_all() == []
        assert slots.take() is None
        for slot in rest:
            slot.release()
        assert slots.in_use() == 1
    assert [slot.number for slot in slots.take_all()] == [0, 1, 2]


@pytest.mark.parametrize("opened", [0, 1, 2])
def test_without_another_descriptor_no_slot_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: int
) -> None:
    system, left = os.open, iter([True] * opened)

    def refuse(*arguments: Any) -> int:
        if not next(left, False):
            raise OSError(errno.EMFILE, "no descriptor is left")
        return system(*arguments)

    slots = Slots(tmp_path, "big", 3)
    with monkeypatch.context() as patched:
        patched.setattr(slots_module.os, "open", refuse)
        with pytest.raises(OSError, match="no descriptor"):
            slots.take_all()
    assert slots.in_use() == 0


def test_a_lock_that_fails_leaves_no_descriptor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no lock is left")

    slots = Slots(tmp_path, "big", 1)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with monkeypatch.context() as patched:
        patched.setattr(slots_module.fcntl, "flock", fail)
        with pytest.raises(OSError, match="no lock"):
            slots.take()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_other_names_are_other_slots(tmp_path: Path) -> None:
    with Slots(tmp_path, "a", 1).take(), Slots(tmp_path, "b", 1).take():
        assert Slots(tmp_path, "a", 1).take() is None
        assert Slots(tmp_path, "c", 1).in_use() == 0


def test_threads_never_hold_more_than_there_are(tmp_path: Path) -> None:
    slots = Slots(tmp_path, "big", 3)
    seen = []

    def take_and_count(_: int) -> bool:
        slot = slots.take()
        if slot is None:
            return False
        with slot:
            seen.append(slots.in_use())
        return True

    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(take_and_count, range(400)))
    assert any(taken)
    assert max(seen) <= 3
    assert slots.in_use() == 0


def test_a_process_that_dies_holds_none(root: Path, tmp_path: Path) -> None:
    slots = Slots(tmp_path, "big", 3)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], cwd=root, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout.readline() == "True True\n"
        with slots.take():
            assert slots.take() is None
        os.kill(holder.pid, signal.SIGKILL)
    assert slots.in_use() == 0
