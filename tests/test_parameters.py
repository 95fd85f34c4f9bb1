"""Query parameters that hold JSON text: if it is not JSON, the refusal shows an example."""

import json
import re

import pytest

from service.charts.picture import CHARTS
from service.operations import OPERATIONS
from service.wire.formats.inputs import COLUMN_PARAMETERS, CSV_PARAMETERS, TOTALS
from tests.support.asking import ask

SAMPLE = "labels,old,new\n1,0.9,0.8\n0,0.2,0.3\n1,0.4,0.7\n0,0.5,0.1\n"
CLASSES = "labels,old,new\nold,0.9,0.8\nnew,0.2,0.3\nold,0.4,0.7\n"
COUNTS = "tp,fp\n1,0\n2,3\n"
WITH = {
    "curves": {"scores": "new"},
    "tradeoffs": {"scores": "new"},
    "comparisons": {"scores": "old,new", "intervals": "{}"},
    "slices": {"scores": "new", "slices": "old"},
    "classes": {"scores": "old,new"},
    "plans": {"scores": "new", "baseline_scores": "old", "rules": '[{"metric": "roc", "min": 0.5}]'},
    "gates": {"scores": "new", "baseline_scores": "old", "rules": '[{"metric": "roc", "min": 0.5}]'},
}
OTHERS = {*COLUMN_PARAMETERS, *CSV_PARAMETERS, "positive_label", "keep", "include", "indices", "metrics", "missing"}
OTHERS |= {"against", "adjust", "decide", "band", "reliability"}
OTHERS |= {"charts", "theme", "title", "closed"}
"""Parameters whose text is a name or several names."""


@pytest.mark.parametrize(
    ("operation", "parameter"),
    [
        (name, each)
        for name, found in OPERATIONS.items()
        for each in (*found.form.parameters, *found.form.drawn)
        if each not in OTHERS and not (name == "slices" and each in TOTALS)  # there, they name columns of groups
    ],
)
def test_the_example_of_a_parameter_is_right(operation, parameter):
    query = WITH[operation] | ({"charts": CHARTS[operation][0]} if parameter in {"side", "mark"} else {})
    if parameter in TOTALS:
        query = {key: text for key, text in query.items() if key == "rules"} | dict.fromkeys(TOTALS, "100")
    body = COUNTS if parameter in TOTALS else CLASSES if operation == "classes" else SAMPLE
    refused = ask(operation, body, content_type="text/csv", **query | {parameter: "wrong"})
    (error,) = json.loads(refused.body)["errors"]
    assert (error["pointer"], error["code"]) == (f"/{parameter}", "not_json")
    (example,) = re.findall(r"such as (.+?)\.(?: At character|$)", error["detail"])
    result = ask(operation, body, content_type="text/csv", **query | {parameter: example})
    assert result.problem is None, result.body


@pytest.mark.parametrize(("operation", "parameter"), [("tradeoffs", "min_recall"), ("curves", "costs")])
def test_a_decimal_comma_in_one_number_is_pointed_out(operation: str, parameter: str) -> None:
    refused = ask(operation, SAMPLE, content_type="text/csv", **WITH[operation] | {parameter: "0,5"})
    (error,) = json.loads(refused.body)["errors"]
    assert (error["code"], error["detail"]) == ("not_json", "0,5 has a decimal comma: write 0.5.")
