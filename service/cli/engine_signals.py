"""Ctrl-C and SIGTERM while an engine works: the query stops, and nothing of it stays on disk."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread


@contextmanager
def ended_by_signals() -> Iterator[Callable[[], None]]:
    """Have Ctrl-C and SIGTERM stop the query and remove what it wrote to disk, however often they come.

    If a signal arrives during one of Python's internal callbacks, the exception it raises is printed and lost. This
    suppresses the printing; call what it yields now and then, and the exception is raised again.
    """
    complain = sys.unraisablehook
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    caught: list[int] = []

    def check() -> None:
        if caught and current_thread() is main_thread():
            raise KeyboardInterrupt if caught[0] == signal.SIGINT else SystemExit(128 + caught[0])

    def stop(number: int, _: object) -> None:
        if not caught:  # once is enough; if SIG_IGN were set after a signal has come, Python would print a complaint
            caught.append(number)
            check()

    def drop(unraisable: "sys.UnraisableHookArgs") -> None:
        if not (caught and isinstance(unraisable.exc_value, KeyboardInterrupt | SystemExit)):
            complain(unraisable)

    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, stop)
    sys.unraisablehook = drop
    try:
        yield check
        check()
    finally:
        sys.unraisablehook = complain
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if caught else handler)  # until the process has ended
