"""The console script `rocpr`: prepares the process, then runs the command.

Before the commands are imported, and NumPy with them, the process gets what a server's has around it: a file of a
million rows takes up to a third less time. To import this module changes nothing.
"""

import sys

from service.environment import prepare_process


def main() -> None:
    """Run the command that the process was started with."""
    if "numpy" not in sys.modules:  # whoever has it already has a process of his own
        prepare_process()
    from service.cli.commands import rocpr  # noqa: PLC0415  # NumPy comes with it

    rocpr()
