"""The console script `rocpr`; knows which commands there are, nothing of what they do."""

import click

from service.cli.curves import curves
from service.cli.serve import serve


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rocpr")
def main() -> None:
    """Evaluate binary classifiers: ROC and precision-recall curves and the areas under them."""


main.add_command(curves)
main.add_command(serve)
