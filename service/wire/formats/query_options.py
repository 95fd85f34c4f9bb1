"""The options of a query: converts them to the values of a JSON body, and adds them to a JSON body.

Knows which option is a text, a list or JSON, not what is valid.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from service.curves.comparison import MOST_EVALUATIONS
from service.curves.evaluation import CurvesWarning
from service.wire.columns import INFINITE_TEXTS
from service.wire.formats.json_format import StrictJsonError, parse_json
from service.wire.problems import Problem, invalid_value

SAMPLE_COLUMNS = ("scores", "labels", "weights")
BASELINE = "baseline_scores"
"""The column of a baseline's scores; its labels and weights are the table's."""

SOFT_LABELS = "soft_labels"
"""The column of soft labels."""

SLICES = "slices"
"""The columns that define slices."""

COUNTS_COLUMNS = ("tp", "fp", "fn", "tn", "threshold")
GROUP_ENDS = ("score", "score_from", "score_to")
TOTALS = ("positives", "negatives")
"""Totals of counts; for a table of groups, the names of its columns."""

SQUARES = ("positives_squared", "negatives_squared")
GROUP_MASSES = (*TOTALS, *SQUARES)
GROUPS_COLUMNS = (*GROUP_ENDS, *SQUARES)
"""The columns of groups besides those called like totals."""

COLUMN_PARAMETERS = (*SAMPLE_COLUMNS, SOFT_LABELS, BASELINE, SLICES, *COUNTS_COLUMNS, *GROUPS_COLUMNS)
"""Parameters that name columns of a table."""

CSV_PARAMETERS = ("delimiter", "decimal", "escape", "header")
"""Parameters of CSV."""

MISSING = "missing"
"""What happens to a row with an empty cell in a column that is used."""

CLOSED_ENDS = "closed"
"""Which ends of a group belong to it."""

MEANING = ("positive_label", "lower_is_positive")
HOW_TO_READ = (*CSV_PARAMETERS, MISSING)
OF_ONE_EVALUATION = (*SAMPLE_COLUMNS, *COUNTS_COLUMNS, *GROUPS_COLUMNS, *TOTALS, *MEANING, CLOSED_ENDS, *HOW_TO_READ)
"""The parameters that say how a table that is one evaluation is read."""

PICTURE_PARAMETERS = ("chart", "side", "theme", "title", "mark", "scale")
"""The query parameters that go with a picture, whatever the body is."""

_TEXT_PARAMETERS = ("positive_label", MISSING, CLOSED_ENDS, "keep", "chart", "theme", "title")
_NAME_LIST_PARAMETERS = ("include", "indices", "charts")
_NUMBER_LIST_PARAMETERS = ("thresholds", "at_lambda", "lambda_range", "mark")
_EXAMPLES = {
    "lower_is_positive": "true",
    "paired": "true",
    "positives": "100",
    "negatives": "100",
    "fail_status": "424",
    "thresholds": "0.2,0.8",
    "at_lambda": "0.2,0.8",
    "lambda_range": "0.2,0.8",
    "lambda_density": '{"a": 2, "b": 2}',
    "interpolation": '{"every": 1}',
    "intervals": '{"level": 0.95}',
    "operating_points": '[{"metric": "recall_at_precision", "at": 0.9}]',
    "partial": '[{"over": "fpr", "to": 0.1}]',
    "costs": '{"prevalence": [0.01, 0.1], "fn_cost": 5}',
    "side": "320",
    "mark": "0.2,0.8",
    "scale": "2",
    "rules": '[{"metric": "roc", "min": 0.9}]',
}
"""{query parameter: an example of its text}"""

_NUMBER_WITH_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")

_COMMAS = {"comma", ","}
_SHOWN_TEXT = 40

_JSON_WORDS = frozenset({"true", "false", "null"})
"""All JSON texts that begin with a letter."""

_TRUTH = {"true": True, "false": False}
"""Python capitalises them, R writes them in capitals."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A request as one document.

    pointers   map pointers into it to the caller's terms (a table's columns).
    warnings   about what the document leaves out.
    row_of     {pointer to a column in it: from a row of the column to the caller's}, unless they are the same.
    """

    document: object
    pointers: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[CurvesWarning, ...] = ()
    row_of: Mapping[str, Callable[[int], int]] = field(default_factory=dict)

    def pointer(self, inner: str) -> str:
        """Return the caller's pointer for one into the document."""
        column, _, row = inner.rpartition("/")
        if column in self.row_of and row.isdecimal():
            inner = f"{column}/{self.row_of[column](int(row))}"
        for prefix, outer in self.pointers.items():
            if inner == prefix or inner.startswith(f"{prefix}/"):
                return outer + inner[len(prefix) :]
        return inner


def options_of(parameters: Mapping[str, str]) -> dict[str, object]:
    """Read the parameters that do not say how a table is read."""
    return {
        key: _value(key, text, parameters)
        for key, text in parameters.items()
        if key not in COLUMN_PARAMETERS and key not in CSV_PARAMETERS
    }


def picture_options(parameters: dict[str, str]) -> dict[str, object]:
    """Remove the picture's options from the query, and return them as a document for its schema."""
    return {key: _value(key, parameters.pop(key), parameters) for key in PICTURE_PARAMETERS if key in parameters}


def complete(document: object, parameters: Mapping[str, str]) -> Decoded:
    """Put the options of a query into a JSON body, each in its place.

    Totals go into the counts, and the meaning of labels and scores into each of several evaluations. A body that is not
    an object, or has too many evaluations, is left to the schema to refuse.

    Raises Problem for an option that the body has, too, and for parameters that name columns.
    """
    for key in COLUMN_PARAMETERS:
        if key in parameters:
            message = f"{key} names a column of a table; a JSON body has the columns themselves. Leave it out."
            raise invalid_value(f"/{key}", "exclusive", message)
    if not parameters or not isinstance(document, dict):
        return Decoded(document)
    options = options_of(parameters)
    totals = {key: options.pop(key) for key in TOTALS if key in options}
    completed: dict[str, object] = dict(document)
    pointers: dict[str, str] = {}
    if CLOSED_ENDS in options:
        groups = document.get("groups")
        if not isinstance(groups, dict):
            raise invalid_value(f"/{CLOSED_ENDS}", "exclusive", "This is for groups; this body has none.")
        completed["groups"] = _with(groups, {CLOSED_ENDS: options.pop(CLOSED_ENDS)})
        pointers |= {f"/groups/{CLOSED_ENDS}": f"/{CLOSED_ENDS}"}
    if totals:
        counts = document.get("counts")
        if not isinstance(counts, dict):
            raise invalid_value(f"/{next(iter(totals))}", "exclusive", "Totals are for counts; this body has none.")
        completed["counts"] = _with(counts, totals)
        pointers |= {f"/counts/{key}": f"/{key}" for key in totals}
    evaluations = document.get("evaluations")
    if isinstance(evaluations, list) and len(evaluations) <= MOST_EVALUATIONS:
        meaning = {key: options.pop(key) for key in MEANING if key in options}
        completed["evaluations"] = [_with(each, meaning) if isinstance(each, dict) else each for each in evaluations]
        pointers |= {f"/evaluations/{row}/{key}": f"/{key}" for row in range(len(evaluations)) for key in meaning}
    return Decoded(_with(completed, options), pointers)


def names_or_json(text: str) -> object:
    """Read JSON text, or names separated by commas and optional blanks."""
    if not text[:1].isalpha() or text.strip() in _JSON_WORDS:
        with suppress(StrictJsonError):
            return parse_json(text)
    return [name.strip() for name in text.split(",")]


def _with(given: dict[str, object], options: Mapping[str, object]) -> dict[str, object]:
    """Add options to an object of the body, which must not have them already; null and [] count as absent."""
    for key in options:
        if given.get(key) not in (None, []):
            message = f"The query and the body both have {key}; leave it out of one of them."
            raise invalid_value(f"/{key}", "exclusive", message)
    return {**given, **options}


def json_or_truth(text: str) -> object:
    """Read a boolean, or JSON. Raises StrictJsonError."""
    truth = _TRUTH.get(text.lower())
    return parse_json(text) if truth is None else truth


def _value(key: str, text: str, beside: Mapping[str, str]) -> object:
    """Read a parameter: text, a list (comma-separated or JSON), a boolean, or JSON; `beside` are all parameters."""
    if key in _TEXT_PARAMETERS:
        return text
    if key in _NAME_LIST_PARAMETERS:
        return names_or_json(text)
    if key in _NUMBER_LIST_PARAMETERS and beside.get("decimal") in _COMMAS and _has_whole_items(text):
        message = (
            f"With decimal=comma, {text[:_SHOWN_TEXT]} may be one number or several: write 0.5, or a list, [0.2, 0.8]."
        )
        raise invalid_value(f"/{key}", "not_a_number", message)
    try:
        return _numbers(text) if key in _NUMBER_LIST_PARAMETERS else json_or_truth(text)
    except StrictJsonError as error:
        raise _not_read(key, text, error) from None


def _has_whole_items(text: str) -> bool:
    """Whether a text without brackets has commas, and something without a point between them."""
    return "," in text and "[" not in text and not all("." in item for item in text.split(","))


def _numbers(text: str) -> object:
    """Read a JSON list of numbers, or one or more numbers separated by commas. Raises StrictJsonError."""
    if text.lstrip().startswith(("[", "{", "n")):  # only null begins with n, and counts as absent
        return parse_json(text)
    items = text.split(",")
    infinite = [INFINITE_TEXTS.get(item.strip().lower()) for item in items]
    finite = [item if value is None else "0" for item, value in zip(items, infinite, strict=True)]
    read = parse_json(f"[{','.join(finite)}]")
    if not isinstance(read, list) or len(read) != len(items):  # an item began a list or an object
        return read
    return [each if value is None else value for each, value in zip(read, infinite, strict=True)]


def _not_read(key: str, text: str, error: StrictJsonError) -> Problem:
    if error.pointer is not None:
        return invalid_value(f"/{key}{error.pointer}", "not_finite", str(error))
    such = _EXAMPLES.get(key, "0.5")
    if key in _NUMBER_LIST_PARAMETERS:
        detail = f"This parameter takes numbers separated by commas, such as {such}."
    elif _NUMBER_WITH_COMMA.fullmatch(text.strip()):
        detail = (
            f"{text.strip()[:_SHOWN_TEXT]} has a decimal comma: write {text.strip()[:_SHOWN_TEXT].replace(',', '.')}."
        )
    else:
        detail = f"This parameter takes JSON, such as {such}. {error}"
    return invalid_value(f"/{key}", "not_json", detail)
