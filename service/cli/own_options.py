"""How one of several files is read, if it differs from the others: `--for NAME:KEY=VALUE` and `--baseline-...`.

Knows the texts of these options; each key is a query parameter that says how a table is read.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import click

from service.cli.options import flag
from service.wire.formats.inputs import OF_ONE_EVALUATION
from service.wire.formats.json_format import StrictJsonError, parse_json
from service.wire.usual_names import meant

_OF_BASELINE = ("delimiter", "decimal", "positive_label")
"""The parameters with an option for the baseline alone."""

FOR_OPTION = click.Option(
    ["--for", "own"],
    multiple=True,
    metavar="NAME:KEY=VALUE,...",
    help="How one FILE is read, if it differs: new:scores=p,labels=y,delimiter=semicolon. May be repeated.",
)
BASELINE_OPTIONS = (
    click.Option(
        ["--baseline-columns"], metavar="KEY=NAME,...", help="Columns of OLD, if they differ: scores=p,labels=y."
    ),
    click.Option(["--baseline-delimiter"], metavar="MARK", help="Separator of OLD."),
    click.Option(["--baseline-decimal"], metavar="MARK", help="Decimal mark of OLD."),
    click.Option(["--baseline-positive-label"], metavar="TEXT", help="The positive label of OLD."),
)
"""The options for a baseline that is read in another way than the scores."""


def texts_of_baseline(options: dict[str, Any]) -> dict[str, str]:
    """Remove the options of the baseline from those of a command. Raises UsageError."""
    columns = options.pop("baseline_columns")
    texts = {} if columns is None else read_pairs(columns, "--baseline-columns")
    given = {key: options.pop(f"baseline_{key}") for key in _OF_BASELINE}
    return texts | {key: text for key, text in given.items() if text is not None}


def texts_of_files(own: Sequence[str], names: Mapping[str, object]) -> dict[str, dict[str, str]]:
    """Read `--for`, for each file by its name. Raises UsageError."""
    texts: dict[str, dict[str, str]] = {}
    for word in own:
        name, colon, pairs = word.partition(":")
        if not colon or name not in names:
            known = f"the names are {', '.join(names)}" if any(names) else "a single FILE has none"
            raise click.UsageError(f"--for {word}: begin with the name of a classifier and a colon; {known}.")
        texts[name] = texts.get(name, {}) | read_pairs(pairs, "--for")
    return texts


def read_pairs(text: str, option: str) -> dict[str, str]:
    """Read KEY=VALUE pairs, separated by commas, or a JSON object of texts. Raises UsageError."""
    pairs: dict[str, str] = {}
    if text.startswith("{"):
        try:
            found = parse_json(text)
        except StrictJsonError as error:
            raise click.UsageError(f"{option}: {error}") from None
        pairs = {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}
    else:
        for pair in text.split(","):
            key, equals, value = pair.partition("=")
            if not equals:
                raise click.UsageError(f"{option} takes pairs such as scores=p,labels=y; {pair!r} is not a pair.")
            pairs[key.strip()] = value.strip()
    for key in pairs:
        if key not in OF_ONE_EVALUATION:
            raise click.UsageError(
                f"{option}: {key!r} does not say how a file is read; {meant(key, OF_ONE_EVALUATION)}"
            )
    return pairs


def of_one_file(name: str, parameters: Sequence[tuple[str, str]]) -> str:
    """Write options as typed for one of several files."""
    return f"--for {shlex.quote(f'{name}:{_pairs(parameters)}')}"


def of_baseline(parameters: Sequence[tuple[str, str]]) -> str:
    """Write options as typed for a baseline."""
    own = [(flag(f"baseline_{key}"), text) for key, text in parameters if key in _OF_BASELINE]
    others = [(key, text) for key, text in parameters if key not in _OF_BASELINE]
    columns = [("--baseline-columns", _pairs(others))] if others else []
    return " ".join(f"{option}{f' {shlex.quote(text)}' if text else ''}" for option, text in [*columns, *own])


def _pairs(parameters: Sequence[tuple[str, str]]) -> str:
    return ",".join(f"{key}={text or '...'}" for key, text in parameters)
