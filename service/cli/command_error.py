"""How a failing command ends: with a message on standard error, and exit status 2."""

import sys
from collections.abc import Iterable
from typing import IO, Any, NoReturn

import click

from service.cli.layout import terminal_safe
from service.extras import how_to_install


class CommandError(click.ClickException):
    """What is wrong, in lines for a reader."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message as it is."""
        click.echo(self.message, file=file, err=file is None)


def needs_extra(extra: str) -> str:
    """Say how to install an extra."""
    return f"needs the extra {extra}. To install it:\n  {how_to_install(extra)}"


def fail(lines: Iterable[str]) -> NoReturn:
    """End the command with a message; what a terminal would interpret, perhaps from a file, is escaped."""
    raise CommandError("\n".join(map(terminal_safe, "\n".join(lines).split("\n"))))


def end(message: str) -> NoReturn:
    """End the process likewise, where click no longer shows errors."""
    error = CommandError(terminal_safe(f"Error: {message}"))
    error.show()
    sys.exit(error.exit_code)
