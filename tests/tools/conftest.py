"""How a program is tried that refuses its words."""

import sys
from collections.abc import Callable

import pytest


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What a program says that must refuse its words, and print nothing else."""

    def refused(main: Callable[[], object], *words: str) -> str:
        monkeypatch.setattr(sys, "argv", [main.__module__.removesuffix(".__main__"), *words])
        with pytest.raises(SystemExit) as ended:
            main()
        out, said = capsys.readouterr()
        assert (ended.value.code, out) == (2, "")
        return said

    return refused
