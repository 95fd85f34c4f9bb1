"""Rules over slices from bytes to bytes: the same in all formats, and every check against the slices alone."""

import json
from functools import partial
from math import sqrt

import numpy as np
import pyarrow as pa
import pytest

from service.wire.media_types import ARROW_STREAM, PARQUET
from service.wire.requests import gate_slices
from tests.properties.bodies import arrow_body, parquet_body
from tests.support.asking import answered, ask, errors, refusals

gate = partial(answered, "gates")
refused = partial(refusals, "gates")

RANDOM = np.random.default_rng(8)
ROWS = 240
COUNTRY = [["DE", "FR", "IT", None][number] for number in RANDOM.integers(0, 4, ROWS)]
DEVICE = [int(number) for number in RANDOM.integers(0, 2, ROWS)]
LABELS = [int(number) for number in RANDOM.integers(0, 2, ROWS)]
SCORES = [round(float(RANDOM.normal()) + 1.2 * label, 1) for label in LABELS]
OLD = [round(score + float(RANDOM.normal()), 1) for score in SCORES]
BODY = {"scores": SCORES, "labels": LABELS, "slices": {"country": COUNTRY, "device": DEVICE}}
BASELINE = {"scores": OLD, "labels": LABELS}
CERTAIN = {"metric": "roc", "min": 0.6, "confidence": 0.95, "slices": ["country"]}
KEYS = ("DE", "FR", "IT", None)


def one(rule, **more):
    """The check of one rule."""
    return gate(BODY | {"rules": [rule]} | more)["checks"][0]


def rows_of(country):
    return [row for row in range(ROWS) if COUNTRY[row] == country]


def alone(country, **more):
    rows = rows_of(country)
    return {name: [column[row] for row in rows] for name, column in (("scores", SCORES), ("labels", LABELS))} | more


class TestValues:
    @pytest.mark.parametrize(
        "rule",
        [
            {"metric": "roc", "min": 0.5},
            {"metric": "average_precision", "min": 0.5},
            {"metric": "recall", "at_threshold": 0.5, "max": 0.9},
            {"metric": "f_measure", "at": 0.3, "min": 0.2},
            {"metric": "partial", "over": "fpr", "to": 0.4, "min": 0.1},
            {"metric": "gini", "min": 0.2},
            {"metric": "ks", "min": 0.2},
        ],
    )
    def test_each_slice_has_the_value_of_its_rows_alone(self, rule):
        found = one(rule | {"slices": ["country"]})["slices"]
        assert found["country"] == [*KEYS]
        for place, country in enumerate(KEYS):
            expected = gate(alone(country, rules=[rule]))["checks"][0]
            assert found["value"][place] == expected["value"]
            assert found["status"][place] == {"passed": "met", "failed": "missed"}[expected["status"]]
            assert found["rows"][place] == len(rows_of(country))

    @pytest.mark.parametrize(("bound", "worst"), [({"min": 0.7}, min), ({"max": 0.7}, max)])
    def test_the_value_is_that_of_the_worst_slice(self, bound, worst):
        found = one({"metric": "roc", "slices": ["country", "device"]} | bound)
        assert found["value"] == worst(found["slices"]["value"])
        assert len(found["slices"]["country"]) == len(found["slices"]["device"]) == 8
        missed = found["slices"]["status"].count("missed")
        assert f"It holds in {8 - missed} of 8 slices." in found["reason"]

    def test_a_rule_passes_if_every_slice_meets_the_bound(self):
        least = min(one({"metric": "roc", "min": 0, "slices": ["country"]})["slices"]["value"])
        assert one({"metric": "roc", "min": least, "slices": ["country"]})["status"] == "passed"
        assert one({"metric": "roc", "min": least + 1e-9, "slices": ["country"]})["status"] == "failed"

    def test_a_decision_is_made_on_all_rows(self):
        rule = {"metric": "recall", "at_fpr": 0.2, "min": 0, "slices": ["country"]}
        chosen = answered("curves", {"scores": SCORES, "labels": LABELS, "decisions": [{"at_fpr": 0.2}]})
        threshold = chosen["decisions"]["threshold"][0]
        same = {"metric": "recall", "at_threshold": threshold, "min": 0, "slices": ["country"]}
        assert one(rule)["slices"]["value"] == one(same)["slices"]["value"]
        own = [gate(alone(country, rules=[{k: v for k, v in rule.items() if k != "slices"}])) for country in KEYS]
        assert one(rule)["slices"]["value"] != [each["checks"][0]["value"] for each in own]

    def test_nothing_called_positive_on_all_rows_is_so_in_every_slice(self):
        rule = {"metric": "recall", "at_share": 0, "min": 0, "slices": ["country"]}
        assert one(rule)["slices"]["value"] == [0.0] * 4
        precision = one(rule | {"metric": "precision"})
        assert precision["status"] == "undecided"
        assert precision["slices"]["reason"] == ["no_value"] * 4


