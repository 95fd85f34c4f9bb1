"""Evaluators and workers killed at random moments: nothing is lost except what a killed worker was answering."""

from tests.support.attacks.kills import kill_helpers, kill_workers


def test_a_killed_evaluator_loses_nothing(*, is_long: bool) -> None:
    assert kill_helpers(10 if is_long else 2).missed == []


def test_a_killed_worker_loses_only_what_it_was_answering(*, is_long: bool) -> None:
    assert kill_workers(5 if is_long else 1).missed == []
