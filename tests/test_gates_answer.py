"""POST /v1/gates from bytes to bytes: the form of a verdict, in every format, and its status.

The numbers are for tests/inference; here are those that can be checked by hand, or asked for elsewhere.
"""

import json
import re
from functools import cache, partial

import numpy as np
import pyarrow as pa
import pytest

from service.answer import response_media_types
from service.wire.answers.gate_reports import junit_report, markdown_report
from service.wire.media_types import ARROW_STREAM, CSV, JSON, MARKDOWN, PARQUET, SVG, XML
from service.wire.requests.gates_schemas import FAIL_STATUSES, MOST_RULES
from tests.properties.bodies import arrow_body, chunked, csv_body, parquet_body
from tests.support import asking

ask = partial(asking.ask, "gates")
answered = partial(asking.answered, "gates")
curves = partial(asking.answered, "curves")

LABELS = [1, 1, 0, 1, 1, 0, 1, 0, 0, 0]
NEW = {"scores": [0.95, 0.9, 0.8, 0.7, 0.7, 0.6, 0.4, 0.4, 0.3, 0.1], "labels": LABELS}
OLD = {"scores": [0.9, 0.7, 0.8, 0.7, 0.4, 0.7, 0.6, 0.4, 0.3, 0.1], "labels": LABELS}
COUNTS = {"counts": {"tp": [2, 4, 5], "fp": [0, 2, 3], "threshold": [0.8, 0.5, 0.2], "positives": 5, "negatives": 5}}
ROC = {"metric": "roc", "min": 0.8}
FAILING = {"metric": "roc", "min": 0.9}
UNDECIDED = {"metric": "precision", "at_threshold": 2, "min": 0.5}
DROP = {"metric": "roc", "max_drop": 0.05, "confidence": 0.9}
PAIR = NEW | {"baseline": OLD, "paired": True}
FEW = {"resamples": 100}

DICE = np.random.default_rng(21)
MANY = (DICE.random(200) < 0.3).astype(int)
COLUMNS = {
    "new": (DICE.normal(size=200) + MANY).round(1).tolist(),
    "old": (DICE.normal(size=200) + MANY).round(1).tolist(),
    "class": MANY.tolist(),
    "w": DICE.integers(1, 4, 200).tolist(),
}
EVERY_KIND = [
    DROP,
    {"metric": "pr", "max_drop": 0.1, "confidence": 0.8, "prove": "drop"},
    {"metric": "roc", "min": 0.6, "confidence": 0.95},
    {"metric": "average_precision", "max": 0.9},
    {"metric": "roc_hull", "max_drop": 0.2},
    {"metric": "recall_at_precision", "at": 0.4, "min": 0.2},
    {"metric": "f_measure", "at": 0.5, "max_drop": 0.1},
    {"metric": "fpr", "at_threshold": 0.5, "max": 0.5, "confidence": 0.9},
    {"metric": "jaccard", "at": 0.25, "at_threshold": 0.5, "min": 0.1},
    {"metric": "partial", "over": "fpr", "from": 0.0, "to": 0.3, "max_drop": 0.1, "confidence": 0.9},
    {"metric": "mcc", "at_share": 0.3, "max_drop": 0.1, "confidence": 0.9, "inconclusive": "undecided"},
    {"metric": "precision", "best": "f1", "min_recall": 0.3, "min": 0.1, "name": "at its best", "severity": "warn"},
    {"metric": "eer", "max_rise": 0.1},
    {"metric": "ece", "bins": 10, "by": "mass", "max": 0.5, "severity": "fail"},
]


def test_a_part_of_a_curve_is_its_mean_height():
    parts = [{"over": "fpr", "to": 0.3, "min_tpr": 0.25}, {"over": "tpr", "from": 0.5}, {"over": "recall"}]
    whole = [{"from": 0.0, "to": 1.0} | part for part in parts]
    found = checked(PAIR, *({"metric": "partial", "max_drop": 0.5} | part for part in parts))
    for body, name in ((NEW, "value"), (OLD, "baseline")):
        means = curves(body | {"include": ["auc"], "partial": parts})["partial"]["mean"]
        assert [check[name] for check in found] == means
    for check, part in zip(found, whole, strict=True):
        assert check["rule"] == {"metric": "partial", "max_drop": 0.5} | part
    assert (
        "partial over fpr 0 to 0.3 above tpr 0.25 drop at most 0.5"
        in ask(PAIR | {"rules": [{"metric": "partial", "max_drop": 0.5} | parts[0]]}, accept=XML).body.decode()
    )


def checked(body, *rules, **kwargs):
    """The checks of a request with these rules."""
    return answered(body | {"rules": list(rules)}, **kwargs)["checks"]


