"""Rows paired by id: any order gives the answer of rows in one order, and what does not match is named."""

import json
import random
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.clock import at_most
from service.wire.columns import ids, partners
from service.wire.wrong import Wrong
from tests.properties.bodies import arrow_body
from tests.support.asking import answered, refusals
from tests.support.strategies import examples

gate = partial(answered, "gates")
refused = partial(refusals, "gates")

NAMES = ["a", "b", "c", "d", "e", "f"]
NEW = {"ids": NAMES, "scores": [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], "labels": [1, 0, 1, 1, 0, 0]}
OLD = {"ids": NAMES[::-1], "scores": [0.5, 0.4, 0.6, 0.8, 0.7, 0.9], "labels": [0, 0, 1, 1, 0, 1]}
RULES = {"rules": [{"metric": "roc", "max_drop": 0.05, "confidence": 0.9}]}
BOTH = NEW | RULES | {"baseline": OLD}


def reordered(sample, order):
    return {name: [column[row] for row in order] for name, column in sample.items()}


def without_ids(sample):
    return {name: column for name, column in sample.items() if name != "ids"}


IN_ORDER = without_ids(NEW) | RULES | {"baseline": without_ids(reordered(OLD, range(5, -1, -1))), "paired": True}


@pytest.mark.parametrize("seed", range(5))
def test_any_order_gives_the_same_answer(seed):
    order = random.Random(seed).sample(range(6), 6)
    found = gate(NEW | RULES | {"baseline": reordered(OLD, order)})
    assert found == gate(IN_ORDER)
    assert found["paired"] is True


def test_weights_and_direction_follow_their_rows():
    weights = [1, 2, 0.5, 3, 1, 1]
    new, old = NEW | {"weights": weights}, OLD | {"weights": weights[::-1]}
    lined_up = without_ids(reordered(old, range(5, -1, -1)))
    expected = gate(without_ids(new) | RULES | {"baseline": lined_up, "paired": True})
    assert gate(new | RULES | {"baseline": old}) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([10, 2, 3, 4, 5, 6], ["6", "5", "4", "3", "2", "10"]),
        ([10.0, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 10]),
        (["0012", "12", "c", "d", "e", "f"], ["f", "e", "d", "c", "12", "0012"]),
    ],
)
def test_texts_and_integers_are_compared_as_texts(one, other):
    assert gate(NEW | {"ids": one} | RULES | {"baseline": OLD | {"ids": other}}) == gate(IN_ORDER)


def test_tables_and_json_give_the_same():
    rows = [*zip(*NEW.values(), strict=True)]
    table = "id,s,y,old\n" + "".join(
        f"{name} ,{score},{label},{9 - row}\n" for row, (name, score, label) in enumerate(rows)
    )
    query = {"ids": "id", "scores": "s", "labels": "y", "baseline_scores": "old", "rules": json.dumps(RULES["rules"])}
    found = gate(table, content_type="text/csv", **query)
    expected = gate(NEW | RULES | {"baseline": NEW | {"scores": [9, 8, 7, 6, 5, 4]}})
    assert found == expected
    columns = {"id": NAMES, "s": NEW["scores"], "y": NEW["labels"], "old": [9, 8, 7, 6, 5, 4]}
    of_dictionary = pa.table(columns | {"id": pa.array(NAMES).dictionary_encode()})
    for each in (pa.table(columns), of_dictionary):
        body = arrow_body(each)
        assert gate(body, content_type="application/vnd.apache.arrow.stream", **query) == expected


def test_a_column_called_ids_is_not_used_unless_it_is_named():
    table = "ids,scores,labels\nx,0.9,1\nx,0.1,0\n"
    answered("curves", table, content_type="text/csv")
    found = refusals("curves", table, content_type="text/csv", ids="ids")
    assert found == [("/ids/1", "duplicate")]


def test_comparisons_are_paired_by_id():
    evaluations = [{"name": "new"} | NEW, {"name": "old"} | OLD]
    found = answered("comparisons", {"evaluations": evaluations, "intervals": {}})
    lined_up = [{"name": "new"} | without_ids(NEW), {"name": "old"} | IN_ORDER["baseline"]]
    assert found == answered("comparisons", {"evaluations": lined_up, "intervals": {}, "paired": True})
    answered("comparisons", {"evaluations": evaluations})
    evaluations[1] = {"name": "old"} | OLD | {"ids": ["f", "e", "d", "c", "b", "z"]}
    assert refusals("comparisons", {"evaluations": evaluations}) == [("/evaluations/1/ids", "not_paired")]
    evaluations[1] = {"name": "old"} | without_ids(OLD)
    assert refusals("comparisons", {"evaluations": evaluations}) == [("/evaluations/1/ids", "missing")]


