"""The command of an operation: its options are made from what the operation declares, its answer becomes a screen.

Knows files, options and operations in general; what each screen shows is in curves.py, tradeoffs.py and so on.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import click
import orjson

from service.charts.picture import CHARTS
from service.cli.asking import Question, RequestPart
from service.cli.beside import with_file_beside
from service.cli.engine_options import FileArgument, engine_options
from service.cli.explaining import Source
from service.cli.joined import read_as_one
from service.cli.layout import printable
from service.cli.options import Help, Texts, flag, form_options, given_texts
from service.cli.plots import PLOT_OPTION, SHOW_OPTION, chart_options, print_curves, write_plot
from service.cli.server_address import SERVER_OPTIONS
from service.cli.sources import FileAccess
from service.cli.truth import TRUTH_OPTION
from service.operations.operation import Operation
from service.wire.formats.inputs import IDS
from service.wire.formats.query_options import options_of
from service.wire.formats.tables import TableForm
from service.wire.media_types import SVG, TEXT


@dataclass(frozen=True)
class Named:
    """How several FILEs are named, and put together to one request.

    argument   the argument, called `files`.
    form       how each file is read, which takes the place of the operation's form.
    question   puts them together, given the options of the form; takes its own from the others.
    asked      the fields that the screen requests, given the other options.
    """

    argument: click.Argument
    form: TableForm
    question: Callable[[Any, Texts, FileAccess, dict[str, Any]], Question]
    asked: Callable[[Question, Mapping[str, Any]], Mapping[str, object]]


@dataclass(frozen=True)
class Wanted:
    """What was typed for the screen of one table or JSON file.

    given    the options, as the texts of a query.
    words    those of --include that only the screen knows.
    """

    source: Source
    given: Texts
    words: Collection[str]


@dataclass(frozen=True)
class Screen:
    """What a command adds to its operation.

    help      what the command does and takes.
    lines     formats an answer below the name of its file; keywords are the command's own options. Of several files
              with names, it gets the question, too, and shows the names itself.
    told      help of options that mean something else on the command line than in a query.
    own       options that no query has.
    texts     what some of these add to the query; removes them from all options, and may refuse those of the query.
    asked     what the screen requests of a table; may refuse options. `lines` then get what was typed, as `wanted`.
    words     what --include may name for the screen alone.
    beside    the field of the request that another FILE holds, which the option of this name names.
    engine    whether an engine may read FILE, with every score ("exact") or within bounds, too ("bounded").
    named     of a command whose several FILEs are an evaluation each; others read them as one table.
    """

    help: str
    lines: Callable[..., Iterable[str]]
    told: Mapping[str, Help] = field(default_factory=dict)
    own: tuple[click.Option, ...] = ()
    texts: Callable[[dict[str, Any], Texts], Texts] = lambda _options, _given: {}
    asked: Callable[[Wanted], Texts] | None = None
    words: tuple[str, ...] = ()
    beside: str = ""
    engine: str = ""
    named: Named | None = None


def operation_command(name: str, operation: Operation, screen: Screen) -> click.Command:
    """Make the command of an operation."""
    form = operation.form if screen.named is None else screen.named.form

    def run(
        *,
        as_json: bool,
        plot: Path | None = None,
        show: bool = False,
        chart: str | None = None,
        **options: Any,  # noqa: ANN401  # click's
    ) -> None:
        if show and as_json:
            raise click.UsageError("--show cannot be combined with --json.")
        if chart is not None and not (show or plot):
            needed = "--plot or --show" if TEXT in operation.media_types else "--plot"
            raise click.UsageError(f"--chart chooses the picture of {needed}; give one.")
        chart = chart or _chart_of(operation.name, options)
        picture = {} if chart is None else {"chart": chart}
        access = FileAccess.of(options, exact=screen.engine == "exact")
        given = given_texts({key: options.pop(key) for key in form.parameters})
        words = _taken_out(screen.words, given)
        given |= screen.texts(options, given)
        if as_json:
            _refuse_for_json(options, words)
        heading: tuple[str, ...] = ()
        if screen.named is None:
            question = _of_one_table(operation, options.pop("file"), given, access)
            if screen.beside:
                question = with_file_beside(question, screen.beside, options.pop(screen.beside), given, access)
            wanted = Wanted(question.parts[0].source, given, words)
            heading = (wanted.source.name, "")
            asked = {} if as_json else _asked_of_table(screen, wanted, form)
            options |= {} if screen.asked is None else {"wanted": wanted}
        else:
            question = screen.named.question(options.pop("files"), given, access, options)
            asked = {} if as_json else screen.named.asked(question, options)
            options["question"] = question
        text: bytes | str = question.ask(more=asked)
        if not as_json:
            document = orjson.loads(text) if access.server is None else printable(orjson.loads(text))
            text = "".join(f"{line}\n" for line in (*heading, *screen.lines(document, **options)))
        write_plot(plot, partial(question.ask, picture=picture))
        click.echo(text, nl=False)
        if show:
            click.echo()
            print_curves(question.ask(TEXT, picture=picture).decode())

    return click.Command(name, callback=run, params=_parameters(operation, screen, form), help=screen.help)


def _chart_of(operation: str, options: Mapping[str, Any]) -> str | None:
    """The picture of the one table that is asked for, if there is one of it."""
    asked = [name for name in CHARTS.get(operation, ()) if options.get(name) is not None]
    return asked[0] if len(asked) == 1 else None


def _asked_of_table(screen: Screen, wanted: Wanted, form: TableForm) -> Mapping[str, object]:
    """What the screen requests of a table; the options of a JSON file are its fields. Raises UsageError."""
    if wanted.words and not wanted.source.is_table:
        raise click.UsageError("--include is for tables; in a JSON file, options are fields.")
    if screen.asked is None or not wanted.source.is_table:
        return {}
    return options_of(screen.asked(wanted), form.fields)


def _refuse_for_json(options: Mapping[str, Any], words: Collection[str]) -> None:
    """Refuse what is for the summary only. Raises UsageError."""
    given = [flag(option) for option, value in options.items() if value is True]
    for option in (*given, *(f"--include {word}" for word in words)):
        raise click.UsageError(f"{option} is for the summary; it cannot be combined with --json.")


def _parameters(operation: Operation, screen: Screen, form: TableForm) -> list[click.Parameter]:
    """The argument and the options of a command."""
    files = _FILES if screen.named is None else screen.named.argument
    parameters: list[click.Parameter] = [files, *form_options(form, screen.told)]
    parameters += engine_options(exact=screen.engine == "exact") if screen.engine else []
    parameters += [TRUTH_OPTION] if IDS in form.parameters else []
    parameters += [*screen.own, *SERVER_OPTIONS]
    parameters += [PLOT_OPTION] if SVG in operation.media_types else []
    parameters += [SHOW_OPTION] if TEXT in operation.media_types else []
    parameters += chart_options(operation.name)
    return parameters


def _taken_out(words: Collection[str], given: Texts) -> list[str]:
    """Remove from --include the words that only the screen knows."""
    names = [name.strip() for name in given.get("include", "").split(",")]
    found = [name for name in names if name in words]
    if found:
        del given["include"]
        others = ",".join(name for name in names if name not in words)
        given |= {"include": others} if others else {}
    return found


_FILES = FileArgument(["file"], metavar="FILE...", nargs=-1, required=True)


def _of_one_table(operation: Operation, paths: tuple[str, ...], given: Texts, access: FileAccess) -> Question:
    """Ask about one table, which may be in several files. Raises UsageError."""
    if access.engine is not None and len(paths) > 1:
        raise click.UsageError(f"--engine takes one FILE, and {paths[1]} is another: put the pattern in quotes.")
    (source,) = access.joined([read_as_one(access.sources(paths, given), given)])
    return Question(operation.name, [RequestPart(source, operation.form, given, given)], access.server)