class TestForm:
    def test_a_verdict_as_a_whole(self):
        assert answered(NEW | {"rules": [ROC, FAILING, UNDECIDED]}) == {
            "passed": False,
            "status": "failed",
            "paired": False,
            "checks": [
                {
                    "rule": rule,
                    "status": status,
                    "value": value,
                    "interval": None,
                    "baseline": None,
                    "difference": None,
                    "p_value": None,
                    "reason": reason,
                }
                for rule, status, value, reason in (
                    (ROC, "passed", 0.82, ""),
                    (FAILING, "failed", 0.82, "roc is 0.82, below min 0.9."),
                    (
                        UNDECIDED,
                        "undecided",
                        None,
                        (
                            "precision at threshold 2 has no value, so the rule cannot be decided: nothing is called "
                            "positive there, or the counts or groups have no such threshold; choose another one."
                        ),
                    ),
                )
            ],
            "warnings": [],
        }

    @pytest.mark.parametrize(
        ("rules", "status"),
        [
            ([ROC, ROC], "passed"),
            ([FAILING, ROC], "failed"),
            ([ROC, UNDECIDED], "undecided"),
            ([UNDECIDED, FAILING], "failed"),
            ([FAILING, UNDECIDED, ROC], "failed"),
        ],
    )
    def test_what_it_comes_to(self, rules, status):
        whole = answered(NEW | {"rules": rules})
        assert (whole["status"], whole["passed"]) == (status, status == "passed")
        report = ask(NEW | {"rules": rules}, accept=MARKDOWN).body.decode()
        assert report.startswith(f"### Gate {status} ")

    def test_the_order_of_the_parts(self):
        whole = answered(PAIR | {"rules": [DROP]})
        assert list(whole) == ["passed", "status", "paired", "checks", "warnings"]
        (check,) = whole["checks"]
        names = ["rule", "status", "value", "interval", "baseline", "difference", "p_value", "reason", "rows_needed"]
        assert list(check) == names
        assert list(check["interval"]) == ["lower", "upper", "level", "method", "standard_error"]
        assert list(check["rule"]) == ["metric", "max_drop", "confidence"]
        assert whole["paired"] is True

    def test_a_drop_by_hand(self):
        """The areas are 0.82 and 0.7; the new model is worse than the old one where they swap."""
        back, forth = (checked(body | {"paired": True}, DROP)[0] for body in (OLD | {"baseline": NEW}, PAIR))
        assert (back["value"], back["baseline"], forth["value"], forth["baseline"]) == (0.7, 0.82, 0.82, 0.7)
        assert (back["status"], forth["status"]) == ("failed", "failed")
        assert back["difference"] == -forth["difference"] == pytest.approx(-0.12)
        assert back["p_value"] == pytest.approx(forth["p_value"], rel=1e-12)
        assert forth["p_value"] == pytest.approx(0.38111, abs=1e-5)
        assert checked(OLD | {"baseline": NEW}, DROP | {"prove": "drop"})[0]["status"] == "passed"

    def test_a_drop_of_average_precisions_by_hand(self):
        """From 16/25 to 31/50 it is 0.02: each area is the nearest double."""
        before = {"tp": [12], "fp": [3], "positives": 20, "negatives": 30}
        after = {"tp": [1, 8, 10], "fp": [4, 4, 5], "positives": 10, "negatives": 5}
        rules = [{"metric": "average_precision", "max_drop": bound} for bound in (0.02, 0.02 - 1e-15)]
        found = answered({"counts": after, "baseline": {"counts": before}, "rules": rules})
        assert [check["status"] for check in found["checks"]] == ["passed", "failed"]

    def test_null_and_the_empty_list_read_as_absent(self):
        absent = {"counts": None, "weights": [], "positive_label": None, "lower_is_positive": []}
        request = PAIR | {"rules": [DROP, ROC]}
        expected = ask(request).body
        empty = {"at": None, "at_threshold": [], "min": None, "prove": None}
        loose = PAIR | absent | {"baseline": OLD | absent, "intervals": None, "fail_status": None}
        assert ask(loose | {"rules": [DROP | empty, ROC | {"max": None}]}).body == expected
        assert answered(NEW | {"rules": [ROC], "baseline": None, "paired": []}) == answered(NEW | {"rules": [ROC]})

    def test_intervals_are_there_when_asked_for(self):
        rules = [ROC, {"metric": "roc_hull", "min": 0.5}, {"metric": "roc", "max_drop": 0.5}]
        body = NEW | {"baseline": OLD}
        assert [check["interval"] for check in checked(body, *rules)] == [None] * 3
        roc, hull, drop = checked(body | {"intervals": {}}, *rules)
        assert (roc["interval"]["method"], roc["interval"]["level"]) == ("logit", 0.95)
        assert hull["interval"] is None
        assert drop["interval"]["lower"] < drop["difference"] < drop["interval"]["upper"]

    def test_warnings(self):
        no_sweep = {"counts": {"tp": [3, 1], "fp": [1, 2], "positives": 4, "negatives": 4}}
        codes = [warning["code"] for warning in answered(no_sweep | {"rules": [ROC]})["warnings"]]
        assert codes == ["not_a_sweep"]
        few = {"scores": [3, 2, 1], "labels": [1, 0, 0]}
        assert [warning["code"] for warning in answered(few | {"rules": [DROP], "baseline": NEW})["warnings"]] == [
            "too_few_examples"
        ]

    def test_as_many_rules_as_there_may_be(self):
        rules = [{"metric": "roc", "min": number / MOST_RULES} for number in range(MOST_RULES)]
        statuses = [check["status"] for check in checked(NEW, *rules)]
        assert statuses == ["passed"] * 83 + ["failed"] * 17


