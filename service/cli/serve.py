"""`rocpr serve`: replaces itself with gunicorn, running the service with the configuration shipped with it."""

import os
import sys

import click

from service.settings import SettingsError, read_settings, shipped_file


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    default=8000,
    show_default=True,
    envvar="PORT",
    show_envvar=True,
    type=click.IntRange(0, 65535),
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
    configuration = str(shipped_file("deploy/gunicorn.conf.py"))
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    command = [sys.executable, "-m", "gunicorn", "--config", configuration, "--bind", address]
    # This process becomes the server, so that signals reach it and nothing is left behind.
    os.execv(sys.executable, command)  # noqa: S606  # our interpreter, without a shell
