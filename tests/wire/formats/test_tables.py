"""A table and its query parameters become one document, with the caller's names for everything in it."""

import pytest

from service.curves.comparison import MOST_EVALUATIONS
from service.operations import OPERATIONS
from service.wire.formats.inputs import COUNTS, GROUPS, PAIRED, SAMPLE
from service.wire.formats.query_options import Decoded
from service.wire.formats.tables import COMPARED, TableForm, as_evaluations, one_evaluation, with_baseline
from service.wire.problems import Problem
from service.wire.requests.query_fields import READING_FIELDS

FIELDS = {name: each for operation in OPERATIONS.values() for name, each in operation.form.fields.items()}


def some(*names):
    """The fields of these options, and those that any evaluation has."""
    return READING_FIELDS | {name: FIELDS[name] for name in names}


ONE = one_evaluation(some("include", "keep", "lambda_range"))
SEVERAL = TableForm(some("indices"), (SAMPLE,), COMPARED, as_evaluations)
BOTH = TableForm(some("rules"), (PAIRED, COUNTS, GROUPS), then=with_baseline, answers_tables=False)
LONG = "n" * 5000


class Fake:
    """A table whose columns are their own names in capitals; it records what was read."""

    header_is = "the columns are"

    def __init__(self, *header):
        self.header = list(header)
        self.asked = []

    def read(self, names):
        self.asked.append(names)
        return {name: name.upper() for name in names}


def one(header, **parameters):
    """The document of one evaluation."""
    return ONE.decode(Fake(*header.split(",")), parameters)


def several(header, **parameters):
    """The document of several evaluations."""
    return SEVERAL.decode(Fake(*header.split(",")), parameters)


def both(header, **parameters):
    """The document of an evaluation and perhaps a baseline."""
    return BOTH.decode(Fake(*header.split(",")), parameters)


def refused(decode, header, **parameters):
    """The one error of a refusal."""
    with pytest.raises(Problem) as caught:
        decode(header, **parameters)
    (error,) = caught.value.errors
    assert caught.value.type.code == "invalid_request"
    assert caught.value.detail.endswith(error.detail)
    return error


@pytest.mark.parametrize(
    ("header", "parameters", "document"),
    [
        ("scores,labels", {}, {"scores": "SCORES", "labels": "LABELS"}),
        ("labels,x,weights,scores", {}, {"scores": "SCORES", "labels": "LABELS", "weights": "WEIGHTS"}),
        ("a,b", {"scores": "b", "labels": "a"}, {"scores": "B", "labels": "A"}),
        ("scores,labels,b", {"scores": "b"}, {"scores": "B", "labels": "LABELS"}),
        ("b", {"scores": "b", "labels": "b"}, {"scores": "B", "labels": "B"}),
        ("tp,fp,x", {}, {"counts": {"tp": "TP", "fp": "FP"}}),
        ("threshold,tn,fn,fp,tp", {}, {"counts": {key: key.upper() for key in ("tp", "fp", "fn", "tn", "threshold")}}),
        ("tp", {"positives": "3", "negatives": "0.5"}, {"counts": {"tp": "TP", "positives": 3, "negatives": 0.5}}),
        ("tp,fp,scores,labels", {"scores": "scores"}, {"scores": "SCORES", "labels": "LABELS"}),
        (
            "tp,fp,scores,labels",
            {},
            {"scores": "SCORES", "labels": "LABELS", "counts": {"tp": "TP", "fp": "FP"}},
        ),
        ("fn,tn,scores,labels", {}, {"scores": "SCORES", "labels": "LABELS"}),
        ("tp,labels", {"labels": "labels"}, {"labels": "LABELS", "counts": {"tp": "TP"}}),
    ],
)
def test_columns_of_one_evaluation(header, parameters, document):
    assert one(header, **parameters).document == document