SURE = {"metric": "roc", "min": 0.8, "confidence": 0.9}
"""The area is 0.82, and its interval goes from below the bound to above it."""


class TestWhatBecomesOfARule:
    @pytest.mark.parametrize(("said", "status"), [("fail", "failed"), ("pass", "passed"), ("undecided", "undecided")])
    def test_an_interval_on_both_sides_of_the_bound(self, said, status):
        whole = answered(NEW | {"rules": [SURE | {"inconclusive": said}]})
        assert (whole["status"], whole["checks"][0]["status"]) == (status, status)
        proven = answered(NEW | {"rules": [SURE | {"min": 0.995, "inconclusive": said}]})
        assert proven["status"] == "failed"

    def test_a_reason_says_what_is_still_possible(self):
        (check,) = checked(NEW, SURE | {"min": 0.9, "inconclusive": "undecided"})
        assert check["status"] == "undecided"
        assert check["reason"].startswith(
            "roc is 0.82, below min 0.9, but with 90 % confidence it may be as high as 0.9"
        )
        (check,) = checked(NEW, SURE | {"inconclusive": "undecided"})
        assert check["reason"].startswith("roc is 0.82, but with 90 % confidence it may be as low as ")

    def test_passing_if_inconclusive_is_the_burden_of_proof_reversed(self):
        proving, passing = DROP | {"prove": "drop"}, DROP | {"inconclusive": "pass"}
        (one,), (other,) = (checked(OLD | {"baseline": NEW}, rule) for rule in (proving, passing))
        assert {**one, "rule": None} == {**other, "rule": None}

    def test_a_check_that_only_warns(self):
        warning = FAILING | {"severity": "warn", "name": "very good"}
        body = NEW | {"rules": [ROC, warning]}
        whole = answered(body)
        assert (whole["passed"], whole["status"], whole["warned"]) == (True, "passed", 1)
        assert whole["checks"][1]["status"] == "failed"
        assert answered(NEW | {"rules": [ROC, ROC | {"severity": "warn"}]})["warned"] == 0
        assert "warned" not in answered(NEW | {"rules": [ROC]})
        assert ask(body | {"fail_status": 409}).status == 200
        report = ask(body, accept=MARKDOWN).body.decode()
        assert "| ⚠️ failed, warns | very good at least 0.9 |" in report
        suite = ask(body, accept=XML).body.decode()
        assert 'failures="0"' in suite
        assert 'name="very good"' in suite
        assert "failed, warns: roc is 0.82, below min 0.9." in suite

    def test_every_case_has_a_name_of_its_own(self):
        """JUnit readers show only the first of several with one name, also of one that looks numbered."""
        rules = [ROC, ROC, ROC | {"name": "roc at least 0.8 (2)"}]
        suite = ask(NEW | {"rules": rules}, accept=XML).body.decode()
        names = re.findall(r'<testcase name="([^"]*)"', suite)
        assert (len(names), len(set(names))) == (3, 3)

    def test_a_baseline_without_an_area_has_a_warning(self):
        counts = {"counts": {"tp": [0, 1.5], "fp": [0, 0], "positives": 2, "negatives": 2}}
        whole = answered(NEW | {"baseline": counts, "rules": [{"metric": "pr_trapezoid", "max_drop": 0.1}]})
        assert whole["status"] == "undecided"
        assert "pr_trapezoid_omitted" in [warning["code"] for warning in whole["warnings"]]

    def test_a_name_that_could_be_markup(self):
        body = NEW | {"rules": [ROC | {"name": "a | b <script>"}]}
        report = ask(body, accept=MARKDOWN).body.decode()
        assert "`a \\| b <script> at least 0.8`" in report or "a \\| b" in report
        assert b"&lt;script&gt;" in ask(body, accept=XML).body


