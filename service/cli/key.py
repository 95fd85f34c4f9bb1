"""`rocpr key`: makes API keys for a server; service/web/access/keys.py defines the lines of the file."""

import os
import stat
from pathlib import Path

import click

from service.cli.options import Commands
from service.settings import SettingsError
from service.web.access.keys import names_in, new_key

REMARK = (
    "# The key above is for the caller. The line below goes into the file that ROCPR_API_KEYS_FILE "
    "names, on the server."
)


@click.group(cls=Commands)
def key() -> None:
    """Make API keys for a server."""


@key.command()
@click.argument("name")
@click.option(
    "--file",
    "path",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Append the line to this file (created if missing) instead of printing it.",
)
def new(name: str, path: Path | None) -> None:
    """Print a new key for NAME, and its line for the server's file of keys.

    The key goes to standard output: give it to whoever calls the service. It is not stored, so it cannot be shown
    again. The line goes to standard error, below a comment, or with --file to the end of that file. It has a hash,
    from which the key cannot be recovered. A server that uses the file accepts the key from the next request on.

    NAME says who the key is for, and appears in the server's log: 1 to 64 of the characters A-Z a-z 0-9 . _ -

    To print only the key: rocpr key new nightly --file keys >nightly.key
    """
    try:
        secret, line = new_key(name)
    except ValueError as error:
        raise click.BadParameter(f"{error}.", param_hint="NAME") from error
    if path is not None:
        _append(path, name, line)
    click.echo(secret)
    if path is None:
        click.echo(f"{REMARK}\n{line}", err=True)


def _append(path: Path, name: str, line: str) -> None:
    """Append a line to the file in one write, so that a server that reads it concurrently sees all of it or nothing.

    Users other than the owner and the group lose access to the file.
    """
    try:
        if path.is_symlink():
            raise click.ClickException(f"{path} is a symbolic link; name the file that it points to.")
        old = path.read_bytes() if path.exists() else b""
        if name in names_in(old):
            raise click.BadParameter(f"{path} already has a key for {name}; remove its line first.", param_hint="NAME")
        start = "\n" if old and not old.endswith(b"\n") else ""
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            os.fchmod(descriptor, stat.S_IMODE(os.fstat(descriptor).st_mode) & ~stat.S_IRWXO)
            file.write(f"{start}{line}\n".encode())
    except SettingsError as error:
        raise click.ClickException(f"{path}: {error}") from error
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from error
