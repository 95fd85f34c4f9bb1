"""Runs the commands, and sends the service the same requests."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from service.answer import answer
from service.cli.commands import rocpr as commands
from service.cli.gate.command import NO_VERDICT
from service.request import Request
from service.wire.limits import Limits

DATA = Path(__file__).resolve().parent.parent / "data"
NAMED = "score,y\n0.9,spam\n0.4,ham\n0.3,spam\n0.1,ham\n"


@dataclass(frozen=True)
class Ran:
    """A command that has ended."""

    words: tuple[object, ...]
    result: Result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.result, name)


def run(*words: object, given: str | bytes | None = None, **variables: str | None) -> Ran:
    return Ran(words, CliRunner().invoke(commands, [*map(str, words)], input=given, env=variables))


def error_status(command: object) -> int:
    return NO_VERDICT if command == "gate" else 2


def refusal(done: Ran) -> str:
    """What a command says that must have refused, without printing anything else."""
    assert (done.exit_code, done.stdout) == (error_status(done.words[0]), ""), done.output
    return str(done.stderr)


def answered(operation: str, body: bytes, media_type: str = "text/csv", **options: str) -> bytes:
    path = f"/v1/{operation}"
    request = Request(operation, path, media_type, "application/json", tuple(options.items()), body)
    result = answer(request, Limits(5_000_000, 100_000))
    assert result.status == 200, result.body
    return result.body


def flags(options: dict[str, str]) -> list[str]:
    return [word for name, text in options.items() for word in (f"--{name.replace('_', '-')}", text)]
