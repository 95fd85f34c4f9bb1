"""A column that seems to hold weights, and is not used: the answer to every operation on a table says so."""

import json

import pytest

from service.wire.media_types import CSV
from tests.support.asking import answered, ask

HEADER = "scores,labels,sample weight,b"
ROWS = "\n0.9,1,2,0.3\n0.7,0,1,0.2\n0.4,1,1,0.8\n0.2,0,5,0.1\n"
QUERIES = {
    "curves": {},
    "tradeoffs": {},
    "gates": {"rules": '[{"metric": "roc", "min": 0.1}]'},
    "slices": {"slices": "labels"},
    "comparisons": {"scores": "scores,b"},
}
TOLD = {
    "code": "unused_weights",
    "detail": (
        "The column 'sample weight' is not used. If it holds the weights of the examples, give its name as weights."
    ),
}


def told(header: str = HEADER, operation: str = "curves", rows: str = ROWS, **query: str) -> list[dict[str, str]]:
    """The warnings of weights in an answer."""
    answer = answered(operation, header + rows, content_type=CSV, **query)
    return [warning for warning in answer["warnings"] if warning["code"] == TOLD["code"]]


@pytest.mark.parametrize(("operation", "query"), QUERIES.items())
def test_every_operation_tells_once(operation: str, query: dict[str, str]) -> None:
    assert told(operation=operation, **query) == [TOLD]
    assert told(operation=operation, **query, weights="sample weight") == []


def test_classes_tell_too() -> None:
    assert (
        told("y,n,w,l", "classes", "\n0.9,0.1,1,y\n0.2,0.8,1,n\n", scores="y,n", labels="l")[0]["code"] == TOLD["code"]
    )


def test_a_table_as_the_answer_tells_in_its_header() -> None:
    headers = ask("curves", HEADER + ROWS, CSV, CSV).headers
    assert json.loads(headers["Rocpr-Warnings"]) == [TOLD]


@pytest.mark.parametrize(
    ("header", "query"),
    [
        ("scores,labels,weights,weight", {}),
        ("scores,labels,load,b", {}),
        ("weight,labels,b,c", {"scores": "weight"}),
        ("scores,labels,w", {"operation": "slices", "slices": "w"}),
        ("tp,fp,weight", {"rows": "\n1,1,1\n2,2,2\n", "positives": "9", "negatives": "9"}),
        ("score,positives,negatives,weight", {}),
    ],
)
def test_nothing_is_told_of_other_tables(header: str, query: dict[str, str]) -> None:
    rows = "\n" + "\n".join(",".join(line.split(",")[: header.count(",") + 1]) for line in ROWS.split()) + "\n"
    assert told(header, **({"rows": rows} | query)) == []