class TestBaseline:
    def test_it_inherits_what_labels_and_scores_mean(self):
        words = {"labels": ["yes" if label else "no" for label in LABELS]}
        turned = {"scores": [-score for score in OLD["scores"]]}
        expected = checked(NEW | {"baseline": OLD}, DROP)
        meaning = {"positive_label": "yes", "lower_is_positive": True}
        new = NEW | words | meaning | {"scores": [-score for score in NEW["scores"]]}
        assert checked(new | {"baseline": OLD | words | turned}, DROP) == expected

    def test_it_may_mean_something_else(self):
        expected = checked(NEW | {"baseline": OLD}, DROP)
        turned = {"scores": [-score for score in OLD["scores"]], "lower_is_positive": True}
        assert checked(NEW | {"baseline": OLD | turned}, DROP) == expected
        low = NEW | {"scores": [-score for score in NEW["scores"]], "lower_is_positive": True}
        assert checked(low | {"baseline": OLD | {"lower_is_positive": False}}, DROP) == expected
        other = OLD | {"labels": [bool(label) for label in LABELS], "positive_label": True}
        assert checked(NEW | {"positive_label": 1, "baseline": other}, DROP) == expected

    def test_counts_are_a_baseline(self):
        words = NEW | {"labels": ["yes" if label else "no" for label in LABELS], "positive_label": "yes"}
        (check,) = checked(words | {"baseline": COUNTS}, DROP)
        (alone,) = checked(COUNTS, ROC)
        assert (check["value"], check["baseline"]) == (0.82, alone["value"])
        (check,) = checked(COUNTS | {"baseline": words}, {"metric": "recall", "at_threshold": 0.5, "max_drop": 0.0})
        assert (check["value"], check["baseline"], check["status"]) == (0.8, 0.8, "passed")

    def test_totals_may_differ(self):
        (check,) = checked(
            NEW | {"baseline": {"scores": [3, 2, 1], "labels": [1, 0, 0]}}, {"metric": "pr", "max_drop": 1}
        )
        assert (check["baseline"], check["status"]) == (1.0, "passed")

    def test_it_is_shown_next_to_any_rule(self):
        (check,) = checked(NEW | {"baseline": OLD}, ROC)
        assert (check["baseline"], check["difference"]) == (0.7, pytest.approx(0.12))


class TestSeeds:
    @pytest.mark.parametrize("method", ["auto", "logit", "bootstrap", "bca"])
    @pytest.mark.parametrize("names", [["scores", "labels"], ["scores", "labels", "weights"]])
    def test_intervals_are_those_of_the_curves(self, method, names):
        """A seed gives the same resamples in every operation."""
        whole = {"scores": COLUMNS["new"], "labels": COLUMNS["class"], "weights": COLUMNS["w"]}
        body = {name: whole[name] for name in names}
        baseline = body | {"scores": COLUMNS["old"]}
        options = {"intervals": FEW | {"method": method, "level": 0.9, "seed": 5}}
        expected = curves(body | options | {"include": ["auc"]})["intervals"]
        rules = [{"metric": area, kind: 0.5} for kind in ("max_drop", "min") for area in expected]
        found = checked(body | options | {"baseline": baseline, "paired": True}, *rules)
        assert {check["rule"]["metric"]: check["interval"] for check in found[3:]} == expected

    def test_a_seed_determines_the_answer(self):
        rule = {"metric": "tpr_at_fpr", "at": 0.3, "max_drop": 0.1, "confidence": 0.9}
        bodies = [ask(PAIR | {"rules": [rule], "intervals": FEW | {"seed": seed}}).body for seed in (0, 0, 1)]
        assert bodies[0] == bodies[1] != bodies[2]
        assert ask(PAIR | {"rules": [rule], "intervals": FEW}).body == bodies[0]


QUERY = {"scores": "new", "baseline_scores": "old", "labels": "class", "weights": "w", "paired": "true"}
QUERY |= {"intervals": json.dumps(FEW), "rules": json.dumps(EVERY_KIND)}


@cache
def in_json():
    """The answer to a JSON body with the same columns and options."""
    shared = {"labels": COLUMNS["class"], "weights": COLUMNS["w"]}
    body = {"scores": COLUMNS["new"], "baseline": {"scores": COLUMNS["old"]} | shared, "paired": True} | shared
    return ask(body | {"rules": EVERY_KIND, "intervals": FEW}).body


