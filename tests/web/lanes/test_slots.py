"""Slots are counted over all processes, and those of a process that died are free."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from service.web.slots import Slots

HOLDER = """
import sys, time
from pathlib import Path
from service.web.slots import Slots
held = [Slots(Path(sys.argv[1]), "big", 3).take() for _ in range(2)]
print(*(slot is not None for slot in held), flush=True)
time.sleep(60)
"""


def test_as_many_are_held_as_there_are(tmp_path: Path) -> None:
    slots = Slots(tmp_path, "big", 2)
    assert slots.in_use() == 0
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
        assert slots.in_use() == 2
    assert slots.in_use() == 0


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
