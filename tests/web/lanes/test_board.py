"""What processes share; two boards on one file stand for two processes."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from service.web.lanes import board as board_module
from service.web.lanes.board import ALIVE_SECONDS, ASKERS, RECENT_SECONDS, SLOTS, Board, number_of

NONE = (1 << 63) - 1

COUNTING = """
import sys
from pathlib import Path
from service.web.lanes.board import Board
board = Board(Path(sys.argv[1]))
board.count_connections(5)
print(board._number, board.fewest_connections(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def pair(tmp_path: Path, now: list[float]) -> tuple[Board, Board]:  # noqa: ARG001  # they tell the time
    return Board(tmp_path), Board(tmp_path)


class TestConnections:
    def test_of_all_processes_count(self, pair: tuple[Board, Board]) -> None:
        one, other = pair
        one.count_connections(3)
        assert (one.fewest_connections(), other.fewest_connections()) == (0, 0)
        other.count_connections(7)
        assert (one.fewest_connections(), other.fewest_connections()) == (3, 3)

    def test_of_a_process_that_retires_do_not(self, pair: tuple[Board, Board]) -> None:
        one, other = pair
        one.count_connections(3)
        other.count_connections(7)
        one.retire()
        assert other.fewest_connections() == 7
        other.retire()
        assert other.fewest_connections() == NONE

    def test_of_a_silent_process_do_not_count(self, pair: tuple[Board, Board], now: list[float]) -> None:
        """It was killed; another process soon gets its number."""
        one, other = pair
        one.count_connections(0)
        now[0] += ALIVE_SECONDS - 0.1
        other.count_connections(7)
        assert other.fewest_connections() == 0
        now[0] += 0.2
        assert other.fewest_connections() == 7

    def test_of_another_process_are_seen(self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        # Long, but shorter than the machine's uptime: numbers of no process count as reported at its second 0.
        monkeypatch.setattr(board_module, "ALIVE_SECONDS", time.monotonic() / 2)
        ours = Board(tmp_path)
        ours.count_connections(9)
        command = [sys.executable, "-c", COUNTING, str(tmp_path)]
        with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as another:
            assert another.stdout.readline() == "1 5\n"
            ours.count_connections(9)
            assert ours.fewest_connections() == 5
            another.communicate("", timeout=60)
        assert Board(tmp_path)._number == 1

    def test_without_a_directory_are_this_processs_own(self) -> None:
        one, other = Board(None), Board(None)
        one.count_connections(3)
        assert (one.fewest_connections(), other.fewest_connections()) == (3, 0)


class TestSlots:
    def test_are_whose_they_were_given(self, pair: tuple[Board, Board]) -> None:
        one, other = pair
        ann, ben = number_of("ann"), number_of("ben")
        one.give_slot(0, ann)
        other.give_slot(1, ben)
        assert one.has_slot(ben, [1])
        assert other.has_slot(ann, {0, 1})
        assert not other.has_slot(ann, [1])
        assert not other.has_slot(ann, [])

    def test_are_never_too_many(self, pair: tuple[Board, Board]) -> None:
        """A server with more slots than there is room for is only unfair."""
        pair[0].give_slot(SLOTS + 3, number_of("ann"))
        assert pair[1].has_slot(number_of("ann"), [SLOTS + 3])


class TestAskers:
    def test_others_are_those_of_the_last_seconds(self, pair: tuple[Board, Board], now: list[float]) -> None:
        one, other = pair
        ann, ben = number_of("ann"), number_of("ben")
        assert not one.others_asked_recently(ann)
        other.note_asker(ben)
        assert one.others_asked_recently(ann)
        assert not one.others_asked_recently(ben)
        now[0] += RECENT_SECONDS - 0.1
        assert one.others_asked_recently(ann)
        now[0] += 0.2
        assert not one.others_asked_recently(ann)

    def test_are_told_apart_by_their_hashes(self, pair: tuple[Board, Board]) -> None:
        one, other = pair
        one.note_asker(5)
        other.note_asker(5 + ASKERS)  # in the same place
        assert one.others_asked_recently(5)
        assert not one.others_asked_recently(5 + ASKERS)


def test_a_name_has_the_same_number_everywhere() -> None:
    numbers = {number_of(f"key {number}") for number in range(1000)}
    assert len(numbers) == 1000
    assert all(0 < number < 1 << 63 for number in numbers)
    assert number_of("key ann") == number_of("key ann") != number_of("address ann")
    assert number_of("\ud800") > 0