class TestFormats:
    def asked(self, content_type, body):
        return ask(body, content_type=content_type, **QUERY).body

    def test_every_format_gives_the_same_verdict(self):
        table, expected = pa.table(COLUMNS), in_json()
        assert json.loads(expected)["paired"]
        bodies = [
            (CSV, csv_body(table)),
            (ARROW_STREAM, arrow_body(chunked(table, 7))),
            (ARROW_STREAM, arrow_body(table.set_column(0, "new", table["new"].dictionary_encode()))),
            (PARQUET, parquet_body(table, row_group_size=50)),
        ]
        for content_type, body in bodies:
            assert self.asked(content_type, body) == expected

    def test_the_order_of_rows_does_not_matter(self):
        table = pa.table(COLUMNS).take(np.random.default_rng(8).permutation(200))
        assert self.asked(CSV, csv_body(table)) == in_json()

    def test_a_table_of_counts(self):
        table = "tp,fp,threshold\n2,0,0.8\n4,2,0.5\n5,3,0.2\n"
        rules = [ROC, {"metric": "recall", "at_threshold": 0.5, "min": 0.8}, UNDECIDED]
        query = {"positives": "5", "negatives": "5", "rules": json.dumps(rules)}
        assert ask(table, content_type=CSV, **query).body == ask(COUNTS | {"rules": rules}).body

    def test_a_table_without_a_baseline(self):
        lines = ["scores,labels", *(f"{score},{label}" for score, label in zip(NEW["scores"], LABELS, strict=True))]
        found = ask("\n".join(lines), content_type=CSV, rules=json.dumps([ROC]))
        assert found.body == ask(NEW | {"rules": [ROC]}).body


class TestStatus:
    @pytest.mark.parametrize("status", FAIL_STATUSES)
    @pytest.mark.parametrize("accept", [JSON, MARKDOWN, XML])
    def test_a_gate_that_is_not_passed_has_the_status_asked_for(self, status, accept):
        for rule in (FAILING, UNDECIDED):
            plain = ask(NEW | {"rules": [ROC, rule]}, accept=accept)
            told = ask(NEW | {"rules": [ROC, rule], "fail_status": status}, accept=accept)
            assert (plain.status, told.status) == (200, status)
            assert (told.body, told.media_type, told.headers, told.problem) == (plain.body, accept, plain.headers, None)
        passed = ask(NEW | {"rules": [ROC], "fail_status": status}, accept=accept)
        assert passed.status == 200

    def test_in_a_query(self):
        found = ask(
            "scores,labels\n1,1\n0,0\n", content_type=CSV, rules='[{"metric":"roc","max":0}]', fail_status="409"
        )
        assert (found.status, json.loads(found.body)["passed"]) == (409, False)


@pytest.mark.parametrize(
    "metric",
    [
        {"metric": "roc_hull"},
        {"metric": "pr_trapezoid"},
        {"metric": "pr_achievable"},
        {"metric": "recall_at_precision", "at": 0.5},
        {"metric": "f_measure", "at": 0.5},
        {"metric": "jaccard", "at": 0.5},
    ],
)
@pytest.mark.parametrize("bound", [{"min": 0.1}, {"max": 0.9}, {"max_drop": 0.1}])
def test_what_is_fitted_to_the_data_has_no_interval(metric, bound):
    (check,) = answered(PAIR | {"rules": [metric | bound], "intervals": {}})["checks"]
    assert (check["interval"], check["p_value"]) == (None, None)
    assert check["value"] is not None


def test_an_index_at_a_threshold_has_one():
    rule = {"metric": "f_measure", "at": 0.5, "at_threshold": 0.5, "min": 0.1, "confidence": 0.9}
    (check,) = answered(NEW | {"rules": [rule]})["checks"]
    assert check["interval"]["method"] == "score"


class TestReports:
    def test_media_types(self):
        assert response_media_types("gates")[:4] == (JSON, MARKDOWN, XML, SVG)

    def test_reports_are_laid_out_from_the_document(self):
        body = PAIR | {"rules": [ROC, FAILING, UNDECIDED, DROP], "intervals": FEW}
        whole = answered(body)
        markdown, junit = (ask(body, accept=accept) for accept in (MARKDOWN, XML))
        assert (markdown.status, markdown.media_type) == (200, MARKDOWN)
        assert markdown.body.decode() == markdown_report(whole)
        assert (junit.status, junit.media_type) == (200, XML)
        assert junit.body == junit_report(whole)
        assert junit.body.startswith(b"<?xml version='1.0' encoding='utf-8'?>\n<testsuites ")
