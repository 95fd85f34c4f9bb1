"""POST /v1/tradeoffs from bytes to bytes: what formats share, and what the parts mean.

The numbers are for other tests; here are those that can be checked by hand.
"""

import json
from functools import partial
from itertools import pairwise

import pytest

from tests.support import asking
from tests.support.asking import read_csv, tables

SAMPLE = {"scores": [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], "labels": [1, 0, 1, 1, 0, 0]}
CSV_SAMPLE = "scores,labels\n.9,1\n.8,0\n.7,1\n.7,1\n.4,0\n.2,0\n"
COUNTS = {"tp": [5, 10], "fp": [5, 30], "positives": 20, "negatives": 2000}
NO_SWEEP = {"tp": [6, 9, 8], "fp": [1, 4, 6], "positives": 10, "negatives": 10}
DENSITY = {"a": 2, "b": 3}
INDICES = ("kulczynski", "f_measure", "fowlkes_mallows", "jaccard")
OPTIMAL = ["lambda_from", "lambda_to", "threshold", "tp", "fp", "precision", "recall"]

ask = partial(asking.ask, "tradeoffs")
answered = partial(asking.answered, "tradeoffs")
refusals = partial(asking.refusals, "tradeoffs")


def tradeoff(body, index="f_measure", **kwargs):
    return answered(body, **kwargs)["tradeoffs"][index]


def _counts(precision, recall, positives=90, negatives=8100):
    """Counts of one row with the given precision and recall."""
    tp = recall * positives
    return {"tp": [tp], "fp": [tp / precision - tp], "positives": positives, "negatives": negatives}


class TestTables:
    def test_csv_and_json_give_the_same_answer(self):
        table = "score,label,weight\n.9,yes,1\n0.8,no,2\n0.7,yes,0.5\n6e-1,no,1\n-0.0,yes,3\n"
        names = {"scores": "score", "labels": "label", "weights": "weight", "positive_label": "yes"}
        options = {"indices": ["jaccard", "f_measure"], "min_precision": 0.2, "min_recall": 0.1}
        options |= {"lambda_range": [0.1, 0.9], "lambda_density": DENSITY, "at_lambda": [0.5, 0, 1]}
        options |= {"lower_is_positive": True}
        texts = {name: json.dumps(value) for name, value in options.items()}
        sample = {"scores": [0.9, 0.8, 0.7, 0.6, 0], "labels": [1, 0, 1, 0, 1], "weights": [1, 2, 0.5, 1, 3]}
        in_json = ask(sample | options)
        assert in_json.status == 200
        assert ask(table, content_type="text/csv", **names, **texts).body == in_json.body
        named = texts | {"indices": "f_measure, jaccard"}
        assert ask(table, content_type="text/csv", **names, **named).body == in_json.body

    def test_counts_in_csv(self):
        expected = answered({"counts": COUNTS, "min_recall": 0.5})
        options = {"positives": "20", "negatives": "2000", "min_recall": "0.5"}
        assert answered("fp,tp\n30,10\n5,5\n", content_type="text/csv", **options) == expected
        assert (
            answered("tp,fp,fn,tn\n10,30,10,1970\n5,5,15,1995\n", content_type="text/csv", min_recall="0.5") == expected
        )

    def test_options_whose_text_is_null_read_as_absent(self):
        options = ("min_precision", "min_recall", "lambda_range", "lambda_density", "at_lambda", "indices")
        assert ask(CSV_SAMPLE, content_type="text/csv", **dict.fromkeys(options, "null")).body == ask(SAMPLE).body

    @pytest.mark.parametrize("name", ["optimal", "area", "at"])
    def test_a_csv_answer_is_one_table_of_the_json_answer(self, name):
        body = {"counts": NO_SWEEP | {"threshold": [0.5, None, 0.25]}, "at_lambda": [0.5, 0.1, 1]}
        result = ask(body, accept="text/csv", table=name)
        assert (result.status, result.media_type, result.headers) == (200, "text/csv", {"Rocpr-Warnings": "[]"})
        found = read_csv(result.body.decode())
        assert (
            list(found)
            == {
                "optimal": ["index", *OPTIMAL],
                "area": ["index", "area", "uninformative_from"],
                "at": ["index", "at_lambda", "value", "threshold"],
            }[name]
        )
        assert found == tables(answered(body))[name]
        assert list(dict.fromkeys(found["index"])) == list(INDICES)

    def test_a_csv_answer_is_optimal_unless_a_table_is_named(self):
        assert ask(SAMPLE, accept="text/csv").body == ask(SAMPLE, accept="text/csv", table="optimal").body

    @pytest.mark.parametrize("name", ["points", "auc", "tradeoffs", "Optimal", ""])
    def test_other_tables_do_not_exist(self, name):
        assert refusals(SAMPLE, accept="text/csv", table=name) == [("/table", "not_one_of")]

    @pytest.mark.parametrize("absent", [{}, {"at_lambda": None}, {"at_lambda": []}])
    def test_readings_that_were_not_requested_are_not_a_table(self, absent):
        assert refusals(SAMPLE | absent, accept="text/csv", table="at") == [("/table", "missing")]
        assert refusals(CSV_SAMPLE, content_type="text/csv", accept="text/csv", table="at") == [("/table", "missing")]


