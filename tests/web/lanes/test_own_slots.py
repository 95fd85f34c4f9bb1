"""Slots of one process, without a file; test_slots.py has the rules common to both kinds."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from service.web.lanes.slots import OwnSlots, Slots, slots_in


def test_threads_never_hold_the_same() -> None:
    slots = OwnSlots(2)
    held: list[int] = []

    def take(_: int) -> None:
        slot = slots.take()
        if slot is not None:
            with slot:
                held.append(slot.number)
                assert held.count(slot.number) == 1
                time.sleep(0)
                held.remove(slot.number)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(take, range(2000)))
    assert slots.in_use() == 0


def test_a_process_has_its_share_where_there_is_no_directory(tmp_path: Path) -> None:
    for count, processes, share in ((8, 2, 4), (2, 2, 1), (2, 8, 1), (7, 2, 3)):
        assert slots_in(None, "big", count, processes).count == share
    shared = slots_in(tmp_path, "big", 7, 2)
    assert (type(shared), shared.count) == (Slots, 7)