COUNTED = {"counts": {"tp": [1, 2], "fp": [0, 1], "positives": 3, "negatives": 3}}
REFUSED = {
    "an id twice": (BOTH | {"ids": ["a", "b", "a", "d", "e", "e"]}, "/ids/2", "duplicate"),
    "an id twice there": (BOTH | {"baseline": OLD | {"ids": ["a"] * 6}}, "/baseline/ids/1", "duplicate"),
    "a row without": (BOTH | {"ids": ["a", None, "c", "d", "e", "f"]}, "/ids/1", "missing"),
    "a blank": (BOTH | {"ids": ["a", "b", "c", "", "e", "f"]}, "/ids/3", "missing"),
    "a fraction": (BOTH | {"ids": [1.5, 2, 3, 4, 5, 6]}, "/ids/0", "not_an_id"),
    "truth values": (NEW | RULES | {"ids": [True, False] * 3}, "/ids", "not_an_id"),
    "two kinds": (BOTH | {"ids": [1, "b", 3, 4, 5, 6]}, "/ids/1", "not_an_id"),
    "too few": (BOTH | {"ids": ["a", "b"]}, "/ids", "lengths_differ"),
    "only one has": (BOTH | {"baseline": without_ids(OLD)}, "/baseline/ids", "missing"),
    "only the other has": (without_ids(NEW) | RULES | {"baseline": OLD}, "/baseline/ids", "missing"),
    "counts": (BOTH | {"baseline": COUNTED}, "/baseline/ids", "missing"),
    "beside counts": (COUNTED | {"ids": ["a", "b"]} | RULES, "/ids", "exclusive"),
    "other ids": (BOTH | {"ids": ["a", "b", "c", "d", "e", "z"]}, "/baseline/ids", "not_paired"),
    "other labels": (BOTH | {"baseline": OLD | {"labels": [1, 0, 1, 1, 0, 0]}}, "/baseline/labels", "not_paired"),
    "other weights": (BOTH | {"weights": [1, 1, 1, 1, 1, 2]}, "/baseline/weights", "not_paired"),
    "not paired": (BOTH | {"paired": False}, "/paired", "exclusive"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_match_is_refused(name):
    body, pointer, code = REFUSED[name]
    assert refused(body) == [(pointer, code)]


def reason(one, other, there="there"):
    with pytest.raises(Wrong) as refusal:
        partners(ids(one), ids(other), there)
    return refusal.value.detail


def test_the_reasons_count_and_give_examples():
    rows = [f"t{row}" for row in range(100)]
    of_both = "1 of 98 ids is not in there: 't0'; 2 of 99 ids are only in there, such as 't98', 't99'"
    assert reason(rows[:98], rows[1:]) == f"{of_both}. Both need the same ids."
    many = "5 of 100 ids are not in old.csv, such as 't0', 't1', 't2'. Both need the same ids."
    assert reason(rows, rows[5:], "old.csv") == many
    with pytest.raises(Wrong) as refusal:
        ids([*rows, "t8", "t5", "t8"])
    told = "2 ids occur more than once, in 5 rows: 't5' (rows 5 and 101), 't8' (rows 8 and 100, ..)."
    assert (refusal.value.detail, refusal.value.row) == (told, 101)


@given(st.lists(st.text(st.characters(exclude_categories=["C"]), max_size=12), unique=True, min_size=1), st.randoms())
@examples(100)
def test_partners_are_those_of_a_dictionary(names, shuffle):
    names = [name for name in dict.fromkeys(names) if name]
    other = list(names)
    shuffle.shuffle(other)
    expected = [other.index(name) for name in names]
    assert partners(ids(names), ids(other), "there").tolist() == expected if names else True
    with at_most(60):  # where other requests wait, texts are hashed with a secret
        assert partners(ids(names), ids(other), "there").tolist() == expected if names else True


def test_a_million_ids():
    rows = np.random.default_rng(1).permutation(1_000_000)
    names = np.char.add("tx-", rows.astype(str))
    found = partners(ids(names), ids(np.sort(names)), "there")
    assert np.array_equal(np.sort(names)[found], names)
