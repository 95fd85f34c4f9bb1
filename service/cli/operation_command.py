"""The command of an operation: its options are made from what the operation declares, its answer becomes a screen.

Knows files, options and operations in general; what each screen shows is in curves.py, tradeoffs.py and so on.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import click
import orjson

from service.cli.engine_options import EngineOptions, engine_options
from service.cli.file_argument import FileArgument, FileOrGlob
from service.cli.joined import read_as_one
from service.cli.layout import printable
from service.cli.options import Help, form_options, given_texts
from service.cli.plots import plot_option, print_curves, show_option, write_plot
from service.cli.server_address import ServerAddress, server_options
from service.cli.sources import ask_about, refuse_without_table, source_of
from service.operations.operation import Operation
from service.wire.media_types import JSON, SVG, TEXT

Texts = dict[str, str]


@dataclass(frozen=True)
class Screen:
    """What a command adds to its operation.

    help      what the command does and takes.
    lines     formats an answer below the name of its file; keywords are the command's own options.
    told      help of options that mean something else on the command line than in a query.
    own       options that no query has.
    texts     what some of these add to the query; removes them from all options, and may refuse those of the query.
    asked     what the screen requests of a table, given the options and whether an engine reads it; may refuse options.
    engine    whether an engine may read FILE, with every score ("exact") or within bounds, too ("bounded").
    """

    help: str
    lines: Callable[..., Iterable[str]]
    told: Mapping[str, Help] = field(default_factory=dict)
    own: tuple[Callable[[Any], Any], ...] = ()
    texts: Callable[[dict[str, Any], Texts], Texts] = lambda _options, _given: {}
    asked: Callable[[Texts, bool], Texts] = lambda _given, _engine: {}
    engine: str = ""


def operation_command(operation: Operation, screen: Screen) -> click.Command:
    """Make the command of an operation."""

    def run(
        file: tuple[BinaryIO | str, ...],
        format_name: str | None,
        *,
        as_json: bool,
        server: ServerAddress | None,
        engine: EngineOptions | None = None,
        plot: Path | None = None,
        show: bool = False,
        **options: Any,  # noqa: ANN401  # click's
    ) -> None:
        given = given_texts({name: options.pop(name) for name in operation.parameters})
        given |= screen.texts(options, given)
        if engine is not None and len(file) > 1:
            raise click.UsageError(f"--engine takes one FILE, and {file[1]} is another: put the pattern in quotes.")
        source = read_as_one([source_of(each, format_name, engine) for each in file], given)
        refuse_without_table(given, [source])
        if show and as_json:
            raise click.UsageError("--show cannot be combined with --json.")
        asked = {} if as_json or not source.is_table else screen.asked(given, engine is not None)

        def ask(accept: str, more: Texts) -> bytes:
            return ask_about(operation.name, source, given, more, accept, server=server)

        body = ask(JSON, asked)
        text: bytes | str = body
        if not as_json:
            document = orjson.loads(body) if server is None else printable(orjson.loads(body))
            text = "".join(f"{line}\n" for line in (source.name, "", *screen.lines(document, **options)))
        write_plot(plot, lambda media_type: ask(media_type, {}))
        click.echo(text, nl=False)
        if show:
            click.echo()
            print_curves(ask(TEXT, {}).decode())

    decorators = [
        click.argument("file", metavar="FILE...", nargs=-1, required=True, type=FileOrGlob(), cls=FileArgument),
        form_options(operation.form, screen.told),
    ]
    decorators += [engine_options(exact=screen.engine == "exact")] if screen.engine else []
    decorators += [*screen.own, server_options]
    decorators += [plot_option] if SVG in operation.media_types else []
    decorators += [show_option] if TEXT in operation.media_types else []
    decorated: Any = run
    for decorator in reversed(decorators):
        decorated = decorator(decorated)
    return click.command(operation.name, help=screen.help)(decorated)
