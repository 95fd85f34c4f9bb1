"""Runs the commands, and sends the service the same requests."""

from pathlib import Path

from click.testing import CliRunner, Result

from service.answer import answer
from service.cli.commands import rocpr as commands
from service.request import Request
from service.wire.limits import Limits

DATA = Path(__file__).resolve().parent.parent / "data"
NAMED = "score,y\n0.9,spam\n0.4,ham\n0.3,spam\n0.1,ham\n"


def run(*words: object, given: str | bytes | None = None, **variables: str | None) -> Result:
    return CliRunner().invoke(commands, [*map(str, words)], input=given, env=variables)


def refusal(done: Result) -> str:
    """What a command says that must have refused, without printing anything else."""
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    return done.stderr


def answered(operation: str, body: bytes, media_type: str = "text/csv", **options: str) -> bytes:
    path = f"/v1/{operation}"
    request = Request(operation, path, media_type, "application/json", tuple(options.items()), body)
    result = answer(request, Limits(5_000_000, 100_000))
    assert result.status == 200, result.body
    return result.body


def flags(options: dict[str, str]) -> list[str]:
    return [word for name, text in options.items() for word in (f"--{name.replace('_', '-')}", text)]
