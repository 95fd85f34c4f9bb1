"""`rocpr gate RULES.toml SCORES`: does the model meet the rules? For people, and for CI servers by its exit status.

Knows the command's options and statuses; answer.py or the server decides the verdict.
"""

import math
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
import orjson

from service.cli.asking import Question
from service.cli.command_error import CommandError, fail
from service.cli.engine_options import engine_options
from service.cli.explaining import Source
from service.cli.files import SUFFIXES, InputFile, suffix_of
from service.cli.gate.first_rules import probe, rules_json, rules_text
from service.cli.gate.html_report import Repeat
from service.cli.gate.outputs import Outputs
from service.cli.gate.question import question_of
from service.cli.gate.rules_file import Rules
from service.cli.gate.rules_schema import rules_schema
from service.cli.gate.verdict_layout import verdict_lines
from service.cli.layout import printable, terminal_safe
from service.cli.options import Texts, form_options, given_texts, what_is_refused
from service.cli.own_options import BASELINE_OPTIONS, texts_of_baseline
from service.cli.plots import PLOT_OPTION
from service.cli.server_address import SERVER_OPTIONS
from service.cli.sources import FileAccess, opened, refuse_two_of_standard_input
from service.cli.truth import TRUTH_OPTION
from service.cli.written_files import (
    WRITTEN_FILE,
    holds_bytes,
    in_a_directory,
    refuse_files_that_are_read,
    refuse_one_file_twice,
)
from service.wire.formats.inputs import BASELINE, TOTALS
from service.wire.formats.tables import one_evaluation
from service.wire.media_types import JSON
from service.wire.requests.query_fields import READING_FIELDS

_NOTHING_ASKED = b'{"status": "passed", "passed": true, "paired": false, "checks": [], "warnings": []}'
"""The answer to no rules, about which the service cannot be asked."""

EXIT_STATUSES = {"passed": 0, "failed": 1, "undecided": 2}
NO_VERDICT = 3
"""The exit status of a gate that could not run."""

_COMMAND_WORDS = "service.cli.gate.words"
"""Where a context keeps the words of its command."""


class GateCommand(click.Command):
    """A command in which neither a defect nor Ctrl-C can look like a verdict."""

    error_status = NO_VERDICT

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:  # noqa: ANN401  # click's
        """Read the options."""
        _, words, *_ = arguments
        given = [*words]  # click takes them out of the list
        with _no_other_status():
            context = super().make_context(*arguments, **options)
        context.meta[_COMMAND_WORDS] = given
        return context

    def invoke(self, ctx: click.Context) -> object:
        """Run it; a status of 1 or 2 is a verdict."""
        with _no_other_status():
            return super().invoke(ctx)


@contextmanager
def _no_other_status() -> Iterator[None]:
    try:
        yield
    except (click.ClickException, click.exceptions.Exit):
        raise
    except (MemoryError, OSError) as refused:
        fail([f"Error: {what_is_refused(refused)}"])
    except (KeyboardInterrupt, click.Abort):
        click.echo("Aborted!", err=True)
        sys.exit(NO_VERDICT)
    except Exception:  # noqa: BLE001  # an uncaught exception would end with status 1
        traceback.print_exc()
        sys.exit(NO_VERDICT)