def test_a_column_that_serves_twice_is_read_once():
    table = Fake("a", "tp", "fp", "x")
    ONE.decode(table, {"labels": "tp", "weights": "tp"})
    SEVERAL.decode(table, {"scores": "a,tp", "labels": "a", "weights": "tp"})
    assert table.asked == [["tp", "fp"], ["a", "tp"]]


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        ("positive_label", "1", "1"),
        ("positive_label", "null", "null"),
        ("keep", "corners", "corners"),
        ("lower_is_positive", "true", True),
        ("lower_is_positive", "True", True),
        ("lower_is_positive", "FALSE", False),
        ("lambda_range", "[0.2, 0.8]", [0.2, 0.8]),
        ("lambda_range", " [0.2, 0.8]", [0.2, 0.8]),
        ("lambda_range", "0.2,0.8", [0.2, 0.8]),
        ("lambda_range", "0.2, 0.8", [0.2, 0.8]),
        ("lambda_range", "-1e-3", [-1e-3]),
        ("lambda_range", "null", None),
        ("include", "auc, points", ["auc", "points"]),
        ("include", '["auc"]', ["auc"]),
    ],
)
def test_options_are_text_or_json_or_names(parameter, text, value):
    assert one("scores,labels", **{parameter: text}).document[parameter] == value


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        ("lambda_range", "0.2;0.8"),
        ("lambda_range", "[0.2"),
        ("lambda_range", "0.2,0.8]"),
        ("lambda_range", "0.2],[0.8"),
        ("lambda_range", "0.2,"),
        ("lambda_range", "True"),
        ("lambda_range", "NaN"),
        ("lower_is_positive", "yes"),
    ],
)
def test_an_option_that_cannot_be_read_is_refused(parameter, text):
    error = refused(one, "scores,labels", **{parameter: text})
    assert (error.pointer, error.code) == (f"/{parameter}", "not_json")
    assert "such as " in error.detail


@pytest.mark.parametrize("decode", [one, several])
def test_an_unknown_parameter_is_refused_by_its_name(decode):
    error = refused(decode, "scores,labels", **{"a/b": "1"})
    assert (error.pointer, error.code) == ("/a~1b", "unknown_field")
    assert "lower_is_positive" in error.detail
    assert refused(several, "a,b,labels", scores="a,b", keep="corners").code == "unknown_field"


@pytest.mark.parametrize(("decode", "answers_tables"), [(one, True), (several, True), (both, False)])
def test_what_is_known_is_listed_with_table_where_answers_have_tables(decode, answers_tables):
    error = refused(decode, "scores,labels", x="1")
    assert error.detail.endswith(", table." if answers_tables else ", header, missing, baseline_scores, rules.")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("scorse", "did you mean scores?"),
        ("Labels", "did you mean labels?"),
        ("tabel", "did you mean table?"),
        ("pos_label", "did you mean positive_label?"),
        ("sample_weight", "did you mean weights?"),
        ("y_score", "did you mean scores?"),
        ("sep", "did you mean delimiter?"),
        ("data", "the known names are scores, labels, "),
        ("q" * 5_000_000, "the known names are scores, labels, "),
    ],
)
def test_a_nearly_right_parameter_gets_suggestions(name, advice):
    assert refused(one, "scores,labels", **{name: "1"}).detail.startswith(f"Unknown query parameter; {advice}")


@pytest.mark.parametrize(
    ("header", "advice"),
    [
        ("p,y", " Did you mean scores=p&labels=y?"),
        ("p,y,weight", " Did you mean scores=p&labels=y&weights=weight?"),
        ("p,y,weights", " Did you mean scores=p&labels=y?"),
        ("p,weight", " give them with scores= and labels=. Did you mean scores=p?"),
    ],
)
def test_the_advice_on_names_does_not_lose_weights(header, advice):
    assert refused(one, header).detail.endswith(advice)


def test_a_table_without_columns_is_said_to_have_none():
    with pytest.raises(Problem, match="; the table has no columns"):
        ONE.decode(Fake(), {})


