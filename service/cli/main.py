"""The console script `rocpr`; knows which commands there are, nothing of what they do.

Before the commands are imported, and NumPy with them, the process gets what a server's has around it: a file of a
million rows takes up to a third less time.
"""

import sys

import click

from service.environment import prepare_process

if "numpy" not in sys.modules:  # whoever has it already has a process of his own
    prepare_process()

from service.cli.compare import compare
from service.cli.compile import compile_
from service.cli.curves import curves
from service.cli.gate.command import gate
from service.cli.guide import guide
from service.cli.key import key
from service.cli.serve import serve
from service.cli.tradeoffs import tradeoffs


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rocpr")
def main() -> None:
    """Evaluate binary classifiers: curves, the areas under them, trade-offs, comparisons, and a gate for CI."""


main.add_command(curves)
main.add_command(tradeoffs)
main.add_command(compare)
main.add_command(gate)
main.add_command(serve)
main.add_command(key)
main.add_command(guide)
main.add_command(compile_)
