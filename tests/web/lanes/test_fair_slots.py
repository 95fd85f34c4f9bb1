"""The rule of the last free slot, between two processes of one server."""

import errno
from pathlib import Path

import pytest

from service.web.lanes import slots as slots_module
from service.web.lanes.board import RECENT_SECONDS, WAITING_SECONDS, Board
from service.web.lanes.fair_slots import FairSlots, NoSlotFree
from service.web.lanes.slots import OwnSlots, Slot, Slots


class Asking(FairSlots):
    """One process's slots; None also if no owner may have one."""

    def take(self, owner: str) -> Slot | None:
        try:
            return super().take(owner)
        except NoSlotFree:
            return None


class Processes:
    """Two processes that share their slots."""

    def __init__(self, directory: Path, count: int) -> None:
        self.slots = Slots(directory, "big", count)
        self.one, self.other = (Asking(Slots(directory, "big", count), Board(directory)) for _ in range(2))


@pytest.fixture
def two(tmp_path: Path, now: list[float]) -> Processes:  # noqa: ARG001  # they tell the time
    return Processes(tmp_path, 2)


def test_who_is_alone_may_have_all(two: Processes) -> None:
    first, second = two.one.take("ann"), two.other.take("ann")
    assert first is not None
    assert second is not None
    assert {first.number, second.number} == {0, 1}
    assert two.one.take("ann") is None
    first.release()
    third = two.one.take("ann")
    assert third is not None
    for slot in (second, third):
        slot.release()
    assert two.slots.in_use() == 0


def test_the_last_one_is_not_for_who_has_one_while_others_ask(two: Processes, now: list[float]) -> None:
    held = two.one.take("ann")
    assert held is not None
    assert two.other.take("ben").release() is None
    for process in (two.one, two.other):
        assert process.take("ann") is None
        assert two.slots.in_use() == 1
    now[0] += RECENT_SECONDS + 1
    last = two.other.take("ann")
    assert last is not None
    held.release()
    last.release()


def test_the_last_one_is_for_who_has_none(two: Processes) -> None:
    with two.one.take("ann"):
        assert two.one.take("ann").release() is None
        with two.other.take("ben"):
            assert two.other.take("cid") is None
            assert two.slots.in_use() == 2


def test_who_may_not_have_the_next_slot_does_not_stand_before_others(two: Processes, now: list[float]) -> None:
    """Their process had waited longest, so the other one left it a slot that it could not use."""
    with two.one.take("ann"):
        with two.other.take("ben"):
            assert two.one.take("ann") is None
        now[0] += WAITING_SECONDS / 2
        with two.other.take("ben") as again:
            assert again is not None


def test_a_refused_owner_has_asked(two: Processes) -> None:
    """So a slot that is given back goes to them."""
    first, second = two.one.take("ann"), two.one.take("ann")
    assert two.other.take("ben") is None
    second.release()
    assert two.one.take("ann") is None
    with first, two.other.take("ben") as taken:
        assert taken.number == second.number


def test_a_returned_slot_has_no_owner(two: Processes) -> None:
    two.other.take("ben").release()
    two.one.take("ann").release()
    with two.one.take("ann"), two.slots.take():
        pass
    with two.slots.take(), two.one.take("ann") as last:
        assert last is not None


@pytest.mark.usefixtures("now")
def test_of_more_than_two_all_but_the_last_are_shared(tmp_path: Path) -> None:
    two = Processes(tmp_path, 4)
    two.other.take("ben").release()
    with two.one.take("ann"), two.one.take("ann"), two.one.take("ann"):
        assert two.one.take("ann") is None
        with two.other.take("ben"):
            assert two.slots.in_use() == 4


@pytest.mark.usefixtures("now")
def test_a_single_slot_goes_to_any_owner(tmp_path: Path) -> None:
    two = Processes(tmp_path, 1)
    for owner in ("ann", "ben", "ann", "ann"):
        with two.one.take(owner) as slot:
            assert slot.number == 0
            assert two.other.take("ben") is None


@pytest.mark.usefixtures("now")
def test_processes_without_a_directory_have_their_own() -> None:
    slots = OwnSlots(2)
    fair = Asking(slots, Board(None))
    with fair.take("ann"), fair.take("ben"):
        assert slots.in_use() == 2
        assert fair.take("cid") is None
    assert slots.in_use() == 0


def test_without_another_descriptor_no_file_is_opened(two: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EMFILE, "no descriptor is left")

    with monkeypatch.context() as patched:
        patched.setattr(slots_module.os, "open", refuse)
        assert two.one.take("ann") is None
    assert two.slots.in_use() == 0
    with two.one.take("ann"):
        assert two.slots.in_use() == 1


def test_a_board_that_fails_loses_no_slot(two: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bool:
        raise RuntimeError

    monkeypatch.setattr(Board, "has_slot", fail)
    with two.slots.take(), pytest.raises(RuntimeError):
        two.one.take("ann")
    assert two.slots.in_use() == 0


def test_a_slot_is_for_the_process_that_has_waited_longest(tmp_path: Path, now: list[float]) -> None:
    """Not for the one that gave it back and looks first."""
    two = Processes(tmp_path, 1)
    held = two.one.take("ann")
    assert two.other.take("ben") is None
    now[0] += 0.01
    held.release()
    assert two.one.take("ann") is None
    with two.other.take("ben"):
        now[0] += 0.01
        assert two.one.take("ann") is None
    assert two.one.take("ann").release() is None


def test_an_owner_who_stopped_waiting_blocks_no_slot(tmp_path: Path, now: list[float]) -> None:
    two = Processes(tmp_path, 1)
    with two.one.take("ann"):
        assert two.other.take("ben") is None
    now[0] += 2 * WAITING_SECONDS
    assert two.one.take("ann").release() is None
