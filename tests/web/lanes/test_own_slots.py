"""Slots of one process: the same rules, without a file."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from service.web.lanes.own_slots import OwnSlots, slots_in
from service.web.lanes.slots import Slots


def test_as_many_are_held_as_there_are() -> None:
    slots = OwnSlots(2)
    assert (slots.count, slots.in_use()) == (2, 0)
    first, second = slots.take(), slots.take()
    assert first is not None
    assert second is not None
    assert (slots.take(), slots.in_use()) == (None, 2)
    first.release()
    first.release()
    assert slots.in_use() == 1
    with slots.take(), second:
        assert slots.take() is None
    assert slots.in_use() == 0


def test_all_that_are_free_are_taken_at_once() -> None:
    slots = OwnSlots(3)
    one = slots.take()
    free = slots.take_all()
    assert one is not None
    assert {one.number, *(slot.number for slot in free)} == {0, 1, 2}
    assert (slots.take_all(), slots.in_use()) == ([], 3)
    for slot in free:
        slot.release()
    assert slots.in_use() == 1


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
