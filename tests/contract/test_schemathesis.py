"""Requests that schemathesis makes up from the document, right and wrong ones, for every operation, in process.

No request gets a 5xx; every answer has a documented status, media type, headers and body; what the document forbids is
refused. What it allows may still be 422, because what goes together is more than a schema can say.
"""

import copy
import csv
import io
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.config import SchemathesisConfig
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from service.app import create_app
from service.settings import read_settings
from tests.contract.document import document, evaluations, operations, schema, violations

EXAMPLES = 200
ACCEPTED = ["2xx", "404", "413", "422"]
"""Statuses of requests that keep to the document; 404 is for a problem type that does not exist."""

CONFIG = SchemathesisConfig.from_dict({"checks": {"positive_data_acceptance": {"expected-statuses": ACCEPTED}}})
SETTINGS = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)

NUMBERS = st.one_of(
    st.integers(0, 20).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["+1", " 2 ", "007", ".5", "1e3", "-0.0", "1e308", "5e-324", "9007199254740993"]),
)
LABELS = st.sampled_from(["0", "1"])
ODD_CELLS = st.one_of(
    st.sampled_from(["", "nan", "inf", "1e400", "1_0", "0x10", "true", "-1", '"', "a,b", "\r\n", "\x00"]), st.text()
)


@st.composite
def csv_tables(draw: st.DrawFn) -> bytes:
    """CSV of every kind: samples and counts, columns in any order, odd cells, quoting, a BOM, CRLF, noise."""
    kinds = draw(
        st.sampled_from(
            [
                {"scores": NUMBERS, "labels": LABELS},
                {"scores": NUMBERS, "labels": LABELS, "weights": NUMBERS},
                {"tp": NUMBERS, "fp": NUMBERS, "fn": NUMBERS, "tn": NUMBERS},
                {"threshold": NUMBERS, "tp": NUMBERS, "fp": NUMBERS},
                {"scores": ODD_CELLS, "labels": ODD_CELLS},
                {"a,b": ODD_CELLS, "scores": NUMBERS, "labels": LABELS},
                {"scores": NUMBERS, "others": NUMBERS, "labels": LABELS},
                {"scores": NUMBERS, "others": ODD_CELLS, "labels": LABELS, "weights": NUMBERS},
                {"scores": NUMBERS},
                {},
            ]
        )
    )
    header = draw(st.permutations(list(kinds)))
    rows = draw(st.lists(st.tuples(*(kinds[name] for name in header)), max_size=12))
    out = io.StringIO(newline="")
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    writer = csv.writer(out, quoting=quoting, lineterminator=draw(st.sampled_from(["\n", "\r\n"])))
    writer.writerow(header)
    writer.writerows(rows)
    body = draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + out.getvalue().encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 9)) == 0:
        place = draw(st.integers(0, len(body)))
        body = body[:place] + draw(st.binary(max_size=5)) + body[place:]
    return body


schemathesis.openapi.media_type("text/csv", csv_tables())

CONTRACT = schemathesis.openapi.from_dict(copy.deepcopy(document()), config=CONFIG)
CONTRACT.app = create_app(read_settings({}))  # loaded from the application, it would leave out its own path
EVALUATIONS = {found.name: CONTRACT.find_operation_by_id(found.name) for found in evaluations()}
EVERY_EVALUATION = pytest.mark.parametrize("name", EVALUATIONS)
ACCEPTS = st.sampled_from(["application/json", "text/csv"])

NEAR = st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 1e-300, 1e300])
LAMBDAS = st.sampled_from([0, -0.0, 5e-324, 0.2, 0.5, 0.8, 1 - 2**-53, 1])
INDICES = st.lists(st.sampled_from(schema("TradeoffIndex")["enum"]))
SHAPES = st.sampled_from([0.01, 0.5, 1, 2, 1000])
CURVES_OPTIONS = {
    "include": st.lists(st.sampled_from(schema("Output")["enum"])),
    "keep": st.sampled_from(schema("Keep")["enum"]),
    "interpolation": st.one_of(
        st.fixed_dictionaries({"every": st.sampled_from([0.5, 1, 2, 7])}),
        st.fixed_dictionaries({"at_recall": st.lists(st.floats(0, 1), min_size=1)}),
    ),
    "lower_is_positive": st.booleans(),
}
TRADEOFFS_OPTIONS = {
    "indices": INDICES,
    "min_precision": st.sampled_from([0, 0.1, 0.5, 1]),
    "min_recall": st.sampled_from([0, 0.1, 0.5, 1]),
    "lambda_range": st.lists(LAMBDAS, min_size=2, max_size=2, unique=True).map(sorted),
    "lambda_density": st.fixed_dictionaries({"a": SHAPES, "b": SHAPES}),
    "at_lambda": st.lists(LAMBDAS),
    "lower_is_positive": st.booleans(),
}


