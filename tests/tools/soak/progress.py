"""Progress on stderr."""

import sys
import time

EVERY_SECONDS = 2.0
_last = 0.0


def tell(line: str) -> None:
    """Print a line, unless one was printed a moment ago."""
    global _last  # noqa: PLW0603  # there is one stderr
    now = time.monotonic()
    if now - _last >= EVERY_SECONDS:
        _last = now
        print(f"{time.strftime('%H:%M:%S')}     {line}", file=sys.stderr, flush=True)
