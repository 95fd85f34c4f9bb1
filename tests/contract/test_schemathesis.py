"""Requests that schemathesis makes up from the document, right and wrong ones, for every operation, in process.

No request gets a 5xx; every answer has a documented status, media type, headers and body; what the document forbids is
refused. What it allows may still be 422, because what goes together is more than a schema can say.
"""

import copy
import csv
import io
from functools import partial

import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.config import SchemathesisConfig
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from service.app import create_app
from service.settings import read_settings
from tests.contract.document import document, operation, operations, schema, violations

CURVES = operation("evaluateCurves")
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
JSON_CASES = partial(CONTRACT.find_operation_by_id(CURVES.name).as_strategy, media_type="application/json")
CSV_CASES = partial(CONTRACT.find_operation_by_id(CURVES.name).as_strategy, media_type="text/csv")
ACCEPTS = st.sampled_from(["application/json", "text/csv"])


NEAR = st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 1e-300, 1e300])
OPTIONS = {
    "include": st.lists(st.sampled_from(schema("Output")["enum"])),
    "keep": st.sampled_from(schema("Keep")["enum"]),
    "interpolation": st.one_of(
        st.fixed_dictionaries({"every": st.sampled_from([0.5, 1, 2, 7])}),
        st.fixed_dictionaries({"at_recall": st.lists(st.floats(0, 1), min_size=1)}),
    ),
    "lower_is_positive": st.booleans(),
}


@st.composite
def evaluations(draw: st.DrawFn) -> dict[str, object]:
    """JSON bodies whose parts fit together, so that most are evaluated."""
    body = draw(st.fixed_dictionaries({}, optional=OPTIONS))
    if draw(st.booleans()):
        rows = draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
        tp, fp = (list(column) for column in zip(*rows, strict=True))
        return body | {"counts": {"tp": tp, "fp": fp, "positives": 9, "negatives": 9.5}}
    rows = draw(st.lists(st.tuples(NEAR, st.integers(0, 1), st.sampled_from([0, 0.1, 1, 3])), min_size=2))
    scores, labels, weights = (list(column) for column in zip(*rows, strict=True))
    sample = {"scores": scores, "labels": labels, "weights": weights}
    extras = [{}, {"thresholds": draw(st.lists(NEAR))}, {"tuning": {"scores": [1, 0.5], "labels": [True, False]}}]
    return body | sample | draw(st.sampled_from(extras))


def _validate(case: schemathesis.Case, **headers: str) -> None:
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
def test_every_operation(case: schemathesis.Case) -> None:
    """The examples, every corner of every schema on both of its sides, and random requests."""
    _validate(case)


@SETTINGS
@given(case=JSON_CASES(generation_mode=GenerationMode.NEGATIVE))
def test_json_that_breaks_the_document(case: schemathesis.Case) -> None:
    _validate(case)


@SETTINGS
@given(case=CSV_CASES(), accept=ACCEPTS)
def test_tables_with_parameters(case: schemathesis.Case, accept: str) -> None:
    _validate(case, Accept=accept)


@SETTINGS
@given(table=csv_tables(), accept=ACCEPTS)
def test_tables_alone(table: bytes, accept: str) -> None:
    """Random parameters are nearly always wrong; without them many tables are evaluated."""
    _validate(CONTRACT.find_operation_by_id(CURVES.name).Case(body=table, media_type="text/csv"), Accept=accept)


@SETTINGS
@given(body=evaluations())
def test_evaluations(body: dict[str, object]) -> None:
    case = CONTRACT.find_operation_by_id(CURVES.name).Case(body=body, media_type="application/json")
    response = case.call_and_validate()
    if response.status_code == 200:
        assert violations({"$ref": "#/components/schemas/CurvesAnswer"}, response.json()) == []
    else:
        assert response.status_code == 422