class TestIntervals:
    def test_the_unfavourable_end_is_that_of_the_slice_alone(self):
        for kind, end in (("min", "lower"), ("max", "upper")):
            found = one({"metric": "roc", kind: 0.7, "confidence": 0.95, "slices": ["country"]})["slices"]
            for place, country in enumerate(KEYS):
                rule = {"metric": "roc", kind: 0.7, "confidence": 0.95}
                assert found[end][place] == gate(alone(country, rules=[rule]))["checks"][0]["interval"][end]

    def test_the_other_end_is_farther_out(self):
        for metric in (
            {"metric": "roc"},
            {"metric": "precision", "at_threshold": 0.5},
            {"metric": "average_precision"},
        ):
            found = one(metric | {"min": 0.7, "confidence": 0.95, "slices": ["country"]})["slices"]
            for place, country in enumerate(KEYS):
                plain = gate(alone(country, rules=[metric | {"min": 0.7, "confidence": 0.95}]))["checks"][0]
                assert found["upper"][place] > plain["interval"]["upper"]

    def test_the_interval_has_the_worst_ends(self):
        found = one(CERTAIN)
        assert found["interval"]["lower"] == min(found["slices"]["lower"])
        assert found["interval"]["upper"] == min(found["slices"]["upper"])
        assert found["interval"]["level"] == 0.95
        ceiling = one({"metric": "roc", "max": 0.9, "confidence": 0.95, "slices": ["country"]})
        assert ceiling["interval"]["lower"] == max(ceiling["slices"]["lower"])
        assert ceiling["interval"]["upper"] == max(ceiling["slices"]["upper"])

    def test_an_inconclusive_slice_decides_as_the_rule_says(self):
        asked = CERTAIN | {"min": one(CERTAIN)["interval"]["lower"] + 1e-6}
        for word, status in (("fail", "failed"), ("pass", "passed"), ("undecided", "undecided")):
            found = one(asked | {"inconclusive": word})
            assert found["status"] == status
            assert found["slices"]["status"].count("inconclusive") == 1
        beyond = one(asked | {"min": 0.999, "inconclusive": "pass"})
        assert beyond["status"] == "failed"
        assert "missed" in beyond["slices"]["status"]

    def test_intervals_may_be_asked_for_without_confidence(self):
        found = one({"metric": "roc", "min": 0.6, "slices": ["country"]}, intervals={"level": 0.8})
        assert found["status"] == "passed"
        assert found["interval"]["level"] == 0.8


