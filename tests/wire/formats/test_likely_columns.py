"""Guesses of the name of a missing column."""

import pytest

from service.wire.formats.likely_columns import did_you_mean
from service.wire.usual_names import likely

BOTH = ["scores", "labels"]


def test_the_parameters_that_may_be_meant() -> None:
    assert did_you_mean(likely(["id", "Y Score", "Y-True"], BOTH)) == " Did you mean scores=Y+Score&labels=Y-True?"
    assert did_you_mean(likely(["id", "y_true"], ["labels"])) == " Did you mean labels=y_true?"
    assert did_you_mean(likely(["id", "of day"], BOTH)) == ""
    assert did_you_mean(likely(["y_true", "score"], ["weights"])) == ""


def test_the_likeliest_comes_first() -> None:
    assert likely(["p", "pred", "score", "y", "label"], BOTH) == {"scores": "score", "labels": "label"}
    assert likely(["p", "y"], BOTH) == {"scores": "p", "labels": "y"}


@pytest.mark.parametrize("marks", ["_", " ", "-", ".", "__"])
def test_separators_and_capitals_in_names_do_not_matter(marks: str) -> None:
    for name in (f"Y{marks}Pred{marks}Proba", f"{marks}Y{marks}PRED{marks}PROBA{marks}"):
        assert likely([name], BOTH) == {"scores": name}


@pytest.mark.parametrize("names", [["SCORES", "LABELS"], ["Scores", " labels"], ["\ufeffscores", "Labels "]])
def test_the_names_themselves_may_have_capitals_or_blanks(names: list[str]) -> None:
    assert likely(["SCORE", "y", *names], BOTH) == dict(zip(BOTH, names, strict=True))


SCORES = """
    score y_score y_scores y_prob y_proba y_pred_proba probability probabilities prob probs proba predicted_probability
    prediction predictions predicted pred y_pred y_hat yhat decision_function logit confidence p
"""
LABELS = "label y_true target targets truth ground_truth true_label actual observed outcome class response y_test y"


def test_the_words_of_other_libraries_and_papers_are_known() -> None:
    for key, words in (("scores", SCORES), ("labels", LABELS), ("weights", "weight sample_weight sample_weights w")):
        assert [word for word in words.split() if likely([word], [*BOTH, "weights"]) != {key: word}] == []


def test_long_names_are_not_suggested() -> None:
    assert likely(["_" * 36 + "true"], BOTH) == {}
    assert likely(["_" * 35 + "label"], BOTH) == {"labels": "_" * 35 + "label"}
    assert likely(["_" * 36 + "label"], BOTH) == {}
