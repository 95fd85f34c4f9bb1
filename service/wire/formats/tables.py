"""From a table and its query parameters to the document of the equivalent JSON body.

A table is one evaluation, or several with shared labels. Knows the meaning of columns and parameters; nothing of
formats, nor of what is valid.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote_plus

from service.curves.classes import MOST_CLASSES
from service.curves.comparison import MOST_EVALUATIONS
from service.curves.evaluation import CurvesWarning
from service.curves.slicing import MOST_SLICE_COLUMNS
from service.wire.formats.json_shapes import refuse_names_of_other_libraries
from service.wire.formats.likely_columns import (
    did_you_mean,
    unused_threshold,
    unused_weights,
)
from service.wire.formats.query_options import (
    BASELINE,
    CLOSED_ENDS,
    COUNTS_COLUMNS,
    GROUP_ENDS,
    GROUP_MASSES,
    GROUPS_COLUMNS,
    HOW_TO_READ,
    MEANING,
    OF_ONE_EVALUATION,
    PICTURE_PARAMETERS,
    SAMPLE_COLUMNS,
    SLICES,
    SOFT_LABELS,
    TOTALS,
    Decoded,
    QueryFields,
    complete,
    options_of,
)
from service.wire.formats.table_columns import (
    Table,
    columns_by_class,
    counts_columns,
    distinct_columns,
    group_columns,
    header_of,
    named_columns,
    no_column,
    no_evaluation,
    refuse_incomplete_counts,
)
from service.wire.problems import invalid_value, pointer_token
from service.wire.usual_names import likely, meant


def _complete_request(document: object, parameters: Mapping[str, str], fields: QueryFields) -> Decoded:
    refuse_names_of_other_libraries(document)
    return complete(document, parameters, fields)


@dataclass(frozen=True, slots=True)
class TableForm:
    """How an operation uses a table.

    parameters      the query parameters that go with it, besides those of pictures within an answer.
    read            makes a document of the table and its parameters.
    fields          what reads the texts of the parameters.
    complete        adds the options in the query to a JSON body.
    answers_tables  whether the operation also takes the parameter `table`, which is not read here.
    """

    parameters: tuple[str, ...]
    read: Callable[[Table, Mapping[str, str], QueryFields], Decoded]
    fields: QueryFields = field(default_factory=dict)
    complete: Callable[[object, Mapping[str, str], QueryFields], Decoded] = _complete_request
    answers_tables: bool = True

    @property
    def drawn(self) -> tuple[str, ...]:
        """The parameters of pictures within an answer."""
        return tuple(name for name in _DRAWS if name in self.fields)

    def check(self, parameters: Iterable[str]) -> None:
        """Refuse a query parameter that is not known."""
        for key in parameters:
            if key not in self.parameters and key not in self.drawn:
                known = (*self.parameters, *self.drawn, *(["table"] if self.answers_tables else []))
                message = f"Unknown query parameter; {meant(key, known)}"
                raise invalid_value(f"/{pointer_token(key)}", "unknown_field", message)

    def decode(self, table: Table, parameters: Mapping[str, str]) -> Decoded:
        """Read the table, after checking its parameters, and warn of columns that should perhaps be used."""
        self.check(parameters)
        decoded = self.read(table, parameters, self.fields)
        unused = self._unused(table.header, parameters, decoded.document)
        if not unused:
            return decoded
        used = {*decoded.pointers.values()}
        warnings = (told for name, told in unused.items() if f"/{pointer_token(name)}" not in used)
        return replace(decoded, warnings=tuple(warnings))

    def _unused(self, header: list[str], parameters: Mapping[str, str], document: object) -> dict[str, CurvesWarning]:
        """Warn of columns that seem to be weights or thresholds: {column: warning}."""
        if not isinstance(document, dict) or "groups" in document:
            return {}
        counts = document.get("counts")
        if isinstance(counts, dict):
            return {} if "threshold" in counts else unused_threshold(header)
        return unused_weights(header) if "weights" in self.parameters and "weights" not in parameters else {}


_DRAWS = ("charts", "side", "theme", "title", "mark")


def _form(own: tuple[str, ...], read: Any, fields: QueryFields, *, answers_tables: bool = True) -> TableForm:  # noqa: ANN401  # as in TableForm
    """The form with these parameters, and all other fields that are not of pictures or of columns."""
    others = (name for name in fields if name not in (*own, *OF_ONE_EVALUATION, *_DRAWS, *PICTURE_PARAMETERS))
    return TableForm((*own, *others), read, fields, answers_tables=answers_tables)


def one_evaluation(fields: QueryFields) -> TableForm:
    """The form of a table that is one evaluation, with these options as query parameters."""
    return _form(OF_ONE_EVALUATION, _read_one, fields)


def one_evaluation_with_soft_labels(fields: QueryFields) -> TableForm:
    """The form of a table that is one evaluation; a sample may have a column of soft labels instead of labels."""
    return _form((*OF_ONE_EVALUATION, SOFT_LABELS), _read_hard_or_soft, fields)


def evaluation_and_baseline(fields: QueryFields) -> TableForm:
    """The form of a table that is one evaluation, and a baseline of the same rows if `baseline_scores` is given."""
    return _form((*OF_ONE_EVALUATION, BASELINE), _read_with_baseline, fields, answers_tables=False)


def several_evaluations(fields: QueryFields) -> TableForm:
    """The form of a table of several samples: `scores` names their columns, labels and weights are shared."""
    return _form((*SAMPLE_COLUMNS, *MEANING, *HOW_TO_READ), _read_several, fields)


def one_sample_in_slices(fields: QueryFields) -> TableForm:
    """The form of a table that is one sample or groups; `slices` names the columns that define its slices."""
    own = (*SAMPLE_COLUMNS, SLICES, *GROUPS_COLUMNS, *TOTALS, *MEANING, CLOSED_ENDS, *HOW_TO_READ)
    return _form(own, _read_slices, fields)


def one_column_a_class(fields: QueryFields) -> TableForm:
    """The form of a table of classes: `scores` names a column for each class, `labels` the column of classes."""
    return _form((*SAMPLE_COLUMNS, "lower_is_positive", *HOW_TO_READ), _read_classes, fields)


def _read_classes(table: Table, parameters: Mapping[str, str], fields: QueryFields) -> Decoded:
    """Read the scores for each class, and one column of labels."""
    if "scores" not in parameters:
        message = f"Name the column of scores for each class, as in scores=cat,dog; {header_of(table)}."
        raise invalid_value("/scores", "missing", message)
    scores = columns_by_class(table, parameters["scores"], MOST_CLASSES)
    others = named_columns(table, parameters, ("labels", "weights"))
    if "labels" not in others:
        raise no_column(table, "labels")
    columns = table.read([*dict.fromkeys([*scores.values(), *others.values()])])
    document: dict[str, object] = {key: columns[name] for key, name in others.items()}
    document["scores"] = {name: columns[column] for name, column in scores.items()}
    pointers = {f"/{key}": f"/{pointer_token(name)}" for key, name in others.items()}
    pointers |= {f"/scores/{pointer_token(name)}": f"/{pointer_token(column)}" for name, column in scores.items()}
    return Decoded(document | options_of(parameters, fields), pointers)


def _read_slices(table: Table, parameters: Mapping[str, str], fields: QueryFields) -> Decoded:
    """Read a sample, and the columns that define its slices."""
    if SLICES not in parameters:
        message = f"Name the columns that define the slices, as in slices=country,model; {header_of(table)}."
        raise invalid_value(f"/{SLICES}", "missing", message)
    names = distinct_columns(table, SLICES, parameters[SLICES], MOST_SLICE_COLUMNS)
    chosen = _sample_columns(table, parameters, SAMPLE_COLUMNS)
    missing = [key for key in ("scores", "labels") if key not in chosen]
    groups = group_columns(table, parameters) if missing and "scores" not in parameters else {}
    if groups:
        return _read_groups(table, parameters, fields, groups, names)
    for key in missing:
        raise no_column(table, key)
    _refuse_of_groups(parameters, TOTALS)
    columns = table.read([*dict.fromkeys([*chosen.values(), *names])])
    document: dict[str, object] = {key: columns[name] for key, name in chosen.items()}
    document[SLICES] = {name: columns[name] for name in names}
    pointers = {f"/{key}": f"/{pointer_token(name)}" for key, name in chosen.items()}
    pointers |= {f"/{SLICES}/{pointer_token(name)}": f"/{pointer_token(name)}" for name in names}
    return Decoded(document | options_of(parameters, fields), pointers)


def _read_with_baseline(table: Table, parameters: Mapping[str, str], fields: QueryFields) -> Decoded:
    """Read one evaluation, and a baseline that shares its labels and weights."""
    decoded = _read_one(table, parameters, fields, (*SAMPLE_COLUMNS, BASELINE))
    document = decoded.document
    if not isinstance(document, dict) or BASELINE not in document:
        return decoded
    if "counts" in document:
        message = "baseline_scores names a second column of scores, but this table has counts."
        raise invalid_value(f"/{BASELINE}", "exclusive", message)
    scores = document.pop(BASELINE)
    shared = {key: document[key] for key in ("labels", "weights") if key in document}
    pointers = {f"/baseline/{key}": decoded.pointer(f"/{key}") for key in (*shared, *MEANING)}
    pointers["/baseline/scores"] = decoded.pointer(f"/{BASELINE}")
    return Decoded(document | {"baseline": {"scores": scores} | shared}, {**decoded.pointers, **pointers})


def _read_hard_or_soft(table: Table, parameters: Mapping[str, str], fields: QueryFields) -> Decoded:
    """Read one evaluation, with soft labels if a parameter names them, or if there are no others."""
    if SOFT_LABELS in parameters and "labels" in parameters:
        raise invalid_value(f"/{SOFT_LABELS}", "exclusive", "Name a column of labels or one of soft labels, not both.")
    has_labels = "labels" in parameters or "labels" in table.header
    soft = SOFT_LABELS in parameters or (SOFT_LABELS in table.header and not has_labels)
    return _read_one(table, parameters, fields, ("scores", SOFT_LABELS, "weights") if soft else SAMPLE_COLUMNS)


def _read_one(
    table: Table, parameters: Mapping[str, str], fields: QueryFields, sample: tuple[str, ...] = SAMPLE_COLUMNS
) -> Decoded:
    """Read the columns from the table, a sample's before counts, and everything else from the query parameters.

    The first two columns of a sample are its scores and its labels, which it needs.
    """
    chosen = _sample_columns(table, parameters, sample)
    counts = counts_columns(table, parameters) if "scores" not in parameters else {}
    missing = [key for key in sample[:2] if key not in chosen]
    groups = group_columns(table, parameters) if missing and not counts and "scores" not in parameters else {}
    if groups:
        return _read_groups(table, parameters, fields, groups, ())
    if missing and not counts:
        scores = parameters.get("scores", "scores")
        if scores in table.header and group_columns(table, {**parameters, "score": scores}):
            message = (
                f"There is no column labels. If this table has groups, name the scores score={quote_plus(scores)}."
            )
            raise invalid_value("/labels", "missing", message)
        raise no_evaluation(table, missing, [key for key in sample if key not in chosen])
    _refuse_of_groups(parameters)
    options = options_of(parameters, fields)
    totals = {key: options.pop(key) for key in TOTALS if key in options}
    if totals and not counts:
        message = "Totals are for counts; this table is a sample."
        raise invalid_value(f"/{next(iter(totals))}", "exclusive", message)
    if counts:
        refuse_incomplete_counts(table, {*counts, *totals})
    columns = table.read([*dict.fromkeys([*chosen.values(), *counts.values()])])
    document: dict[str, object] = {key: columns[name] for key, name in chosen.items()}
    if counts:
        document["counts"] = {key: columns[name] for key, name in counts.items()} | totals
    pointers = {f"/{key}": f"/{pointer_token(name)}" for key, name in chosen.items()}
    named = dict.fromkeys((*COUNTS_COLUMNS, *TOTALS)) | counts
    pointers |= {f"/counts/{key}": f"/{pointer_token(name or key)}" for key, name in named.items()}
    return Decoded(document | options, pointers | {"/counts": ""})


def _sample_columns(table: Table, parameters: Mapping[str, str], keys: tuple[str, ...]) -> dict[str, str]:
    """The columns of a sample, {key: name}; only named ones if parameters name columns of counts or groups."""
    others = {*COUNTS_COLUMNS, *GROUPS_COLUMNS} & parameters.keys()
    return named_columns(table, parameters, tuple(key for key in keys if key in parameters or not others))


def _refuse_of_groups(parameters: Mapping[str, str], others: Iterable[str] = ()) -> None:
    """Refuse options of groups for a table without groups."""
    for key in (CLOSED_ENDS, *others):
        if key in parameters:
            raise invalid_value(f"/{key}", "exclusive", "This is for groups; this table has none.")


def _read_groups(
    table: Table, parameters: Mapping[str, str], fields: QueryFields, groups: Mapping[str, str], slices: Iterable[str]
) -> Decoded:
    """Read the columns of groups, those that define slices, and everything else from the query parameters."""
    for key in (*SAMPLE_COLUMNS, SOFT_LABELS, BASELINE):
        if key in parameters:
            raise invalid_value(f"/{key}", "exclusive", "This is not for groups, and this table has groups.")
    columns = table.read([*dict.fromkeys([*groups.values(), *slices])])
    options = options_of({key: text for key, text in parameters.items() if key not in TOTALS}, fields)
    closed = {key: options.pop(key) for key in (CLOSED_ENDS,) if key in options}
    document: dict[str, object] = {"groups": {key: columns[name] for key, name in groups.items()} | closed}
    if slices:
        document[SLICES] = {name: columns[name] for name in slices}
    named: dict[str, str | None] = {**dict.fromkeys((*GROUP_ENDS, *GROUP_MASSES, CLOSED_ENDS)), **groups}
    pointers = {f"/groups/{key}": f"/{pointer_token(name or key)}" for key, name in named.items()}
    pointers |= {f"/{SLICES}/{pointer_token(name)}": f"/{pointer_token(name)}" for name in slices}
    return Decoded(document | options, pointers | {"/groups": ""})


def _read_several(table: Table, parameters: Mapping[str, str], fields: QueryFields) -> Decoded:
    """Read one sample per column that `scores` names; the columns that they share are checked once."""
    if "scores" not in parameters:
        message = f"Name the columns of scores to compare, as in scores=a,b; {header_of(table)}."
        missing = [key for key in ("labels",) if key not in parameters and key not in table.header]
        message += did_you_mean(likely(table.header, missing))
        raise invalid_value("/scores", "missing", message)
    names = distinct_columns(table, "scores", parameters["scores"], MOST_EVALUATIONS)
    shared = named_columns(table, parameters, ("labels", "weights"))
    if "labels" not in shared:
        raise no_column(table, "labels")
    columns = table.read([*dict.fromkeys([*names, *shared.values()])])
    options = options_of(parameters, fields)
    common: dict[str, object] = {key: columns[name] for key, name in shared.items()}
    common |= {key: options.pop(key) for key in MEANING if key in options}
    pointers: dict[str, str] = {}
    for position, name in enumerate(names):
        renamed = {"scores": name, "name": "scores", **{key: key for key in MEANING}, **shared}
        pointers |= {f"/evaluations/{position}/{key}": f"/{pointer_token(new)}" for key, new in renamed.items()}
    evaluations = [{"name": name, "scores": columns[name]} | common for name in names]
    return Decoded({"evaluations": evaluations} | options, pointers | {"/evaluations": "/scores"})
