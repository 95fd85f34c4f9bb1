"""From a table and its query parameters to the document of the equivalent JSON body.

A table is one evaluation, or several with shared labels. Knows the meaning of columns and parameters; nothing of
formats, nor of what is valid.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeGuard

from service.curves.classes import MOST_CLASSES
from service.curves.comparison import MOST_EVALUATIONS
from service.curves.evaluation import CurvesWarning
from service.curves.slicing import MOST_SLICE_COLUMNS
from service.inference.average_estimates import RULE_AVERAGES
from service.inference.rules import ALL
from service.wire.formats.inputs import (
    BASELINE,
    CLASSES,
    CLUSTERS,
    COUNTS,
    COUNTS_COLUMNS,
    DRAWS,
    FOLDS,
    GROUPS,
    GROUPS_COLUMNS,
    HOW_TO_READ,
    IDS,
    MEANING,
    OF_ONE_EVALUATION,
    PICTURE_PARAMETERS,
    SAMPLE,
    SAMPLE_COLUMNS,
    SLICES,
    SOFT,
    SOFT_LABELS,
    TOTALS,
    Input,
)
from service.wire.formats.json_shapes import refuse_names_of_other_libraries
from service.wire.formats.likely_columns import (
    did_you_mean,
    likely_clusters,
    unused_clusters,
    unused_threshold,
    unused_weights,
)
from service.wire.formats.query_options import Decoded, QueryFields, complete, options_of
from service.wire.formats.table_columns import (
    Table,
    check_column,
    columns_by_class,
    counts_columns,
    distinct_columns,
    group_columns,
    header_of,
    json_or_none,
    named_columns,
    no_column,
    no_evaluation,
    refuse_incomplete_counts,
    repeats_values,
)
from service.wire.problems import invalid_value, pointer_token
from service.wire.usual_names import likely, meant, nearest

_IN_ORDER = tuple(dict.fromkeys((*SAMPLE_COLUMNS, CLUSTERS, SLICES, *OF_ONE_EVALUATION, SOFT_LABELS, BASELINE)))
"""All parameters that say how a table is read, in the order of the contract and of help."""


@dataclass(frozen=True, slots=True)
class Several:
    """A parameter that names up to `most` columns, which become an object of the document.

    what   what the columns are, with an example.
    read   splits its text: {name in the object: column}.
    needs  the column that such a table has, too, and that may have another name.
    """

    key: str
    most: int
    what: str
    read: Callable[[Table, str, str, int], dict[str, str]] = distinct_columns
    needs: str = ""
    is_parameter: bool = True

    def find(self, table: Table, parameters: Mapping[str, str]) -> dict[str, str]:
        """The columns that it names: {name in the object: column}. Raises Problem."""
        if self.key in parameters:
            return self.read(table, self.key, parameters[self.key], self.most)
        missing = [key for key in (self.needs,) if key not in parameters and key not in table.header]
        message = f"Name {self.what}; {header_of(table)}.{did_you_mean(likely(table.header, missing))}"
        raise invalid_value(f"/{self.key}", "missing", message)


@dataclass(frozen=True, slots=True)
class NamedByRules:
    """The columns that the rules of a gate name as slices or folds, which become an object of the document.

    No parameter names them, so they are found in the rules before these are checked; what is no list of names there is
    left to the schema.

    given    the rules, if the parameter `rules` does not have them.
    needed   whether the table must have them; a baseline's may be paired.
    classes  whether rules may be about several classes, each with its column of scores.
    """

    given: object = None
    needed: bool = True
    classes: bool = False
    key: str = SLICES
    is_parameter: bool = False

    def rules(self, parameters: Mapping[str, str]) -> object:
        """The rules, unchecked."""
        return json_or_none(parameters.get("rules", "")) if self.given is None else self.given

    def find(self, table: Table, parameters: Mapping[str, str]) -> dict[str, str]:
        """The columns that rules name: {name: name}. Raises Problem."""
        found: dict[str, str] = {}
        for row, rule in enumerate(_listed(self.rules(parameters))):
            for key in (SLICES, FOLDS):
                names = rule.get(key) if isinstance(rule, dict) else None
                for place, name in enumerate(names if _is_list_of_names(names) else ()):
                    if name in table.header:
                        found[name] = name
                    elif self.needed:
                        check_column(table, f"rules/{row}/{key}/{place}", name, _meant_by(name, table.header))
        return found


def _of_classes(rules: object) -> bool:
    """Whether a rule is about several classes."""
    return any(isinstance(rule, dict) and _is_of_classes(rule) for rule in _listed(rules))


def _is_of_classes(rule: Mapping[str, object]) -> bool:
    named = rule.get("classes")
    are_named = isinstance(named, list) and bool(named) and all(isinstance(name, str) for name in named)
    return named == ALL or are_named or rule.get("average") in RULE_AVERAGES


def _listed(rules: object) -> list[object]:
    return rules if isinstance(rules, list) else []


def _is_list_of_names(names: object) -> TypeGuard[list[str]]:
    """Whether a rule has a list of names that its schema takes."""
    if not isinstance(names, list) or len(names) > MOST_SLICE_COLUMNS:
        return False
    return all(isinstance(each, str) for each in names) and len(set(names)) == len(names)


def _meant_by(name: str, header: list[str]) -> str:
    """Suggest the column that an unknown name misspells."""
    near = nearest(name, header)
    return "" if near is None else f" Did you mean {near!r}?"


@dataclass(frozen=True)
class TableForm:
    """How an operation uses a table.

    fields          what reads the texts of the parameters.
    inputs          what a table may be; the first is a sample.
    several         names more columns.
    then            makes several evaluations of the document.
    answers_tables  whether the operation also takes the parameter `table`, which is not read here.
    """

    fields: QueryFields
    inputs: tuple[Input, ...]
    several: Several | NamedByRules | None = None
    then: Callable[[dict[str, Any], dict[str, str]], None] | None = None
    answers_tables: bool = True

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The query parameters that go with it, besides those of pictures within an answer."""
        of_inputs = (key for each in self.inputs for key in (*each.columns, *each.options, *each.own))
        own = {*of_inputs, *HOW_TO_READ} | ({self.several.key} if self.several and self.several.is_parameter else set())
        others = (name for name in self.fields if name not in (*_IN_ORDER, *DRAWS, *PICTURE_PARAMETERS))
        return (*(name for name in _IN_ORDER if name in own), *others)

    @cached_property
    def drawn(self) -> tuple[str, ...]:
        """The parameters of pictures within an answer."""
        return tuple(name for name in DRAWS if name in self.fields)

    def check(self, parameters: Iterable[str]) -> None:
        """Refuse a query parameter that is not known."""
        for key in parameters:
            if key not in self.parameters and key not in self.drawn:
                known = (*self.parameters, *self.drawn, *(["table"] if self.answers_tables else []))
                message = f"Unknown query parameter; {meant(key, known)}"
                raise invalid_value(f"/{pointer_token(key)}", "unknown_field", message)

    def complete(self, document: object, parameters: Mapping[str, str]) -> Decoded:
        """Add the options in the query to a JSON body."""
        refuse_names_of_other_libraries(document)
        return complete(document, parameters, self.fields)

    def decode(self, table: Table, parameters: Mapping[str, str]) -> Decoded:
        """Check the parameters and read the columns: of several classes, if a rule is about such."""
        self.check(parameters)
        named = self.several
        if isinstance(named, NamedByRules) and named.classes and _of_classes(named.rules(parameters)):
            if BASELINE in parameters:
                message = "For several classes, the baseline's scores are in a table of their own, or in JSON."
                raise invalid_value(f"/{BASELINE}", "exclusive", message)
            return replace(self, inputs=(CLASSES,), several=OF_CLASSES, then=None).read(table, parameters)
        return self.read(table, parameters)

    def read(self, table: Table, parameters: Mapping[str, str]) -> Decoded:
        """Read the columns that the inputs and the parameters name."""
        named = self.several.find(table, parameters) if self.several else {}
        found = self._found(table, parameters)
        options = self._options(table, found, parameters)
        names = [*dict.fromkeys([*named.values(), *(name for each in found.values() for name in each.values())])]
        columns = table.read(names)
        document: dict[str, Any] = {}
        pointers: dict[str, str] = {}
        if self.several and (named or self.several.is_parameter):
            key = self.several.key
            document[key] = {name: columns[column] for name, column in named.items()}
            pointers |= {f"/{key}/{pointer_token(name)}": f"/{pointer_token(column)}" for name, column in named.items()}
        for kind, of_kind in found.items():
            inner = document.setdefault(kind.inside, {}) if kind.inside else document
            inner |= {key: columns[name] for key, name in of_kind.items()}
            inner |= {key: options.pop(key) for key in kind.own if key in options}
            place = f"/{kind.inside}" if kind.inside else ""
            for key in (*kind.columns, *kind.own):
                pointers[f"{place}/{key}"] = f"/{pointer_token(of_kind.get(key, key))}"
            if place:
                pointers[place] = ""
        document |= options
        if self.then:
            self.then(document, pointers)
        unused = _unused(table.header, found, parameters)
        told = [warning for name, warning in unused.items() if name not in names]
        if CLUSTERS in self.parameters and CLUSTERS not in parameters and self._wants_intervals(options):
            likely_ones = [name for name in likely_clusters(table.header) if name not in names]
            told += [unused_clusters(name) for name in likely_ones if repeats_values(table, name)]
        return Decoded(document, pointers, tuple(told))

    def _found(self, table: Table, parameters: Mapping[str, str]) -> dict[Input, dict[str, str]]:
        """The inputs that the table has, {input: {key: column}}. The schema refuses a sample beside counts."""
        sample = self._sample(table, parameters)
        named = self.several.key if self.several else ""
        # If columns of counts or groups are named, others that happen to be called like those of a sample are not one.
        are_others_named = any(key in parameters for key in (*COUNTS_COLUMNS, *GROUPS_COLUMNS))
        usual = () if are_others_named else (*sample.needs, *sample.may)
        wanted = [key for key in sample.columns if key != named and (key in parameters or key in usual)]
        chosen = named_columns(table, parameters, wanted)
        missing = [key for key in sample.needs if key not in chosen and key != named]
        others = () if "scores" in parameters else self.inputs
        counts = counts_columns(table, parameters) if COUNTS in others else {}
        groups = group_columns(table, parameters) if GROUPS in others and missing and not counts else {}
        if groups:
            for key in (*SAMPLE_COLUMNS, CLUSTERS, SOFT_LABELS, BASELINE):
                if key in parameters:
                    raise invalid_value(f"/{key}", "exclusive", "This is not for groups, and this table has groups.")
            return {GROUPS: groups}
        if counts or not missing:
            return {sample: chosen} | ({COUNTS: counts} if counts else {})
        if COUNTS in self.inputs:
            raise no_evaluation(table, parameters, missing, [key for key in sample.columns if key not in chosen])
        raise no_column(table, missing[0])

    def _sample(self, table: Table, parameters: Mapping[str, str]) -> Input:
        """The sample that a table may have: of soft labels if a parameter names them, or if there are no others."""
        if SOFT not in self.inputs:
            return self.inputs[0]
        if SOFT_LABELS not in parameters:
            has_labels = "labels" in parameters or "labels" in table.header
            if SOFT_LABELS not in table.header or has_labels:
                return SAMPLE
        elif "labels" in parameters:
            message = "Name a column of labels or one of soft labels, not both."
            raise invalid_value(f"/{SOFT_LABELS}", "exclusive", message)
        if CLUSTERS in parameters:
            raise invalid_value(f"/{CLUSTERS}", "exclusive", "Soft labels have no intervals, so they take no clusters.")
        return SOFT

    def _wants_intervals(self, options: Mapping[str, Any]) -> bool:
        """Whether intervals are asked for, by an option or by a rule with confidence; rules may come later."""
        rules = options.get("rules", [{"confidence": None}] if "rules" in self.fields else [])
        with_confidence = isinstance(rules, list) and any(
            isinstance(each, dict) and "confidence" in each for each in rules
        )
        return "intervals" in options or with_confidence

    def _options(
        self, table: Table, found: Mapping[Input, Mapping[str, str]], parameters: Mapping[str, str]
    ) -> dict[str, object]:
        """Read the options, and refuse those that do not go with what the table has."""
        if GROUPS in found:
            return options_of({key: text for key, text in parameters.items() if key not in TOTALS}, self.fields)
        for key in (*GROUPS.own, *(() if COUNTS in self.inputs else TOTALS)):
            if key in parameters:
                raise invalid_value(f"/{key}", "exclusive", "This is for groups; this table has none.")
        options = options_of(parameters, self.fields)
        if COUNTS in found:
            refuse_incomplete_counts(table, {*found[COUNTS], *options})
            return options
        for key in TOTALS:
            if key in options:
                raise invalid_value(f"/{key}", "exclusive", "Totals are for counts; this table is a sample.")
        return options


