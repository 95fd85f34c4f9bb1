"""Which lines of a file are new since a commit."""

import re
import subprocess
from functools import cache
from pathlib import Path

from tests.tools.mutants.changes import Mutant

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def is_new(mutant: Mutant, since: str) -> bool:
    """Is any line of its statement new?"""
    first, last = mutant.statement
    return not _new_lines(mutant.file, since).isdisjoint(range(first, last + 1))


@cache
def _new_lines(file: Path, since: str) -> set[int]:
    command = ["git", "diff", "--unified=0", since, "--", str(file)]
    return new_lines(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def new_lines(diff: str) -> set[int]:
    """The numbers of the lines that a difference without context adds."""
    hunks = [(int(first), int(number or 1)) for first, number in _HUNK.findall(diff)]
    return {line for first, number in hunks for line in range(first, first + number)}
