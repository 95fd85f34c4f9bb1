"""Decisions without JSON: `--at 0.5,0.9`, `--best mcc --min-recall 0.9`, and `--level` for intervals.

Each value adds a decision to those of the request. Knows the grammar of decisions and the texts of options.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import click

from service.cli.options import NAME_LIST, OptionsText, flag
from service.curves.decisions import LIMITS_OF_BEST

_ROWS_AT = {
    "at_threshold": ("--at", "Show the row of these thresholds: 0.5,0.9."),
    "at_share": ("--at-share", "Show the row that calls at most this share of all rows positive."),
    "at_fpr": ("--at-fpr", "Show the row with at most this false positive rate."),
    "at_recall": ("--at-recall", "Show the row with at least this recall."),
}
"""{field of a decision: its option, and help}"""

_TRADED = {"min_recall": "precision"}
"""{limit: the metric whose best is meant without --best}; of all others, recall."""

LEVEL_OPTION = click.Option(["--level"], metavar="NUMBER", help="Also show intervals of this level, such as 0.95.")

DECISION_OPTIONS = (
    *(click.Option([name, field], metavar="NUMBERS", help=text) for field, (name, text) in _ROWS_AT.items()),
    click.Option(["--best"], metavar=NAME_LIST, help="Show the row with the best of these metrics, such as f1,mcc."),
    *(
        click.Option(
            [flag(limit)],
            metavar="NUMBERS",
            help=f"A limit for --best. Without --best: show the best {_TRADED.get(limit, 'recall')} within it.",
        )
        for limit in LIMITS_OF_BEST
    ),
    LEVEL_OPTION,
)


def decision_texts(options: dict[str, Any], given: dict[str, str]) -> dict[str, str]:
    """Remove these options from those of a command, and write them as a query has them. Raises UsageError."""
    places: dict[str, str | None] = {field: options.pop(field) for field in _ROWS_AT}
    best, limits = options.pop("best"), {limit: options.pop(limit) for limit in LIMITS_OF_BEST}
    decisions: list[dict[str, Any]] = [
        {field: number} for field, text in places.items() for number in _numbers(_ROWS_AT[field][0], text)
    ]
    decisions += _of_best(best, limits)
    texts: dict[str, str] = {"decisions": _text_of(decisions)} if decisions else {}
    _refuse_both(texts, given, "options for single decisions")
    return texts | level_texts(options, given)


def level_texts(options: dict[str, Any], given: dict[str, str]) -> dict[str, str]:
    """Remove the level from the options of a command, and write it as a query has it. Raises UsageError."""
    level = options.pop("level")
    if level is None:
        return {}
    if len(_numbers("--level", level)) > 1:
        raise click.UsageError(f"--level takes one number, not {level!r}.")
    texts: dict[str, str] = {"intervals": OptionsText(json.dumps({"level": float(level)}), {"level": "--level"})}
    _refuse_both(texts, given, "--level")
    return texts


def _refuse_both(texts: dict[str, str], given: dict[str, str], others: str) -> None:
    for name in texts.keys() & given.keys():
        raise click.UsageError(f"{flag(name)} cannot be combined with {others}.")


def _text_of(decisions: Sequence[dict[str, Any]]) -> OptionsText:
    """Decisions as JSON, with the option that gave each of their values."""
    options = {
        f"{row}/{field}": _ROWS_AT[field][0] if field in _ROWS_AT else flag(field)
        for row, decision in enumerate(decisions)
        for field in decision
    }
    return OptionsText(json.dumps(decisions), options)


def _of_best(best: str | None, limits: dict[str, str | None]) -> Iterator[dict[str, Any]]:
    """The best rows within all limits; a limit with several numbers gives a row for each."""
    there = {limit: _numbers(flag(limit), text) for limit, text in limits.items() if text is not None}
    first = next(iter(there), None)
    names = [name.strip() for name in best.split(",")] if best else [_TRADED.get(first, "recall")] if first else []
    for name in names:
        for numbers in product(*there.values()):
            yield {"best": name, **dict(zip(there, numbers, strict=True))}


def _numbers(option: str, text: str | None) -> list[float]:
    """The numbers of an option, separated by commas. Raises UsageError."""
    try:
        return [] if text is None else [float(number) for number in text.split(",")]
    except ValueError:
        raise click.UsageError(f"{option} takes numbers such as 0.5,0.9, not {text!r}.") from None