class TestChanges:
    def test_paired_rows_share_their_slices(self):
        asked = {"metric": "roc", "max_drop": 0.1, "confidence": 0.9, "slices": ["country"]}
        found = one(asked, baseline=BASELINE, paired=True)
        for place, country in enumerate(KEYS):
            rows = rows_of(country)
            old = {"scores": [OLD[row] for row in rows], "labels": [LABELS[row] for row in rows]}
            rule = {"metric": "roc", "max_drop": 0.1, "confidence": 0.9}
            plain = gate(alone(country, baseline=old, paired=True, rules=[rule]))["checks"][0]
            assert found["slices"]["difference"][place] == plain["difference"]
            assert found["slices"]["lower"][place] == plain["interval"]["lower"]
        assert found["difference"] == min(found["slices"]["difference"])
        assert found["baseline"] is not None

    def test_ids_put_the_baseline_in_order(self):
        ids, order = [f"r{row}" for row in range(ROWS)], RANDOM.permutation(ROWS).tolist()
        shuffled = {"ids": ids} | BASELINE
        shuffled = {name: [column[row] for row in order] for name, column in shuffled.items()}
        asked = {"metric": "roc", "max_drop": 0.1, "slices": ["country"]}
        assert one(asked, ids=ids, baseline=shuffled) == one(asked, baseline=BASELINE, paired=True)

    def test_other_rows_have_slices_of_their_own(self):
        rows = [row for row in range(ROWS) if COUNTRY[row] != "IT"][::-1]
        old = {"scores": [OLD[row] for row in rows], "labels": [LABELS[row] for row in rows]}
        sliced = old | {"slices": {"country": [COUNTRY[row] for row in rows]}}
        asked = {"metric": "roc", "max_drop": 0.1, "slices": ["country"]}
        body = BODY | {"rules": [asked]}
        found = gate(body | {"baseline": sliced})
        check = found["checks"][0]
        assert check["slices"]["status"][2] == "skipped"
        assert check["slices"]["reason"] == [None, None, "not_in_baseline", None]
        assert [each["code"] for each in found["warnings"]] == ["skipped_slices"]
        assert refused(body | {"baseline": old}) == [("/baseline/slices", "missing")]

    def test_a_slice_that_the_baseline_lacks_is_judged_by_rules_of_the_value(self):
        rows = [row for row in range(ROWS) if COUNTRY[row] != "IT"]
        old = {"scores": [OLD[row] for row in rows], "labels": [LABELS[row] for row in rows]}
        sliced = old | {"slices": {"country": [COUNTRY[row] for row in rows]}}
        rules = [{"metric": "roc", "max_drop": 1, "slices": ["country"]}, CERTAIN]
        found = gate(BODY | {"baseline": sliced, "rules": rules})["checks"][1]
        assert found == one(CERTAIN)


class TestGaps:
    def test_a_gap_is_the_greatest_less_the_least(self):
        values = one({"metric": "roc", "min": 0, "slices": ["country"]})["slices"]["value"]
        found = gate(BODY | {"rules": [{"metric": "roc", "max_gap": 0.01, "slices": ["country"]}]})
        check = found["checks"][0]
        assert check["value"] == max(values) - min(values)
        assert check["status"] == "failed"
        assert sorted(check["slices"]["status"]) == ["between", "between", "greatest", "least"]
        assert [each["code"] for each in found["warnings"]] == ["inflated_gap"]

    def test_its_interval_begins_at_0_if_no_gap_is_proven(self):
        asked = {"metric": "roc", "max_gap": 0.2, "confidence": 0.95, "slices": ["country"]}
        found = one(asked)
        assert found["interval"]["lower"] == 0
        assert found["interval"]["upper"] > found["value"]
        gini = one(asked | {"metric": "gini"})
        assert gini["value"] == pytest.approx(2 * found["value"])
        assert gini["interval"]["upper"] == pytest.approx(2 * found["interval"]["upper"])

    def test_a_gap_needs_two_slices(self):
        found = one({"metric": "roc", "max_gap": 0.2, "slices": ["country"]}, slices={"country": ["DE"] * ROWS})
        assert found["status"] == "undecided"
        assert found["reason"] == "Fewer than two slices of country can be judged by roc; the slices say why."

    def test_a_gap_that_just_meets_the_bound(self):
        """0.75 - 0.5 and the like have roundings that the tolerance covers."""
        value = one({"metric": "roc", "max_gap": 0, "slices": ["country"]})["value"]
        assert one({"metric": "roc", "max_gap": value, "slices": ["country"]})["status"] == "passed"


class TestSkipped:
    def test_small_slices_are_listed_and_counted(self):
        found = gate(BODY | {"rules": [CERTAIN | {"min_examples": 10_000}]})
        check = found["checks"][0]
        assert check["status"] == "undecided"
        assert found["status"] == "undecided"
        assert check["slices"]["status"] == ["skipped"] * 4
        assert check["reason"] == "No slice of country can be judged by roc; the slices say why."
        (warning,) = found["warnings"]
        assert warning["code"] == "skipped_slices"
        assert f"4 of 4 slices are not judged, with {ROWS} of {ROWS} rows: too_few_examples 4." in warning["detail"]

    def test_a_slice_of_one_class_is_skipped(self):
        labels = [1 if country == "FR" else label for country, label in zip(COUNTRY, LABELS, strict=True)]
        found = gate(BODY | {"labels": labels, "rules": [CERTAIN]})["checks"][0]
        assert found["slices"]["reason"] == [None, "one_class", None, None]
        assert found["slices"]["negatives"][1] == 0
        assert "of 3 slices" in found["reason"] or found["status"] == "passed"

    def test_weights_count_by_effective_size(self):
        weights = [1000.0 if row == rows_of("DE")[0] else 1.0 for row in range(ROWS)]
        found = one(CERTAIN | {"min_examples": 5}, weights=weights)
        assert found["slices"]["reason"] == ["too_few_examples", None, None, None]

    def test_fewer_slices_need_no_wider_ends(self):
        both = one(CERTAIN)["slices"]["upper"][0]
        few = one(CERTAIN, slices={"country": [each or "none" for each in COUNTRY]})
        assert few["slices"]["upper"][0] == both  # as many slices as before
        two = one(CERTAIN, slices={"country": ["DE" if each == "DE" else "else" for each in COUNTRY]})
        assert two["slices"]["upper"][0] < both


