"""Evaluators and workers killed at random moments: nothing is lost except what a killed worker was answering."""

import pytest

from tests.support.attacks.kills import kill_helpers, kill_workers

pytestmark = pytest.mark.all


def test_a_killed_evaluator_loses_nothing(*, runs_all: bool) -> None:
    assert kill_helpers(10 if runs_all else 2).missed == []


def test_a_killed_worker_loses_only_what_it_was_answering(*, runs_all: bool) -> None:
    assert kill_workers(5 if runs_all else 1).missed == []