def _unused(
    header: list[str], found: Mapping[Input, Mapping[str, str]], parameters: Mapping[str, str]
) -> dict[str, CurvesWarning]:
    """Warn of columns that seem to be weights or thresholds: {column: warning}."""
    if GROUPS in found:
        return {}
    if COUNTS in found:
        return {} if "threshold" in found[COUNTS] else unused_threshold(header)
    return {} if "weights" in parameters else unused_weights(header)


def one_evaluation(fields: QueryFields, sample: Input = SAMPLE) -> TableForm:
    """The form of a table that is one evaluation, with these options as query parameters."""
    return TableForm(fields, (sample, COUNTS, GROUPS))


def with_baseline(document: dict[str, Any], pointers: dict[str, str]) -> None:
    """Make a second column of scores the baseline, which shares the labels, weights, clusters and slices."""
    if BASELINE not in document:
        return
    if COUNTS.inside in document:
        message = "baseline_scores names a second column of scores, but this table has counts."
        raise invalid_value(f"/{BASELINE}", "exclusive", message)
    shared = {key: document[key] for key in ("labels", "weights", IDS, CLUSTERS, SLICES) if key in document}
    document["baseline"] = {"scores": document.pop(BASELINE)} | shared
    pointers |= {f"/baseline/{key}": pointers.get(f"/{key}", f"/{key}") for key in (*shared, *MEANING)}
    pointers["/baseline/scores"] = pointers[f"/{BASELINE}"]


