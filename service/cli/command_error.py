"""How a failing command ends: with a message on standard error, and exit status 2."""

from collections.abc import Iterable
from typing import IO, Any, NoReturn

import click


class CommandError(click.ClickException):
    """What is wrong, in lines for a reader."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message as it is."""
        click.echo(self.message, file=file, err=file is None)


def needs_extra(extra: str) -> str:
    """Say how to install an extra; the package is on no index."""
    return f"needs the extra {extra}. In the sources of rocpr: python3 -m pip install '.[{extra}]'."


def fail(lines: Iterable[str]) -> NoReturn:
    """End the command with a message."""
    raise CommandError("\n".join(lines))
