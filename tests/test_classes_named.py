"""Which column of scores belongs to which class: named, by what all names share, or as labels are compared."""

from typing import Any

import pyarrow as pa
import pytest

from tests.properties.bodies import arrow_body, parquet_body
from tests.support.asking import answered, errors

CSV, ARROW_STREAM, PARQUET = "text/csv", "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"
TWO = {"cat": [0.8, 0.4, 0.3], "dog": [0.2, 0.6, 0.7]}


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([".pred_cat", ".pred_dog"], "the prefix '.pred_', "),
        (["cat_prob", "dog_prob"], "the suffix '_prob', "),
        (["P(cat)", "P(dog)"], "the prefix 'P(' and the suffix ')', "),
        (["scores.cat", "scores.dog"], "the prefix 'scores.', "),
    ],
)
def test_what_all_names_share_is_left_out_if_the_labels_lack_it(names: list[str], told: str) -> None:
    labels = ["cat", "dog", "cat"]
    scores = dict(zip(names, TWO.values(), strict=True))
    wanted = answered("classes", {"scores": TWO, "labels": labels})
    found = answered("classes", {"scores": scores, "labels": labels})
    (warning,) = found.pop("warnings")
    assert found | {"warnings": []} == wanted
    assert warning["code"] == "renamed_classes"
    assert told in warning["detail"]


@pytest.mark.parametrize("labels", ["1,10", "1.0,10.0", " 1,1e1"])
def test_numbers_are_classes_after_that_however_they_are_written(labels: str) -> None:
    first, second = labels.split(",")
    text = f"class_1,class_10,y\n.8,.2,{first}\n.4,.6,{second}\n"
    found = answered("classes", text, content_type=CSV, scores="class_1,class_10", labels="y")
    assert (found["classes"]["name"], found["hand_till"]) == (["1", "10"], 1.0)
    assert [told["code"] for told in found["warnings"]] == ["renamed_classes"]


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["x_cat", "x_dog"], ["cat", "owl"]),
        (["a_cat", "b_dog"], ["cat", "dog"]),
        (["aab", "aac"], ["x", "b"]),
        (["aa", "aaa"], ["a", "a"]),
    ],
)
def test_names_that_do_not_fit_after_that_are_refused(names: list[str], labels: list[str]) -> None:
    body = {"scores": dict(zip(names, [[0.9, 0.1], [0.1, 0.9]], strict=True)), "labels": labels}
    assert errors("classes", body)[0]["code"] == "unknown_class"


@pytest.mark.parametrize(
    "named", [".pred_cat,.pred_dog", "cat=.pred_cat, dog=.pred_dog", '{"cat": ".pred_cat", "dog": ".pred_dog"}']
)
def test_columns_of_scores_may_be_given_for_each_class(named: str) -> None:
    text = ".pred_cat,.pred_dog,animal\n.8,.2,cat\n.4,.6,dog\n.3,.7, cat\n"
    found = answered("classes", text, content_type=CSV, scores=named, labels="animal")
    assert found["classes"]["name"] == ["cat", "dog"]
    assert found["hand_till"] == answered("classes", {"scores": TWO, "labels": ["cat", "dog", "cat"]})["hand_till"]


def test_columns_given_for_classes_are_checked() -> None:
    text = "a,b,y\n.8,.2,cat\n.4,.6,dog\n"
    for named in ("cat=a,cat=b", "cat=a,dog=a", "cat=a,dog=nope", '{"cat": 1}', "cat=a"):
        assert errors("classes", text, content_type=CSV, scores=named, labels="y")


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["1", "0"], ["1.0", "0.0", " 1"]),
        (["1", "0"], ["True", "false", "1"]),
        (["true", "false"], ["1", "0", "TRUE"]),
        (["1", "2"], ["1", "2.0", "1.0"]),
        (["1", "0"], [1.0, 0.0, 1.0]),
        (["1", "0"], [True, False, True]),
        (["true", "false"], [1, 0, 1]),
        (["10", "20"], ["10", "20", "10 "]),
    ],
)
def test_classes_are_compared_as_labels_are(names: list[str], labels: list[Any]) -> None:
    columns = {names[0]: [0.9, 0.2, 0.7], names[1]: [0.1, 0.8, 0.3]}
    table = pa.table({"y": labels, **columns})
    rows = zip(labels, *columns.values(), strict=True)
    csv = "\n".join([",".join(["y", *names]), *(f"{label},{one},{two}" for label, one, two in rows)])
    for media_type, body in ((ARROW_STREAM, arrow_body(table)), (PARQUET, parquet_body(table)), (CSV, csv)):
        found = answered("classes", body, content_type=media_type, scores=",".join(names), labels="y")
        assert found["hand_till"] == 1.0
    assert answered("classes", {"scores": columns, "labels": labels})["hand_till"] == 1.0