class TestBodies:
    COLUMNS = {"scores": SCORES, "old": OLD, "labels": LABELS, "country": COUNTRY, "device": DEVICE}  # noqa: RUF012
    RULES = (
        CERTAIN,
        {"metric": "roc", "max_drop": 0.2, "confidence": 0.9, "slices": ["device", "country"]},
        {"metric": "roc", "max_gap": 0.5, "slices": ["device"]},
    )

    @pytest.mark.parametrize(
        ("kind", "body"),
        [(ARROW_STREAM, arrow_body), (PARQUET, parquet_body)],
    )
    def test_rules_name_the_columns_of_a_table(self, kind, body):
        expected = gate(BODY | {"baseline": BASELINE | {"slices": BODY["slices"]}, "rules": [*self.RULES]})
        query = {"rules": json.dumps(self.RULES), "baseline_scores": "old"}
        assert gate(body(pa.table(self.COLUMNS)), content_type=kind, **query) == expected

    def test_csv(self):
        lines = [
            "scores,labels,country",
            *(f"{s},{y},{c or ''}" for s, y, c in zip(SCORES, LABELS, COUNTRY, strict=True)),
        ]
        found = gate("\n".join(lines), content_type="text/csv", rules=json.dumps([CERTAIN]))
        assert found == gate(BODY | {"rules": [CERTAIN]})

    def test_rows_that_are_left_out_leave_their_slice_too(self):
        scores = [None if row == 5 else score for row, score in enumerate(SCORES)]
        found = gate(BODY | {"scores": scores, "rules": [CERTAIN], "missing": "drop"})["checks"][0]["slices"]
        assert sum(found["rows"]) == ROWS - 1

    def test_rows_of_both_are_left_out(self):
        old = {"scores": [None if row == 5 else score for row, score in enumerate(OLD)], "labels": LABELS}
        rule = {"metric": "roc", "max_drop": 1, "slices": ["country"]}
        asked = BODY | {
            "baseline": old | {"slices": BODY["slices"]},
            "rules": [rule],
            "missing": "drop",
            "paired": True,
        }
        assert sum(gate(asked)["checks"][0]["slices"]["rows"]) == ROWS - 1

    def test_reports_list_the_slices_that_are_not_met(self):
        rule = CERTAIN | {"min": 0.99}
        text = ask("gates", BODY | {"rules": [rule]}, accept="text/markdown").body.decode()
        assert "| country | rows | value | interval | status |" in text
        assert "| FR |" in text
        assert "system-out" in ask("gates", BODY | {"rules": [rule]}, accept="application/xml").body.decode()

    def test_a_picture_has_them(self):
        drawn = ask("gates", BODY | {"rules": [CERTAIN | {"min": 0.99}]}, accept="image/svg+xml")
        assert drawn.status == 200
        assert "country FR" in drawn.body.decode()