@pytest.mark.parametrize(
    ("decode", "header", "parameters", "pointer", "code"),
    [
        (one, "a,b", {}, "", "missing"),
        (one, "scores,b", {}, "/labels", "missing"),
        (one, "a,labels", {}, "/scores", "missing"),
        (one, "a,b", {"scores": "a"}, "/labels", "missing"),
        (one, "fn,tn", {}, "", "missing"),
        (one, "scores,labels", {"weights": "w"}, "/weights", "missing"),
        (one, "tp,fp", {"scores": "s"}, "/scores", "missing"),
        (one, "scores,labels", {"negatives": "3"}, "/negatives", "exclusive"),
        (both, "scores,labels", {"baseline_scores": "old"}, "/baseline_scores", "missing"),
        (both, "tp,fp", {"baseline_scores": "tp"}, "/baseline_scores", "exclusive"),
        (both, "tp,fp,baseline_scores", {}, "/baseline_scores", "exclusive"),
        (several, "a,b,labels", {}, "/scores", "missing"),
        (several, "a,b,labels", {"scores": "a,c"}, "/scores", "missing"),
        (several, "a,b,labels", {"scores": "a,b,a"}, "/scores", "duplicate"),
        (several, "a,b,labels", {"scores": "a, a"}, "/scores", "duplicate"),
        (several, "a,b", {"scores": "a,b"}, "/labels", "missing"),
        (several, "a,b,labels", {"scores": "a,b", "labels": "x"}, "/labels", "missing"),
        (several, "a,b,labels", {"scores": "a,b", "weights": "x"}, "/weights", "missing"),
    ],
)
def test_a_missing_column_is_reported_with_the_header(decode, header, parameters, pointer, code):
    error = refused(decode, header, **parameters)
    assert (error.pointer, error.code) == (pointer, code)
    if code == "missing":
        assert error.detail.endswith((".", "?"))
        assert ", ".join(map(repr, header.split(","))) in error.detail


@pytest.mark.parametrize(
    ("decode", "header", "parameters"),
    [
        (one, LONG, {}),
        (one, "scores,labels", {"weights": LONG}),
        (one, f"scores,labels,{LONG}", {"weights": LONG[1:]}),
        (several, LONG, {}),
        (several, LONG, {"scores": LONG}),
        (several, f"a,{LONG}", {"scores": f"a,{LONG[1:]}"}),
    ],
)
def test_long_names_are_cut_in_messages(decode, header, parameters):
    error = refused(decode, header, **parameters)
    assert "nnnnnnnnnn" in error.detail
    assert len(error.detail) < 700
    assert error.detail.count("n" * 150) <= 2


def test_samples_over_shared_labels():
    decoded = several("y,b,a,w", scores="a,b", labels="y", weights="w", indices="jaccard", positive_label="1")
    first, second = decoded.document["evaluations"]
    for name, evaluation in (("a", first), ("b", second)):
        assert (evaluation["name"], evaluation["scores"]) == (name, name.upper())
        assert set(evaluation) == {"name", "scores", "labels", "weights", "positive_label"}
        assert evaluation["positive_label"] == "1"
        for key in ("labels", "weights"):
            assert evaluation[key] is first[key]
    assert first["labels"] is not first["weights"]
    assert {key: value for key, value in decoded.document.items() if key != "evaluations"} == {"indices": ["jaccard"]}


@pytest.mark.parametrize(
    ("header", "parameters", "baseline"),
    [
        ("scores,labels", {}, None),
        ("tp,fp,old", {}, None),
        ("scores,labels,baseline_scores", {}, "BASELINE_SCORES"),
        ("scores,labels,old", {"baseline_scores": "old"}, "OLD"),
        ("scores,labels", {"baseline_scores": "scores"}, "SCORES"),
    ],
)
def test_a_baseline_is_another_column_of_scores(header, parameters, baseline):
    document = both(header, **parameters).document
    assert "baseline_scores" not in document
    assert (document["baseline"]["scores"] if "baseline" in document else None) == baseline


