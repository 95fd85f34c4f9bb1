"""The problem that a client gets for bytes that are not an HTTP request."""

from __future__ import annotations

import re

from service.web.server.transport import _PROBLEM_OF_ERROR, incomplete_body, too_slow, transport_problem


def test_every_error_has_a_sentence_of_its_own() -> None:
    """None comes after a more general error, whose problem it would get."""
    for kind, code, detail in _PROBLEM_OF_ERROR:
        problem = transport_problem(kind.__new__(kind))
        assert (problem.type.code, problem.detail) == (code, detail)
    details = [detail for _, _, detail in _PROBLEM_OF_ERROR] + [too_slow().detail, incomplete_body().detail]
    assert all(re.fullmatch(r"[A-Z]\S*(?: \S+)+\.", each) for each in details)