def _report_file(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Refuse what is no old report: without its value, the option takes the next name, and would replace that file."""
    if path is not None and suffix_of(path.name) in {*SUFFIXES, "toml"}:
        raise click.BadParameter(f"{path.name} is named like rules or scores, which the report would replace.")
    if path is not None and holds_bytes(path):
        raise click.BadParameter(f"{path.name} is not text, so it is no old report; give the report another name.")
    return in_a_directory(context, parameter, path)


def _print_schema(context: click.Context, _parameter: click.Parameter, asked: bool) -> None:  # noqa: FBT001  # click's
    """Print the schema of RULES.toml and end."""
    if asked:
        click.echo(orjson.dumps(rules_schema(), option=orjson.OPT_INDENT_2))
        context.exit()


_REPORT: dict[str, Any] = {"type": WRITTEN_FILE, "callback": _report_file, "metavar": "F", "is_eager": True}
_OPTIONS_AND_FILES: list[click.Parameter] = [
    click.Argument(["files"], metavar="RULES.toml SCORES", nargs=-1),
    *form_options(one_evaluation(READING_FIELDS)),
    *engine_options(),
    click.Option(["--baseline"], metavar="OLD", help="The previous model's scores, for max_drop."),
    click.Option(
        ["--without-baseline"],
        type=click.Choice(["refuse", "skip"]),
        default="refuse",
        help="Without OLD: refuse rules such as max_drop, or skip them, with a warning.",
    ),
    *BASELINE_OPTIONS,
    TRUTH_OPTION,
    *SERVER_OPTIONS,
    click.Option(["--junit"], help="Write a JUnit report.", **_REPORT),
    click.Option(["--markdown"], help="Write a report in Markdown.", **_REPORT),
    click.Option(["--html", "page"], help="Write a report as a page, with the curves, to hand on.", **_REPORT),
    PLOT_OPTION,
    click.Option(
        ["--schema"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_print_schema,
        help="Print a JSON Schema of RULES.toml, for editors.",
    ),
    click.Option(
        ["--at", "in_use"], type=float, metavar="T", help="With --init: rules about recall and precision at T, too."
    ),
    click.Option(
        ["--init"],
        is_flag=True,
        help="Print a first RULES.toml that SCORES meet, alone or against OLD. With --json: a RULES.json.",
    ),
]


@click.command(cls=GateCommand, params=_OPTIONS_AND_FILES)
@click.pass_context
def gate(
    context: click.Context,
    /,
    *,
    files: tuple[str, ...],
    baseline: str | None,
    without_baseline: str,
    junit: Path | None,
    markdown: Path | None,
    plot: Path | None,
    page: Path | None,
    as_json: bool,
    init: bool,
    in_use: float | None,
    **options: Any,  # noqa: ANN401  # click's
) -> None:
    """Check whether SCORES meet the rules in RULES.toml.

    SCORES and OLD are tables as rocpr curves takes them, or JSON files with the fields of an evaluation. The options
    for columns apply to both, and override those in RULES.toml; those for OLD alone begin with --baseline, or are below
    [baseline] in RULES.toml. One of the files can be - for standard input.

    The exit status is 0 if every rule is met, 1 if a rule failed, 2 if none failed but one is undecided, and 3 if
    something went wrong and there is no verdict. To get a first RULES.toml: rocpr gate --init SCORES >RULES.toml. With
    --json, this prints RULES.json, the list of rules that the scripts gate.sh and gate.mjs take.

    On GitHub, a report in Markdown is added to the job's summary, and rules that are not met are marked in RULES.toml.
    """
    access = FileAccess.of(options)
    of_baseline = texts_of_baseline(options)
    if of_baseline and baseline is None:
        raise click.UsageError("Options of the baseline need --baseline OLD.")
    if in_use is not None and not (init and math.isfinite(in_use)):
        raise click.UsageError("--at T, a finite threshold, is for --init; a rule has at_threshold.")
    written = (junit, markdown, plot, page)
    if init and any(written):
        raise click.UsageError("--init cannot be combined with --junit, --markdown, --plot or --html.")
    old = [] if baseline is None else [baseline]
    read = (*files, *old, *([access.truth] if access.truth else []))
    refuse_one_file_twice("--junit, --markdown, --plot and --html", written)
    refuse_files_that_are_read(written, read)
    expected = 1 if init else 2
    if len(files) != expected:
        what = "--init takes SCORES, and perhaps --baseline OLD" if init else "The command takes RULES.toml and SCORES"
        advice = "" if init else " For first rules: rocpr gate --init SCORES >RULES.toml"
        raise click.UsageError(f"{what}; {len(files)} file{'' if len(files) == 1 else 's'} given.{advice}")
    if not init:
        _refuse_other_order(*files)
    refuse_two_of_standard_input((*files, *old))
    streams = [opened(path) for path in files[:-1]]
    given = given_texts(options)
    sources = access.joined(access.sources([files[-1], *old], given))
    if baseline == files[-1]:
        advice = "For two of its columns, set baseline_scores in RULES.toml, and leave out --baseline."
        click.echo(terminal_safe(f"Warning: {baseline} is both SCORES and the baseline. {advice}"), err=True)
    if init:
        rules = Rules("the first rules", {}, {})
        document = _probed(question_of(rules, sources, given, of_baseline, access.server), in_use)
        _print(
            rules_json(document)
            if as_json
            else rules_text(document, sources[0].name, _values(given), _values(of_baseline))
        )
        return
    outputs = Outputs(*written)
    with outputs.of_errors():
        rules, skipped = Rules.read(streams[0]), 0
        if without_baseline == "skip" and not old and not _may_hold_baseline(rules, sources[0], given):
            rules, skipped = rules.without_changes()
        asked = rules.document["rules"]
        question = question_of(rules, sources, given, of_baseline, access.server)
        body = question.ask() if asked else _NOTHING_ASKED
    document = orjson.loads(body)
    if skipped:
        document["warnings"].append({"code": "skipped_rules", "detail": _skipped(skipped)})
        body = orjson.dumps(document)
    names = (sources[0].name, sources[1].name if old else None)
    lines = verdict_lines(printable(document), *map(printable, names))
    _print(body if as_json else "".join(f"{line}\n" for line in lines))
    outputs.write(document, rules, names)
    outputs.write_page(document, names, question.drawn, Repeat(context.meta[_COMMAND_WORDS], read))
    context.exit(EXIT_STATUSES[document["status"]])


def _may_hold_baseline(rules: Rules, scores: Source, given: Texts) -> bool:
    """Whether scores may bring their baseline themselves, as a column or in a JSON file."""
    return BASELINE in rules.texts | given or (isinstance(scores, InputFile) and scores.media_type == JSON)


def _skipped(number: int) -> str:
    what = "1 rule is" if number == 1 else f"{number} rules are"
    return f"There is no baseline, so {what} not checked."


def _refuse_other_order(rules: str, scores: str) -> None:
    """Refuse scores and rules in the wrong order. Raises UsageError."""
    if suffix_of(rules) == "json" and suffix_of(scores) != "toml":
        raise click.UsageError(f"{rules}: the rules are TOML here; gate.sh and gate.mjs take RULES.json.")
    for name, wrong in ((rules, suffix_of(rules) in SUFFIXES), (scores, suffix_of(scores) == "toml")):
        if wrong:
            raise click.UsageError(f"RULES.toml comes first, then SCORES; {name} ends in .{suffix_of(name)}.")


def _probed(question: Question, threshold: float | None) -> dict[str, Any]:
    """Get the numbers for first rules; with a baseline, those of paired rows if they can be."""
    document: dict[str, Any]
    if len(question.parts) == 1:
        document = orjson.loads(question.ask(more=probe(threshold, drops=False)))
    else:
        asked = probe(threshold, drops=True)
        try:
            document = orjson.loads(question.ask(more=asked | {"paired": True}))
        except CommandError:  # the files have other rows, or cannot be used at all
            document = orjson.loads(question.ask(more=asked))
    for warning in document["warnings"]:
        # The comments of the rules show intervals, and say if the area is below chance.
        if warning["code"] not in {"loose_rule", "below_chance", "interval_omitted"}:
            click.echo(terminal_safe(f"Warning: {question.parts[0].source.name}: {warning['detail']}"), err=True)
    return document


def _values(texts: Mapping[str, str]) -> dict[str, object]:
    """The values of options in TOML: totals are numbers, but the same options name columns of groups."""
    values: dict[str, object] = dict(texts)
    for key in {"lower_is_positive", *TOTALS} & texts.keys():
        with suppress(orjson.JSONDecodeError):
            values[key] = orjson.loads(texts[key])
    return values


def _print(text: str | bytes) -> None:
    """Print, in colour on a terminal unless NO_COLOR is set; the verdict stands even if nothing reads it."""
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    try:
        click.echo(text, nl=False, color=False if plain else None)
    except BrokenPipeError:
        # Python would try again at exit, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