def as_evaluations(document: dict[str, Any], pointers: dict[str, str]) -> None:
    """Make an evaluation of each column of scores; the columns that they share are checked once.

    The examples are the same for all, so their differences are paired unless the query says otherwise.
    """
    if "intervals" in document:
        document.setdefault("paired", True)
    shared = ("labels", "weights", IDS, CLUSTERS, *MEANING)
    common = {key: document.pop(key) for key in shared if key in document}
    of_each = {"name": "/scores"} | {key: pointers.get(f"/{key}", f"/{key}") for key in shared}
    scores = document.pop("scores")
    document["evaluations"] = [{"name": name, "scores": column} | common for name, column in scores.items()]
    for row, name in enumerate(scores):
        inner = of_each | {"scores": f"/{pointer_token(name)}"}
        pointers |= {f"/evaluations/{row}/{key}": outer for key, outer in inner.items()}
    pointers["/evaluations"] = "/scores"


COMPARED = Several("scores", MOST_EVALUATIONS, "the columns of scores to compare, as in scores=a,b", needs="labels")
OF_CLASSES = Several(
    "scores", MOST_CLASSES, "the column of scores for each class, as in scores=cat,dog", columns_by_class
)
BY_RULES = NamedByRules()
BY_RULES_OF_CLASSES = NamedByRules(classes=True)
IN_SLICES = Several(SLICES, MOST_SLICE_COLUMNS, "the columns that define the slices, as in slices=country,model")