@st.composite
def counts(draw: st.DrawFn) -> dict[str, Any]:
    rows = draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
    tp, fp = (list(column) for column in zip(*rows, strict=True))
    return {"counts": {"tp": tp, "fp": fp, "positives": 9, "negatives": 9.5}}


@st.composite
def samples(draw: st.DrawFn) -> dict[str, Any]:
    rows = draw(st.lists(st.tuples(NEAR, st.integers(0, 1), st.sampled_from([0, 0.1, 1, 3])), min_size=2))
    scores, labels, weights = (list(column) for column in zip(*rows, strict=True))
    return {"scores": scores, "labels": labels, "weights": weights}


@st.composite
def curves_bodies(draw: st.DrawFn) -> dict[str, Any]:
    body = draw(st.fixed_dictionaries({}, optional=CURVES_OPTIONS))
    if draw(st.booleans()):
        return body | draw(counts())
    tuning = {"scores": [1, 0.5], "labels": [True, False]}
    extras: list[dict[str, Any]] = [{}, {"thresholds": draw(st.lists(NEAR))}, {"tuning": tuning}]
    return body | draw(samples()) | draw(st.sampled_from(extras))


@st.composite
def tradeoffs_bodies(draw: st.DrawFn) -> dict[str, Any]:
    return draw(st.fixed_dictionaries({}, optional=TRADEOFFS_OPTIONS)) | draw(st.one_of(counts(), samples()))


@st.composite
def comparisons_bodies(draw: st.DrawFn) -> dict[str, Any]:
    """Evaluations of equal totals: counts, or the same labels and weights under scores of each one's own."""
    body = draw(st.fixed_dictionaries({}, optional={"indices": INDICES}))
    first = draw(st.one_of(counts(), samples()))
    found = [first]
    for _ in range(draw(st.integers(1, 3))):
        if "counts" in first:
            found.append(draw(counts()))
        else:
            size = len(first["labels"])
            found.append(first | {"scores": draw(st.lists(NEAR, min_size=size, max_size=size))})
    names = draw(st.lists(st.text(min_size=1, max_size=3), min_size=len(found), max_size=len(found), unique=True))
    return body | {"evaluations": [{"name": name} | one for name, one in zip(names, found, strict=True)]}


BODIES = {
    "evaluateCurves": curves_bodies(),
    "evaluateTradeoffs": tradeoffs_bodies(),
    "compareClassifiers": comparisons_bodies(),
}
"""{operation: JSON bodies whose parts fit together, so that most are evaluated}"""
QUERIES: dict[str, dict[str, str]] = {"compareClassifiers": {"scores": "scores,others"}}
"""{operation: the query without which it evaluates no table}"""


def _validate(case: schemathesis.Case[Any], **headers: str) -> None:
    """Send a case and check the answer; for CSV 400 is as good as 422, as no schema says which text is CSV."""
    is_csv = case.media_type == "text/csv"
    response = case.call_and_validate(headers=headers, excluded_checks=[positive_data_acceptance] if is_csv else [])
    if is_csv and case.method == "POST":
        assert response.status_code in {200, 400, 422}


def test_every_operation_is_among_those_that_are_tried() -> None:
    tried = {(found.ok().path, found.ok().method) for found in CONTRACT.get_all_operations()}
    assert tried == {(found.path, found.method) for found in operations()}


@CONTRACT.parametrize()
@SETTINGS
def test_every_operation(case: schemathesis.Case[Any]) -> None:
    """The examples, every corner of every schema on both of its sides, and random requests."""
    _validate(case)


@EVERY_EVALUATION
@SETTINGS
@given(data=st.data())
def test_json_that_breaks_the_document(name: str, data: st.DataObject) -> None:
    cases = EVALUATIONS[name].as_strategy(media_type="application/json", generation_mode=GenerationMode.NEGATIVE)
    _validate(data.draw(cases))


@EVERY_EVALUATION
@SETTINGS
@given(data=st.data(), accept=ACCEPTS)
def test_tables_with_parameters(name: str, data: st.DataObject, accept: str) -> None:
    _validate(data.draw(EVALUATIONS[name].as_strategy(media_type="text/csv")), Accept=accept)


@EVERY_EVALUATION
@SETTINGS
@given(table=csv_tables(), accept=ACCEPTS)
def test_tables_alone(name: str, table: bytes, accept: str) -> None:
    """Random parameters are nearly always wrong; without them many tables are evaluated."""
    _validate(EVALUATIONS[name].Case(body=table, media_type="text/csv", query=QUERIES.get(name, {})), Accept=accept)


@EVERY_EVALUATION
@SETTINGS
@given(data=st.data())
def test_bodies_that_fit_together(name: str, data: st.DataObject) -> None:
    body = data.draw(BODIES[name])
    response = EVALUATIONS[name].Case(body=body, media_type="application/json").call_and_validate()
    if response.status_code == 200:
        answer = EVALUATIONS[name].definition.raw["responses"]["200"]["content"]["application/json"]["schema"]
        assert violations(answer, response.json()) == []
    else:
        assert response.status_code == 422