class TestRefusals:
    @pytest.mark.parametrize(
        ("change", "pointer", "code"),
        [
            ({"slices": ["contry"]}, "/rules/0/slices/0", "missing"),
            ({"slices": ["country", "nothing"]}, "/rules/0/slices/1", "missing"),
            ({"slices": None, "min_examples": 5}, "/rules/0/min_examples", "exclusive"),
            ({"slices": None, "min": None, "max_gap": 0.1}, "/rules/0/slices", "missing"),
            ({"max_gap": 0.1}, "/rules/0/max_gap", "exclusive"),
            ({"min": None, "max_gap": 1.5}, "/rules/0/max_gap", "out_of_range"),
            ({"min": None, "max_gap": -0.5}, "/rules/0/max_gap", "negative"),
            ({"min": None, "metric": "tpr_at_fpr", "at": 0.1, "max_gap": 0.5}, "/rules/0/confidence", "exclusive"),
            ({"min": None, "metric": "calibration_slope", "max_gap": 0.5}, "/rules/0/confidence", "exclusive"),
            ({"min_examples": 0}, "/rules/0/min_examples", "out_of_range"),
            ({"min": None, "max_gap": 0.1, "expected": 0.05}, "/rules/0/expected", "exclusive"),
        ],
    )
    def test_a_rule(self, change, pointer, code):
        assert refused(BODY | {"rules": [CERTAIN | change]}) == [(pointer, code)]

    def test_a_misspelt_column_is_recognised(self):
        (error,) = errors("gates", BODY | {"rules": [CERTAIN | {"slices": ["contry"]}]})
        assert error["detail"] == "There is no column 'contry' in slices; did you mean country?"
        (error,) = errors(
            "gates",
            "scores,labels,country\n1,1,a\n2,0,a\n",
            content_type="text/csv",
            rules=json.dumps([CERTAIN | {"slices": ["contry"]}]),
        )
        assert (error["pointer"], error["code"]) == ("/rules/0/slices/0", "missing")
        assert error["detail"].endswith("Did you mean 'country'?")

    def test_a_difference_of_a_point_takes_no_confidence(self):
        rule = {"metric": "tpr_at_fpr", "at": 0.1, "max_drop": 0.5, "slices": ["country"]}
        body = BODY | {"baseline": BASELINE, "paired": True}
        assert refused(body | {"rules": [rule | {"confidence": 0.9}]}) == [("/rules/0/confidence", "exclusive")]
        assert gate(body | {"rules": [rule]})["checks"][0]["value"] is not None

    def test_resamples(self):
        assert refused(BODY | {"rules": [CERTAIN], "intervals": {"method": "bca"}}) == [
            ("/intervals/method", "exclusive")
        ]

    def test_what_has_no_single_rows(self):
        counts = {"counts": {"tp": [1], "fp": [0], "positives": 2, "negatives": 2}}
        assert refused(counts | {"rules": [CERTAIN]}) == [("/rules/0/slices", "exclusive")]
        assert refused(counts | {"rules": [CERTAIN], "slices": {"country": ["a"]}}) == [("/slices", "exclusive")]

    def test_columns(self):
        assert refused(BODY | {"rules": [CERTAIN], "slices": {"country": ["DE"]}}) == [("/slices", "lengths_differ")]
        named = BODY | {"slices": {"value": COUNTRY}, "rules": [CERTAIN | {"slices": ["value"]}]}
        assert refused(named) == [("/slices/value", "duplicate")]
        short = BASELINE | {"slices": {"country": ["DE"]}}
        drop = {"metric": "roc", "max_drop": 0.1, "slices": ["country"]}
        assert refused(BODY | {"baseline": short, "rules": [drop]}) == [("/baseline/slices", "lengths_differ")]

    def test_too_many(self, monkeypatch):
        monkeypatch.setattr(gate_slices, "MOST_JUDGED", 3)
        monkeypatch.setattr(gate_slices, "MOST_IN_A_GAP", 2)
        assert refused(BODY | {"rules": [CERTAIN]}) == [("/rules/0/slices", "too_many_slices")]
        gap = {"metric": "roc", "max_gap": 0.5, "slices": ["country"]}
        assert refused(BODY | {"rules": [gap]}) == [("/rules/0/slices", "too_many_slices")]

    def test_an_empty_object_of_slices_is_absent(self):
        assert gate({"scores": SCORES, "labels": LABELS, "slices": {}, "rules": [{"metric": "roc", "min": 0}]})[
            "passed"
        ]


def test_many_slices_take_their_time_once():
    """A thousand slices with intervals in one answer."""
    count = 1000
    labels, names = [0, 1, 0, 1, 1, 0] * count, [f"s{number // 6}" for number in range(6 * count)]
    scores = [round(sqrt(number % 7) + label, 3) for number, label in enumerate(labels)]
    rule = {"metric": "roc", "min": 0.01, "confidence": 0.9, "slices": ["name"]}
    found = gate({"scores": scores, "labels": labels, "slices": {"name": names}, "rules": [rule]})["checks"][0]
    assert len(found["slices"]["name"]) == count
    assert found["slices"]["name"] == sorted(set(names))