def test_a_baseline_shares_labels_and_weights():
    decoded = both("a,b,y,w", scores="a", baseline_scores="b", labels="y", weights="w", rules="[1]")
    document = decoded.document
    assert set(document) == {"scores", "labels", "weights", "rules", "baseline"}
    assert set(document["baseline"]) == {"scores", "labels", "weights"}
    for key in ("labels", "weights"):
        assert document["baseline"][key] is document[key]
    pointers = {key: decoded.pointer(f"/baseline/{key}/3") for key in ("scores", "labels", "weights")}
    assert pointers == {"scores": "/b/3", "labels": "/y/3", "weights": "/w/3"}
    assert decoded.pointer("/baseline/positive_label") == "/positive_label"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b", ["a", "b"]),
        ("b, a ", ["b", "a"]),
        ("a, c", ["a", " c"]),
        ('["b", " c"]', ["b", " c"]),
        ('["x,y","a"]', ["x,y", "a"]),
        ("a,1", ["a", "1"]),
        ("a,[1]", ["a", "[1]"]),
        ("[1]", ["[1]"]),
        ("null", ["null"]),
    ],
)
def test_names_stand_between_commas_or_in_a_list(text, names):
    table = Fake("labels", "a", "b", " c", "x,y", "1", "[1]", "null")
    document = SEVERAL.decode(table, {"scores": text}).document
    assert [evaluation["name"] for evaluation in document["evaluations"]] == names


def test_the_number_of_evaluations_is_limited():
    names = [f"s{k}" for k in range(MOST_EVALUATIONS + 1)]
    most = several(f"labels,{','.join(names)}", scores=",".join(names[:-1]))
    assert len(most.document["evaluations"]) == MOST_EVALUATIONS
    error = refused(several, f"labels,{','.join(names)}", scores=",".join(names))
    assert (error.pointer, error.code) == ("/scores", "wrong_length")
    assert str(MOST_EVALUATIONS + 1) in error.detail


@pytest.mark.parametrize(("operation", "parameter", "most"), [("slices", "slices", 10), ("classes", "scores", 100)])
def test_columns_are_counted_before_any_is_read(operation, parameter, most):
    class Unread(Fake):
        def read(self, names):
            raise AssertionError(names)

    names = [f"c{number}" for number in range(most + 1)]
    with pytest.raises(Problem) as caught:
        OPERATIONS[operation].form.decode(Unread("scores", "labels", *names), {parameter: ",".join(names)})
    assert [(error.pointer, error.code) for error in caught.value.errors] == [(f"/{parameter}", "wrong_length")]
    assert caught.value.errors[0].detail == f"At most {most} columns can be named, not {most + 1}."


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        ("/scores", "/a~1b"),
        ("/scores/7", "/a~1b/7"),
        ("/labels/0", "/y/0"),
        ("/weights/3", "/weights/3"),
        ("/scoresheet/1", "/scoresheet/1"),
        ("", ""),
    ],
)
def test_pointers_into_one_evaluation_name_its_columns(inner, outer):
    assert one("a/b,y,weights", scores="a/b", labels="y").pointer(inner) == outer


@pytest.mark.parametrize(
    ("inner", "outer"),
    [("/counts/tp/2", "/a~1b/2"), ("/counts/fn", "/fn"), ("/counts/positives", "/positives"), ("/counts", "")],
)
def test_pointers_into_counts_name_columns_and_options(inner, outer):
    assert one("a/b,fp,tn", tp="a/b", positives="3").pointer(inner) == outer


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        ("/evaluations/0/scores/7", "/a~1b/7"),
        ("/evaluations/1/scores", "/b~0"),
        ("/evaluations/1/name", "/scores"),
        ("/evaluations/0/labels/2", "/y/2"),
        ("/evaluations/1/weights/2", "/weights/2"),
        ("/evaluations/1/positive_label", "/positive_label"),
        ("/evaluations/0/lower_is_positive", "/lower_is_positive"),
        ("/evaluations", "/scores"),
        ("/evaluationsheet", "/evaluationsheet"),
        ("/indices/0", "/indices/0"),
    ],
)
def test_pointers_into_several_evaluations_name_their_columns(inner, outer):
    assert several("a/b,b~,y,weights", scores="a/b,b~", labels="y").pointer(inner) == outer


def test_pointers_of_the_eleventh_are_not_those_of_the_first():
    names = [f"s{k}" for k in range(12)]
    decoded = several(f"labels,{','.join(names)}", scores=",".join(names))
    assert [decoded.pointer(f"/evaluations/{k}/scores/0") for k in range(12)] == [f"/{name}/0" for name in names]


def test_a_document_without_new_names_keeps_its_pointers():
    assert Decoded({}).pointer("/a/0") == "/a/0"
