"""`rocpr serve`: replaces itself with gunicorn, running the service with the configuration shipped with it."""

import errno
import os
import socket
import sys

import click

from service.settings import SettingsError, read_settings, shipped_file

_LAST_PORT = 65535


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    default=8000,
    show_default=True,
    envvar="PORT",
    show_envvar=True,
    type=click.IntRange(0, _LAST_PORT),
    help="The port to listen on; 0 takes a free one, which the log names.",
)
def serve(host: str, port: int) -> None:
    """Serve the REST API until Ctrl-C.

    Settings are environment variables, ROCPR_*; deploy/README.md lists them. The log goes to standard error.
    """
    try:
        read_settings()
    except SettingsError as error:
        raise click.ClickException(str(error)) from error
    if "LISTEN_FDS" not in os.environ:  # else gunicorn takes systemd's sockets
        _try_to_listen(host, port)
    configuration = str(shipped_file("deploy/gunicorn.conf.py"))
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    os.environ["PYTHONSAFEPATH"] = "1"  # a folder `service` in the working directory is not ours
    command = [sys.executable, "-m", "gunicorn", "--config", configuration, "--bind", address]
    # This process becomes the server, so that signals reach it and nothing is left behind.
    os.execv(sys.executable, command)  # noqa: S606  # our interpreter, without a shell


def _try_to_listen(host: str, port: int) -> None:
    """Refuse an address where the server could not listen. Raises ClickException."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            another = f"--port {port + 1}" if port < _LAST_PORT else "--port 0, which takes a free one"
            raise click.ClickException(f"Port {port} of {host} is taken; try {another}.") from error
        raise click.ClickException(f"The server cannot listen on port {port} of {host}: {error.strerror}.") from error
