"""`rocpr plan`: how many rows the rules of a gate need, from a pilot."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import click
import orjson

from service.cli.engine_options import engine_options
from service.cli.explaining import Source
from service.cli.files import InputFile
from service.cli.gate.question import question_of
from service.cli.gate.rules_file import Rules
from service.cli.layout import IN_USE, in_full, printable, table_lines, text_lines
from service.cli.options import form_options, given_texts
from service.cli.own_options import BASELINE_OPTIONS, texts_of_baseline
from service.cli.server_address import SERVER_OPTIONS
from service.cli.sources import FileAccess, opened, refuse_two_of_standard_input
from service.cli.truth import TRUTH_OPTION
from service.inference.plans import POWER
from service.inference.rules import percent
from service.wire.formats.tables import one_evaluation
from service.wire.media_types import JSON
from service.wire.requests.query_fields import READING_FIELDS

ASSUMED = "Assumptions"
"""What takes the place of a pilot's name."""

_EXPECTED = "Today's values are uncertain, too: give each rule the value that is true, or the drop, as expected = ..."


@click.command(
    params=[
        click.Argument(["rules"], metavar="RULES.toml"),
        click.Argument(["pilot"], metavar="[PILOT]", required=False),
        *form_options(one_evaluation(READING_FIELDS)),
        *engine_options(),
        click.Option(["--baseline"], metavar="OLD", help="The pilot of the previous model, for max_drop and max_rise."),
        *BASELINE_OPTIONS,
        TRUTH_OPTION,
        click.Option(
            ["--assume"],
            metavar="JSON",
            help='In place of PILOT: \'{"roc": 0.85, "prevalence": 0.1}\', and perhaps baseline_roc with correlation, '
            "and cluster_size with icc.",
        ),
        click.Option(
            ["--power"],
            type=click.FloatRange(0.5, 0.99),
            default=POWER,
            show_default=True,
            help="The probability with which each rule should pass.",
        ),
        *SERVER_OPTIONS,
    ]
)
def plan(
    *,
    rules: str,
    pilot: str | None,
    baseline: str | None,
    assume: str | None,
    power: float,
    as_json: bool,
    **options: Any,  # noqa: ANN401  # click's
) -> None:
    """Show how many rows the rules in RULES.toml need.

    PILOT is a table as rocpr gate takes it, with the rows that you have; OLD is that of the previous model. Each rule
    with confidence has a number of rows like those of PILOT with which it passes with the probability --power, if
    today's value, or what the rule has as expected, is the true one. Without a pilot, --assume says what is true.
    """
    if (pilot is None) == (assume is None):
        raise click.UsageError("Give PILOT, or --assume in its place.")
    if pilot is None and baseline is not None:
        raise click.UsageError("--baseline is a second pilot; with --assume, give baseline_roc and correlation.")
    access = FileAccess.of(options)
    of_baseline = texts_of_baseline(options)
    if of_baseline and baseline is None:
        raise click.UsageError("Options of the baseline need --baseline OLD.")
    old = [] if baseline is None else [baseline]
    given = given_texts(options)
    if pilot is None:
        body = f'{{"assumptions": {assume}}}'.encode()
        sources: list[Source] = [InputFile(ASSUMED, JSON, BytesIO(body), {})]
    else:
        refuse_two_of_standard_input((rules, pilot, *old))
        sources = access.joined(access.sources([pilot, *old], given))
    read = Rules.read(opened(rules))
    question = question_of(read, sources, given, of_baseline, access.server, operation="plans")
    body = question.ask(more={"power": power})
    if as_json:
        click.echo(body, nl=False)
        return
    for line in _lines(printable(orjson.loads(body)), [source.name for source in sources], read.document["rules"]):
        click.echo(line)


def _lines(document: dict[str, Any], names: list[str], rules: list[dict[str, Any]]) -> Iterator[str]:
    """Format an answer; `names` are those of the pilot's files."""
    pilot, *old = names
    yield pilot
    yield from (f"against {name}, {'paired' if document['paired'] else 'not paired'}" for name in old)
    if "prevalence" in document:
        yield f"{IN_USE} {in_full(document['prevalence'])}"
    yield ""
    yield f"Rows with which each rule passes with a probability of {percent(document['power'])} %"
    plans = document["plans"]
    rows = [dict(zip(plans, cells, strict=True)) for cells in zip(*plans.values(), strict=True)]
    head = ["today", "if truly", "times", "rows", "positives", "negatives"]
    first, *lines = table_lines([head, *(_cells(*each) for each in zip(rows, rules, strict=True))], ">>>>>>")
    yield f"  {first}"
    for row, line in zip(rows, lines, strict=True):
        yield f"  {row['rule']}" + (f"; {row['slice']} needs most" if row["slice"] else "")
        yield f"  {line}"
    reasons = [f"{row['rule']}: {row['reason']}" for row in rows if row["reason"] is not None]
    if reasons:
        yield ""
        yield "Without a plan"
        for reason in reasons:
            yield from text_lines(reason)
    if pilot != ASSUMED and any(
        row["reason"] is None and "expected" not in rule for row, rule in zip(rows, rules, strict=True)
    ):
        yield ""
        yield from text_lines(_EXPECTED)


def _cells(row: dict[str, Any], rule: dict[str, Any]) -> list[str]:
    """One row; of a rule on drops, these and not differences."""
    sign = -1 if "max_drop" in rule else 1
    numbers = ["-" if row[name] is None else f"{sign * row[name] + 0.0:.6f}" for name in ("value", "expected")]
    factor = "-" if row["factor"] is None else f"{row['factor']:.3g}"
    counts = ["-" if row[name] is None else f"{row[name]}" for name in ("rows", "positives", "negatives")]
    return [*numbers, factor, *counts]
