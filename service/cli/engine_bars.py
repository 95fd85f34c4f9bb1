"""The progress of an engine, on a terminal."""

from collections.abc import Callable
from typing import Any


class EngineBars:
    """A bar for each step of an engine, on a terminal. `check` is called at each update, and may end the command."""

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        self._bar: Any = None
        self._step = ""

    def show(self, step: str, done: float) -> None:
        """Show how much of a step is done."""
        self._check()
        if step != self._step:
            from tqdm import tqdm  # type: ignore[import-untyped] # noqa: PLC0415  # has no types; takes time to import

            self.close()
            self._step = step
            self._bar = tqdm(total=100, desc=step, unit="%", disable=None, bar_format="{desc:<22} {bar:30} {n:3.0f} %")
        if self._bar is not None:
            self._bar.n = 100 * done
            self._bar.refresh()

    def close(self) -> None:
        """Close the bar of the last step."""
        if self._bar is not None:
            self._bar.n = 100
            self._bar.refresh()
            self._bar.close()
            self._bar = None