class TestAnswers:
    def test_the_parts_and_their_order(self):
        whole = answered(SAMPLE | {"at_lambda": [0.5]})
        assert list(whole) == ["positives", "negatives", "tradeoffs", "warnings"]
        assert list(whole["tradeoffs"]) == list(INDICES)
        for one in whole["tradeoffs"].values():
            assert list(one) == ["optimal", "area", "uninformative_from", "at"]
            assert list(one["optimal"]) == OPTIMAL
            assert list(one["at"]) == ["at_lambda", "value", "threshold"]
        assert (whole["positives"], whole["negatives"], whole["warnings"]) == (3, 3, [])
        assert all("at" not in one for one in answered(SAMPLE)["tradeoffs"].values())

    def test_null_and_the_empty_list_read_as_absent(self):
        absent = {"indices": [], "min_precision": None, "min_recall": None, "lambda_range": [], "lambda_density": None}
        absent |= {"at_lambda": None, "weights": [], "positive_label": None, "lower_is_positive": None, "counts": None}
        assert ask(SAMPLE | absent).body == ask(SAMPLE).body
        swapped = {name: [] if value is None else None for name, value in absent.items()}
        assert ask(SAMPLE | swapped).body == ask(SAMPLE).body

    def test_indices_are_answered_in_their_own_order_once(self):
        everything = answered(SAMPLE)
        some = answered(SAMPLE | {"indices": ["jaccard", "f_measure", "jaccard"]})
        assert list(some["tradeoffs"]) == ["f_measure", "jaccard"]
        assert some["tradeoffs"].items() <= everything["tradeoffs"].items()

    @pytest.mark.parametrize(
        ("index", "crossing"),
        [("kulczynski", 3 / 11), ("f_measure", 1 / 7), ("fowlkes_mallows", 0.2075187496394219), ("jaccard", 1 / 12)],
    )
    def test_two_rows_cross_once(self, index, crossing):
        """Precision and recall are 1 and 1/3, then 3/4 and 1; by the geometric mean ln(3/4) / ln(1/4)."""
        optimal = tradeoff(SAMPLE, index)["optimal"]
        found = optimal["lambda_to"][0]
        assert found == pytest.approx(crossing, rel=1e-12)
        assert optimal == {
            "lambda_from": [0.0, found],
            "lambda_to": [found, 1.0],
            "threshold": [0.9, 0.7],
            "tp": [1, 3],
            "fp": [0, 1],
            "precision": [1.0, 0.75],
            "recall": [0.3333333333333333, 1.0],
        }

    @pytest.mark.parametrize(
        ("precision", "recall", "at_half", "at_fifth"),
        [
            (0.7, 0.7, (0.7, 0.7, 0.7, 0.54), (0.7, 0.7, 0.7, 0.625)),
            (0.5, 0.9, (0.7, 0.64, 0.67, 0.47), (0.58, 0.55, 0.56, 0.49)),
            (0.9, 0.5, (0.7, 0.64, 0.67, 0.47), (0.82, 0.7759, 0.8, 0.66)),
        ],
    )
    def test_table_1_of_hanczar_and_nadif(self, precision, recall, at_half, at_fifth):
        """To its printed digits; F for (.9, .5) at .2 is .7759, printed as .77."""
        whole = answered({"counts": _counts(precision, recall), "at_lambda": [0.5, 0.2]})
        for index, half, fifth in zip(INDICES, at_half, at_fifth, strict=True):
            assert whole["tradeoffs"][index]["at"]["value"] == pytest.approx([half, fifth], abs=0.005)

    def test_f_beta_is_the_f_measure_at_its_lambda(self):
        """F-beta = (1 + beta^2) p r / (beta^2 p + r), for beta 1/2, 1 and 2."""
        reading = tradeoff({"counts": _counts(0.75, 0.5), "at_lambda": [0.2, 0.5, 0.8]})["at"]
        expected = [(1 + b) * 0.75 * 0.5 / (b * 0.75 + 0.5) for b in (0.25, 1, 4)]
        assert reading["value"] == pytest.approx(expected, rel=1e-15)

    @pytest.mark.parametrize("index", INDICES)
    @pytest.mark.parametrize("span", [[0, 1], [0.25, 0.75], [0.4999, 0.5001], [0.9, 1]])
    def test_intervals_tile_the_range_to_the_bit(self, index, span):
        counts = {"tp": [2, 9, 14, 17, 19], "fp": [0, 2, 9, 25, 70], "positives": 20, "negatives": 90}
        optimal = tradeoff({"counts": counts, "lambda_range": span}, index)["optimal"]
        starts, ends = optimal["lambda_from"], optimal["lambda_to"]
        assert [starts[0], ends[-1]] == span
        assert starts[1:] == ends[:-1]
        assert all(start < end for start, end in zip(starts, ends, strict=True))
        rows = list(zip(optimal["tp"], optimal["fp"], strict=True))
        assert all(row != other for row, other in pairwise(rows))

    def test_a_range_cuts_intervals_and_not_readings(self):
        whole = tradeoff(SAMPLE | {"at_lambda": [0, 0.9]})
        part = tradeoff(SAMPLE | {"at_lambda": [0, 0.9], "lambda_range": [0.1, 0.5]})
        assert part["at"] == whole["at"]
        assert part["optimal"]["lambda_from"] == [0.1, *whole["optimal"]["lambda_from"][1:]]
        assert part["optimal"]["lambda_to"] == [*whole["optimal"]["lambda_to"][:-1], 0.5]

    @pytest.mark.parametrize("index", INDICES)
    def test_the_mean_over_a_range_is_that_of_its_parts(self, index):
        areas = [
            tradeoff({"counts": NO_SWEEP, "lambda_range": span}, index)["area"]
            for span in ([0, 0.25], [0.25, 1], [0, 1])
        ]
        assert 0.25 * areas[0] + 0.75 * areas[1] == pytest.approx(areas[2], rel=1e-12)

    def test_areas_by_hand(self):
        """Kulczynski is linear: from 1 to 9/11 on [0, 3/11], then to 1."""
        by_hand = (1 + 9 / 11) / 2 * 3 / 11 + (9 / 11 + 1) / 2 * 8 / 11
        assert tradeoff(SAMPLE, "kulczynski")["area"] == pytest.approx(by_hand, rel=1e-12)

    def test_a_density_moves_the_mean(self):
        """A line from y to z over a range has the mean y/3 + 2 z/3 if the density rises linearly from 0."""
        body = {"counts": _counts(0.5, 0.25), "lambda_range": [0, 0.5], "min_precision": 0.5}
        row = [0.5, 0.375]
        assert tradeoff(body, "kulczynski")["area"] == pytest.approx(sum(row) / 2, rel=1e-12)
        flat = tradeoff(body | {"lambda_density": {"a": 1, "b": 1}}, "kulczynski")
        assert flat["area"] == pytest.approx(sum(row) / 2, rel=1e-12)
        rising = tradeoff(body | {"lambda_density": {"a": 2, "b": 1}}, "kulczynski")
        assert rising["area"] == pytest.approx(row[0] / 3 + row[1] * 2 / 3, rel=1e-12)
        assert rising["optimal"] == flat["optimal"]

    def test_a_perfect_classifier_is_best_everywhere(self):
        body = {"scores": [1, 0], "labels": [1, 0], "lambda_density": {"a": 0.01, "b": 1000}}
        for one in answered(body)["tradeoffs"].values():
            assert one["area"] == 1
            assert one["optimal"]["threshold"] == [1.0]

    @pytest.mark.parametrize(
        ("span", "expected"), [([0, 1], 0.9), ([0, 0.95], 0.9), ([0.95, 1], 0.95), ([0.2, 0.5], None)]
    )
    def test_uninformative_from_is_where_the_last_interval_starts(self, span, expected):
        one = tradeoff({"counts": NO_SWEEP, "lambda_range": span}, "jaccard")
        assert one["uninformative_from"] == (None if expected is None else pytest.approx(expected, rel=1e-12))
        assert one["uninformative_from"] in {None, one["optimal"]["lambda_from"][-1]}
        assert (one["optimal"]["tp"][-1] == 10) == (expected is not None)

    def test_a_row_like_the_all_positive_one_in_recall_alone_is_informative(self):
        assert tradeoff(SAMPLE)["uninformative_from"] is None

    def test_bounds_are_inclusive_and_meant_as_they_are_shown(self):
        """5/6 is rounded up and 2/3 down: the doubles are their own bounds, and numbers between are beyond them."""
        for tp, fp, shown in ((5, 1, 0.8333333333333334), (4, 2, 0.6666666666666666)):
            counts = {"tp": [tp], "fp": [fp], "positives": 6, "negatives": 60}
            body = {"counts": counts, "min_precision": shown, "min_recall": tp / 6}
            assert tradeoff(body)["optimal"]["tp"] == [tp]
            above = shown + 2**-53
            assert refusals(body | {"min_precision": above}) == [("/min_precision", "no_row_meets")]
            assert tradeoff(body | {"min_recall": tp / 6 + 2**-53, "min_precision": 0})["optimal"]["tp"] == [6]

    def test_the_ends_of_the_bounds(self):
        assert ask(SAMPLE | {"min_precision": 0, "min_recall": 0}).body == ask(SAMPLE).body
        assert tradeoff(SAMPLE | {"min_recall": 1})["optimal"]["threshold"] == [0.7]
        assert tradeoff(SAMPLE | {"min_precision": 1})["optimal"]["threshold"] == [0.9]

    def test_readings_come_in_the_order_given(self):
        reading = tradeoff(SAMPLE | {"at_lambda": [1, 0, 0.5, 0]}, "kulczynski")["at"]
        assert reading == {
            "at_lambda": [1.0, 0.0, 0.5, 0.0],
            "value": [1.0, 1.0, 0.875, 1.0],
            "threshold": [0.7, 0.9, 0.7, 0.9],
        }

    def test_at_a_shared_breakpoint_the_upper_intervals_row_is_read(self):
        """Precision and recall 1 and 1/4, 1/2 and 3/4, 1/4 and 1: all are 5/8 at 1/2, and the middle row only there."""
        counts = {"threshold": [3, 2, 1], "tp": [1, 3, 4], "fp": [0, 3, 12], "positives": 4, "negatives": 60}
        optimal = tradeoff({"counts": counts}, "kulczynski")["optimal"]
        assert optimal["threshold"] == [3.0, 1.0]
        assert optimal["lambda_from"] == [0.0, pytest.approx(0.5, rel=1e-12)]
        reading = tradeoff({"counts": counts, "at_lambda": optimal["lambda_from"]}, "kulczynski")["at"]
        assert reading["threshold"] == [3.0, 1.0]
        assert reading["value"] == [1.0, pytest.approx(0.625, rel=1e-12)]

    def test_of_equal_rows_the_first_of_the_table_is_named(self):
        counts = {"threshold": [0.3, 0.6, 0.5], "tp": [2, 2, 2], "fp": [1, 1, 1], "positives": 3, "negatives": 9}
        body = {"counts": counts, "lambda_range": [0, 0.5]}
        assert tradeoff(body)["optimal"]["threshold"] == [0.6]
        assert tradeoff(body | {"lower_is_positive": True})["optimal"]["threshold"] == [0.3]
        del counts["threshold"]
        assert tradeoff(body)["optimal"]["threshold"] == [None]

    def test_a_set_of_classifiers_is_as_good_as_a_sweep(self):
        whole = answered({"counts": NO_SWEEP, "indices": ["kulczynski"]})
        assert whole["warnings"] == []
        assert whole["tradeoffs"]["kulczynski"]["optimal"]["tp"] == [6, 9, 10]

    def test_minus_zero_is_zero(self):
        body = {"scores": [1, -0.0, 0.0], "labels": [0, 1, 1], "lambda_range": [-0.0, 1], "at_lambda": [-0.0]}
        result = ask(body | {"min_precision": -0.0, "min_recall": -0.0})
        assert result.status == 200
        assert b"-0" not in result.body
        assert b"-0" not in ask(body, accept="text/csv").body
        assert tradeoff(body)["optimal"]["threshold"] == [0.0]

    def test_lower_is_positive(self):
        turned = SAMPLE | {"scores": [-score for score in SAMPLE["scores"]], "lower_is_positive": True}
        expected = tradeoff(SAMPLE)
        found = tradeoff(turned)
        thresholds = found["optimal"].pop("threshold")
        assert [-threshold for threshold in thresholds] == expected["optimal"].pop("threshold")
        assert found == expected

    def test_a_weight_is_a_repetition(self):
        weighted = SAMPLE | {"weights": [2, 1, 1, 1, 3, 0]}
        repeated = {"scores": [0.9, 0.9, 0.8, 0.7, 0.7, 0.4, 0.4, 0.4], "labels": [1, 1, 0, 1, 1, 0, 0, 0]}
        assert ask(weighted).body == ask(repeated).body
        halved = SAMPLE | {"weights": [1, 0.5, 0.5, 0.5, 1.5, 0]}
        assert tradeoff(halved)["optimal"]["tp"] == [1.0, 2.0]
        assert tradeoff(halved)["area"] == pytest.approx(tradeoff(weighted)["area"], rel=1e-12)
