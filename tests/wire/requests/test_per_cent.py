"""What a refusal says of a share that was written as per cent."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.wire.requests.per_cent import share_meant, with_share
from service.wire.wrong import Wrong
from tests.cli.running import refusal, run
from tests.support.asking import errors

BODY = {"scores": [0.9, 0.2], "labels": [1, 0]}


@pytest.mark.parametrize(
    ("text", "share"), [("5%", "0.05"), ("2.5 %", "0.025"), ("100%", "1"), ("0.1%", "0.001"), ("5", None), ("%", None)]
)
def test_a_text_with_the_sign(text: str, share: str | None) -> None:
    assert share_meant(text) == share


@pytest.mark.parametrize(
    ("most", "number", "more"),
    [
        (1, 95.0, " If you mean 95 %, write 0.95."),
        (1, 97.5, " If you mean 97.5 %, write 0.975."),
        (1, 1.5, ""),
        (1, 101.0, ""),
        (50, 60.0, ""),
    ],
)
def test_a_number_above_what_it_may_be(most: float, number: float, more: str) -> None:
    wrong = with_share(Wrong("out_of_range", "This is too much.", 3), most, number)
    assert (wrong.code, wrong.detail, wrong.row) == ("out_of_range", f"This is too much.{more}", 3)


def test_in_a_request_and_on_the_command_line(tmp_path: Path) -> None:
    (error,) = errors("curves", BODY | {"intervals": {"level": 95}})
    assert error["detail"] == "This must be below 1. If you mean 95 %, write 0.95."
    file = tmp_path / "scores.csv"
    file.write_text("scores,labels\n0.9,1\n0.2,0\n")
    assert "--prevalence: Write 5% as 0.05." in refusal(run("curves", file, "--prevalence", "5%"))
    assert "For the row at the threshold 0.3, ask for a decision" in refusal(run("curves", file, "--threshold", "0.3"))
