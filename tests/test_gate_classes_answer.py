"""Gates of several classes from bytes to bytes: against single samples, against /v1/classes, and by slow formulas."""

import json
import math
from functools import partial
from itertools import permutations, product

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm, studentized_range

from service.wire.media_types import PARQUET
from tests.properties.bodies import parquet_body
from tests.support.asking import answered, ask, errors, refusals

gate = partial(answered, "gates")
refused = partial(refusals, "gates")

RANDOM = np.random.default_rng(11)
NAMES = ("cat", "dog", "owl")
ROWS = 90
OWN = [NAMES[number] for number in RANDOM.integers(0, 3, ROWS)]
WEIGHTS = [int(number) for number in RANDOM.integers(1, 4, ROWS)]


def scores_of(separation):
    return {name: [round(float(RANDOM.normal()) + separation * (own == name), 1) for own in OWN] for name in NAMES}


NEW, OLD = scores_of(1.6), scores_of(1.3)
BODY = {"scores": NEW, "labels": OWN}
BASELINE = {"scores": OLD, "labels": OWN}
PAIRED = BODY | {"baseline": BASELINE, "paired": True}
AREAS = ("roc", "pr", "average_precision")


def one(rule, body=BODY, **more):
    """The check of one rule."""
    return gate(body | {"rules": [rule]} | more)["checks"][0]


def alone(name, scores=NEW, **more):
    """A class against the rest, as a sample."""
    return {"scores": scores[name], "labels": [int(own == name) for own in OWN]} | more


class TestClasses:
    @pytest.mark.parametrize(
        "rule",
        [
            {"metric": "roc", "min": 0.5},
            {"metric": "average_precision", "min": 0.5},
            {"metric": "gini", "min": 0.2},
            {"metric": "recall", "at_threshold": 0.5, "max": 0.9},
            {"metric": "f_measure", "at": 0.3, "min": 0.2},
            {"metric": "partial", "over": "fpr", "to": 0.4, "min": 0.1},
        ],
    )
    def test_each_class_has_the_value_of_a_sample_against_the_rest(self, rule):
        found = one(rule | {"classes": "all"})["slices"]
        assert found["class"] == [*NAMES]
        assert found["value"] == [gate(alone(name) | {"rules": [rule]})["checks"][0]["value"] for name in NAMES]

    @pytest.mark.parametrize(
        "rule", [{"metric": "roc", "min": 0.7}, {"metric": "recall", "at_threshold": 0.5, "min": 0.5}]
    )
    def test_the_ends_are_those_of_a_class_alone_and_at_bonferronis_level(self, rule):
        """The unfavourable end is at the level; the other one at 1 - (1 - level)/K, so it is farther."""
        check = one(rule | {"classes": "all", "confidence": 0.9})
        singles = [gate(alone(name) | {"rules": [rule | {"confidence": 0.9}]})["checks"][0] for name in NAMES]
        assert check["slices"]["lower"] == [each["interval"]["lower"] for each in singles]
        for ours, single in zip(check["slices"]["upper"], singles, strict=True):
            assert ours > single["interval"]["upper"]
        assert check["interval"]["lower"] == min(check["slices"]["lower"])
        assert check["interval"]["upper"] == min(check["slices"]["upper"])

    def test_one_class_alone_is_judged_as_its_sample(self):
        rule = {"metric": "average_precision", "min": 0.7, "confidence": 0.95}
        check = one(rule | {"classes": ["dog"]})
        single = gate(alone("dog") | {"rules": [rule]})["checks"][0]
        assert (check["value"], check["status"]) == (single["value"], single["status"])
        assert check["interval"]["lower"] == single["interval"]["lower"]

    def test_paired_differences_of_each_class(self):
        rule = {"metric": "roc", "max_drop": 0.05, "confidence": 0.9}
        check = one(rule | {"classes": ["owl", "cat"]}, PAIRED)
        assert check["slices"]["class"] == ["cat", "owl"]
        for place, name in enumerate(("cat", "owl")):
            single = alone(name, baseline=alone(name, OLD), paired=True)
            of_one = gate(single | {"rules": [rule]})["checks"][0]
            assert check["slices"]["lower"][place] == of_one["interval"]["lower"]
            assert check["slices"]["difference"][place] == of_one["difference"]

    def test_the_highest_score_decides_as_in_classes(self):
        found = answered("classes", BODY | {"decide": "highest", "metrics": ["recall", "precision", "mcc"]})
        for metric in ("recall", "precision", "mcc"):
            check = one({"metric": metric, "decide": "highest", "classes": "all", "min": 0})
            assert check["slices"]["value"] == pytest.approx(found["classes"][metric], rel=1e-12)

    def test_rows_that_tie_are_split_and_have_no_interval(self):
        """Scores have one decimal, so some tie."""
        confusion = answered("classes", BODY | {"decide": "highest"})
        assert "tied_decisions" in {each["code"] for each in confusion["warnings"]}
        rule = {"metric": "recall", "decide": "highest", "classes": "all", "min": 0.1, "confidence": 0.9}
        body = gate(BODY | {"rules": [rule]})
        assert body["status"] == "undecided"
        assert "interval_omitted" in {each["code"] for each in body["warnings"]}

    def test_without_ties_the_highest_score_is_a_proportion(self):
        """Recall of a class is k of n of its rows, with Wilson's interval."""
        scores = {name: [each + place / 1000 for each in NEW[name]] for place, name in enumerate(NAMES)}
        rule = {"metric": "recall", "decide": "highest", "classes": ["cat"], "min": 0.1, "confidence": 0.9}
        check = one(rule, {"scores": scores, "labels": OWN})
        n = OWN.count("cat")
        k = sum(
            own == "cat" and scores["cat"][row] == max(scores[name][row] for name in NAMES)
            for row, own in enumerate(OWN)
        )
        z, p = norm.ppf(0.95), k / n
        middle, reach = (p + z * z / 2 / n), z * math.sqrt(p * (1 - p) / n + z * z / 4 / n / n)
        assert check["value"] == pytest.approx(p, rel=1e-15)
        assert check["interval"]["lower"] == pytest.approx((middle - reach) / (1 + z * z / n), rel=1e-9)

    def test_a_gap_between_classes(self):
        body = gate(BODY | {"rules": [{"metric": "roc", "classes": "all", "max_gap": 0.01}]})
        values = [gate(alone(name) | {"rules": [{"metric": "roc", "min": 0}]})["checks"][0]["value"] for name in NAMES]
        assert body["checks"][0]["value"] == max(values) - min(values)
        assert [each["code"] for each in body["warnings"]] == ["inflated_gap"]

    def test_a_class_without_rows_is_skipped(self):
        more = {"scores": NEW | {"emu": [0.0] * ROWS}, "labels": OWN}
        body = gate(more | {"rules": [{"metric": "roc", "classes": "all", "min": 0}]})
        (check,) = body["checks"]
        assert check["slices"]["status"] == ["met", "met", "met", "skipped"]
        assert check["slices"]["reason"][-1] == "one_class"
        assert "skipped_slices" in {each["code"] for each in body["warnings"]}

    def test_several_labels_a_row(self):
        members = {name: [int(own == name or row % 7 == 0) for row, own in enumerate(OWN)] for name in NAMES}
        rule = {"metric": "roc", "min": 0.5, "confidence": 0.9}
        check = one(rule | {"classes": "all"}, {"scores": NEW, "labels": members})
        singles = [gate({"scores": NEW[n], "labels": members[n], "rules": [rule]})["checks"][0] for n in NAMES]
        assert check["slices"]["lower"] == [each["interval"]["lower"] for each in singles]


def moves(area, scores, labels, weights):
    """v_i of each row, by the definition: a derivative of the weighted area by the weight of the row.

    Numeric, by an area that is counted pair by pair, or example by example.
    """
    found = []
    for row in range(len(labels)):
        step = 1e-5
        ends = []
        for sign in (1, -1):
            changed = [*weights]
            changed[row] += sign * step
            ends.append(area(scores, labels, changed))
        found.append((ends[0] - ends[1]) / (2 * step) * weights[row])
    return np.array(found)


def roc(scores, labels, weights):
    """Pairs of a positive and a negative, ties as one half."""
    scores, labels, weights = (np.asarray(each, float) for each in (scores, labels, weights))
    ours, theirs = scores[labels == 1], scores[labels == 0]
    won = (ours[:, None] > theirs) + 0.5 * (ours[:, None] == theirs)
    masses = weights[labels == 1][:, None] * weights[labels == 0]
    return float((won * masses).sum() / masses.sum())


def average_precision(scores, labels, weights):
    """Σ over the positives of the precision among all that score as high."""
    scores, labels, weights = (np.asarray(each, float) for each in (scores, labels, weights))
    of = labels == 1
    found = 0.0
    for score, weight in zip(scores[of], weights[of], strict=True):
        above = scores >= score
        found += weight * weights[above & of].sum() / weights[above].sum()
    return found / weights[of].sum()


def average_moves(area, scores, average, weights):
    """V_i of each row: the sum of its moves of all classes, by the average's weights; of micro, those of its K rows."""
    if average == "micro":
        pooled = [each for name in NAMES for each in scores[name]]
        labels = [int(own == name) for name in NAMES for own in OWN]
        return moves(area, pooled, labels, [*weights] * 3).reshape(3, -1).sum(axis=0)
    masses = {name: sum(w for own, w in zip(OWN, weights, strict=True) if own == name) for name in NAMES}
    parts = {name: 1 / 3 if average == "macro" else masses[name] / sum(weights) for name in NAMES}
    return sum(parts[name] * moves(area, scores[name], [int(own == name) for own in OWN], weights) for name in NAMES)


def spread(by, weights):
    """var = Σ_c m/(m - 1) Σ (V - w V̄_c)², with V̄_c the mean by weight within class c; and m and the jump."""
    variance, sizes, apart = 0.0, [], []
    for name in NAMES:
        rows = [row for row, own in enumerate(OWN) if own == name]
        w = np.array([weights[row] for row in rows], float)
        m = w.sum() ** 2 / (w**2).sum()
        centred = by[rows] - w * by[rows].sum() / w.sum()
        variance += m / (m - 1) * (centred**2).sum()
        sizes.append(m)
        apart += centred.tolist()
    apart = np.abs(apart)
    return math.sqrt(variance), min(sizes), (apart**3).sum() / (apart**2).sum()


class TestAverages:
    @pytest.mark.parametrize(("metric", "average"), [*product(AREAS, ("macro", "weighted", "micro"))])
    def test_values_and_intervals_are_those_of_classes(self, metric, average):
        found = answered("classes", BODY | {"intervals": {"level": 0.9}})["averages"]
        place = found["average"].index(average)
        check = one({"metric": metric, "average": average, "min": 0.5, "confidence": 0.9})
        assert check["value"] == found[metric][place]
        ends = [check["interval"][end] for end in ("lower", "upper")]
        assert ends == [found[f"{metric}_{end}"][place] for end in ("lower", "upper")]

    @pytest.mark.parametrize("weights", [[1] * ROWS, WEIGHTS])
    @pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
    @pytest.mark.parametrize(("metric", "area"), [("roc", roc), ("average_precision", average_precision)])
    def test_the_error_is_that_of_a_rows_moves_of_all_classes(self, metric, area, average, weights):
        body = BODY | {"weights": weights}
        check = one({"metric": metric, "average": average, "min": 0.5, "confidence": 0.9}, body)
        error, _, _ = spread(average_moves(area, NEW, average, weights), weights)
        assert check["interval"]["standard_error"] == pytest.approx(error, rel=2e-4)

    @pytest.mark.parametrize("share", [0.0, 0.1])
    @pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
    @pytest.mark.parametrize(("metric", "area"), [("roc", roc), ("average_precision", average_precision)])
    def test_the_interval_of_a_paired_difference(self, metric, area, average, share):
        """MOVER on probit intervals, or d ± x with x² = z²(SE² + J x/2), whichever end is farther."""
        rule = {"metric": metric, "average": average, "max_relative_drop": share, "confidence": 0.9}
        check = one(rule, PAIRED)
        ones, kept = [1] * ROWS, 1 - share
        by = [average_moves(area, scores, average, ones) for scores in (NEW, OLD)]
        (ea, m, _), (eb, _, _) = (spread(each, ones) for each in by)
        error, _, jump = spread(by[0] - kept * by[1], ones)
        z = norm.ppf(0.95)
        z += (z**3 + z) / 4 / (m - 1)
        a, b = check["value"], check["baseline"]
        ends = []
        for value, each in ((a, ea), (b, eb)):
            at = norm.ppf(value)
            ends.append([norm.cdf(at + sign * z * each / norm.pdf(at)) for sign in (-1, 1)])
        x, y = a - ends[0][0], kept * (ends[1][1] - b)
        shared = ea**2 + (kept * eb) ** 2 - error**2
        correlation = shared / (2 * ea * kept * eb)
        down = math.sqrt(x * x + y * y - 2 * correlation * x * y)
        half = z * z * jump / 4
        reach = half + math.sqrt(half * half + z * z * error**2)
        assert check["interval"]["standard_error"] == pytest.approx(error, rel=1e-3)
        assert check["interval"]["lower"] == pytest.approx(a - kept * b - max(down, reach), abs=2e-4)

    @pytest.mark.parametrize("method", ["auto", "delong"])
    def test_the_p_value_is_that_of_the_interval_that_ends_at_0(self, method):
        rule = {"metric": "roc", "average": "macro", "max_drop": 0.5, "confidence": 0.9}
        check = one(rule, PAIRED | {"intervals": {"method": method}})
        p = check["p_value"]
        assert 0 < p < 1
        at_p = one(rule | {"confidence": 1 - p}, PAIRED | {"intervals": {"method": method}})
        assert min(abs(at_p["interval"]["lower"]), abs(at_p["interval"]["upper"])) < 1e-9
        same = PAIRED | {"baseline": BODY, "intervals": {"method": method}}
        assert (one(rule, same)["p_value"], one(rule, same)["difference"]) == (1.0, 0.0)

    def test_averages_of_1(self):
        """The intervals of both are combined."""
        best = {name: [float(own == name) for own in OWN] for name in NAMES}
        body = {"scores": best, "labels": OWN, "baseline": BASELINE, "paired": True}
        for metric in ("roc", "average_precision"):
            check = one({"metric": metric, "average": "macro", "max_drop": 0.5, "confidence": 0.9}, body)
            assert (check["value"], check["interval"]["method"]) == (1.0, "exact")
            assert check["interval"]["lower"] < check["difference"] <= check["interval"]["upper"]
            assert 0 < check["p_value"] < 1

    def test_a_difference_without_pairs(self):
        rule = {"metric": "roc", "average": "macro", "max_drop": 0.1, "confidence": 0.9}
        check = one(rule, PAIRED | {"paired": False})
        errors_of_both = [spread(average_moves(roc, each, "macro", [1] * ROWS), [1] * ROWS)[0] for each in (NEW, OLD)]
        assert check["interval"]["standard_error"] == pytest.approx(math.hypot(*errors_of_both), rel=2e-4)

    def test_numbers_of_all_classes_together(self):
        body = BODY | {"decide": "highest", "metrics": ["f1"]}
        found = answered("classes", body)
        for metric in ("accuracy", "balanced_accuracy", "kappa", "mcc"):
            check = one({"metric": metric, "average": "overall", "decide": "highest", "min": 0})
            assert check["value"] == found["overall"][metric]
        assert one({"metric": "roc", "average": "hand_till", "min": 0})["value"] == found["hand_till"]
        for place, average in enumerate(("macro", "weighted", "micro")):
            check = one({"metric": "f1", "average": average, "decide": "highest", "min": 0})
            assert check["value"] == found["averages"]["f1"][place]
            at = answered("classes", BODY | {"at_threshold": 0.8})["averages"]["recall"][place]
            assert one({"metric": "recall", "average": average, "at_threshold": 0.8, "min": 0})["value"] == at

    def test_log_loss_needs_probabilities(self):
        assert one({"metric": "log_loss", "average": "overall", "max": 9})["status"] == "undecided"
        shares = {name: [0.5 if own == name else 0.25 for own in OWN] for name in NAMES}
        check = one({"metric": "log_loss", "average": "overall", "max": 0.5}, {"scores": shares, "labels": OWN})
        assert check["value"] == pytest.approx(math.log(2), rel=1e-15)
        assert check["reason"] == "overall log_loss is 0.6931, above max 0.5."

    def test_clusters_widen(self):
        rule = {"metric": "roc", "average": "macro", "min": 0.5, "confidence": 0.9}
        doubled = {
            "scores": {name: [*column, *column] for name, column in NEW.items()},
            "labels": [*OWN, *OWN],
            "clusters": [*range(ROWS), *range(ROWS)],
        }
        plain, twice = one(rule), gate(doubled | {"rules": [rule]})
        assert twice["clusters"] == {"count": ROWS, "with_positives": ROWS, "with_negatives": ROWS, "largest": 2}
        interval = twice["checks"][0]["interval"]
        assert interval["standard_error"] == pytest.approx(plain["interval"]["standard_error"], rel=1e-9)
        assert interval["design_effect"] > 1.9

    def test_an_average_with_too_few_rows_is_undecided(self):
        body = {"scores": {name: column[:4] for name, column in NEW.items()}, "labels": ["cat", "cat", "dog", "owl"]}
        found = gate(body | {"rules": [{"metric": "roc", "average": "macro", "min": 0.1, "confidence": 0.9}]})
        assert (found["status"], found["warnings"][-1]["code"]) == ("undecided", "too_few_examples")

    def test_requested_intervals_of_what_has_none(self):
        found = gate(BODY | {"rules": [{"metric": "roc", "average": "hand_till", "min": 0.1}], "intervals": {}})
        assert found["checks"][0]["interval"] is None
        assert [each["code"] for each in found["warnings"]] == ["interval_omitted"]


def half_of(error, jump, m, level=0.95):
    """x with x² = z²(SE² + J x/2), z(m) for the smallest class."""
    z = norm.ppf((1 + level) / 2)
    z += (z**3 + z) / 4 / (m - 1)
    half = z * z * jump / 4
    return half + math.sqrt(half * half + z * z * error**2)


def mover(values, errors, error, z):
    """The ends of a difference by probit intervals of both and their correlation."""
    ends = []
    for value, each in zip(values, errors, strict=True):
        at = norm.ppf(value)
        ends.append([norm.cdf(at + sign * z * each / norm.pdf(at)) for sign in (-1, 1)])
    (a, b), ((la, ua), (lb, ub)) = values, ends
    correlation = (errors[0] ** 2 + errors[1] ** 2 - error**2) / (2 * errors[0] * errors[1])
    down = math.sqrt((a - la) ** 2 + (ub - b) ** 2 - 2 * correlation * (a - la) * (ub - b))
    up = math.sqrt((ua - a) ** 2 + (b - lb) ** 2 - 2 * correlation * (ua - a) * (b - lb))
    return a - b - down, a - b + up


def gap_of(area, scores, weights):
    """The interval of the gap between all classes at 95 %, pair by ordered pair."""
    upper, lower = -1.0, 0.0
    by = {name: moves(area, scores[name], [int(own == name) for own in OWN], weights) for name in NAMES}
    values = {name: area(scores[name], [int(own == name) for own in OWN], weights) for name in NAMES}
    for one, other in permutations(NAMES, 2):
        error, m, jump = spread(by[one] - by[other], weights)
        errors = [spread(by[name], weights)[0] for name in (one, other)]
        both = values[one], values[other]
        ends = []
        for quantile in (norm.ppf(0.975), studentized_range.ppf(0.975, len(NAMES), np.inf) / math.sqrt(2)):
            z = quantile + (quantile**3 + quantile) / 4 / (m - 1)
            ends.append((*mover(both, errors, error, z), both[0] - both[1] - z * error))
        upper = max(upper, ends[0][1], both[0] - both[1] + half_of(error, jump, m))
        lower = max(lower, min(ends[1][0], ends[1][2]))
    return lower, upper


GAP = {"metric": "roc", "classes": "all", "max_gap": 0.2, "confidence": 0.95}
APART = NEW | {"owl": [-each for each in NEW["owl"]]}
"""Scores of one class are the wrong way round, so its area is far below the others."""


class TestGaps:
    @pytest.mark.parametrize("scores", [NEW, APART])
    @pytest.mark.parametrize("weights", [[1] * ROWS, WEIGHTS])
    @pytest.mark.parametrize(("metric", "area"), [("roc", roc), ("average_precision", average_precision)])
    def test_the_interval_is_that_of_all_pairs(self, metric, area, weights, scores):
        check = one(GAP | {"metric": metric}, {"scores": scores, "labels": OWN, "weights": weights})
        lower, upper = gap_of(area, scores, weights)
        assert check["interval"]["lower"] == pytest.approx(lower, abs=2e-4)
        assert check["interval"]["upper"] == pytest.approx(upper, abs=2e-4)
        assert (lower > 0) == (scores is APART)

    def test_the_verdict(self):
        check = one(GAP, {"scores": APART, "labels": OWN})
        assert check["status"] == "failed"
        assert check["slices"]["status"].count("greatest") == check["slices"]["status"].count("least") == 1
        assert check["value"] > 0.2
        assert check["reason"].startswith("roc of class ")
        assert one(GAP | {"max_gap": 1})["status"] == "passed"
        assert one(GAP | {"max_gap": 0, "inconclusive": "pass"})["status"] == "passed"
        found = one(GAP | {"max_gap": check["interval"]["upper"]}, {"scores": APART, "labels": OWN})
        assert found["status"] == "passed"

    def test_gini_is_twice_roc(self):
        ours, theirs = (one(GAP | {"metric": metric})["interval"] for metric in ("gini", "roc"))
        for end in ("lower", "upper"):
            assert ours[end] == pytest.approx(2 * theirs[end], rel=1e-12)

    @pytest.mark.parametrize("method", ["delong", "logit"])
    def test_methods(self, method):
        body = BODY | {"intervals": {"method": method}}
        check = one(GAP, body)
        assert check["interval"]["method"] == ("delong" if method == "delong" else "mover")
        of_pr = gate(body | {"rules": [GAP | {"metric": "pr"}]})
        omitted = method == "delong"
        assert (of_pr["checks"][0]["interval"] is None) == omitted
        assert ("interval_omitted" in {each["code"] for each in of_pr["warnings"]}) == omitted

    def test_classes_with_an_area_of_1_prove_no_gap(self):
        best = NEW | {"cat": [float(own == "cat") for own in OWN]}
        body = {"scores": best, "labels": OWN}
        for metric in ("roc", "average_precision"):
            (low, value, high) = self._ends(one(GAP | {"metric": metric}, body))
            assert low <= value < high
        perfect = {name: [float(own == name) for own in OWN] for name in NAMES}
        low, value, high = self._ends(one(GAP, {"scores": perfect, "labels": OWN}))
        alone_low = min(one(GAP, {"scores": perfect, "labels": OWN})["slices"]["lower"])
        assert (low, value) == (0, 0)
        assert high == pytest.approx(1 - alone_low)

    @staticmethod
    def _ends(check):
        return check["interval"]["lower"], check["value"], check["interval"]["upper"]

    def test_clusters_of_equal_rows_say_what_one_row_does(self):
        doubled = {
            "scores": {name: [*column, *column] for name, column in NEW.items()},
            "labels": [*OWN, *OWN],
            "clusters": [*range(ROWS), *range(ROWS)],
        }
        plain, twice = self._ends(one(GAP)), self._ends(one(GAP, doubled))
        assert twice == pytest.approx(plain, rel=1e-6)
        less = self._ends(one(GAP, {name: doubled[name] for name in ("scores", "labels")}))
        assert less[2] < plain[2]

    def test_too_few_rows_of_a_class(self):
        """A single row has no spread, although the class itself is only skipped."""
        labels = ["emu", *OWN[1:]]
        body = gate({"scores": NEW | {"emu": NEW["cat"]}, "labels": labels, "rules": [GAP]})
        assert (body["status"], body["checks"][0]["interval"]) == ("undecided", None)
        assert {"too_few_examples", "skipped_slices"} <= {each["code"] for each in body["warnings"]}

    @pytest.mark.parametrize("metric", ["ks", "brier"])
    def test_requested_intervals_of_other_metrics(self, metric):
        scores = {name: [0.9 if own == name else 0.1 * place for own in OWN] for place, name in enumerate(NAMES)}
        rule = {"metric": metric, "classes": "all", "max_gap": 0.5}
        found = gate({"scores": scores, "labels": OWN, "rules": [rule], "intervals": {}})
        assert found["checks"][0]["interval"] is None
        assert "interval_omitted" in {each["code"] for each in found["warnings"]}

    def test_several_labels_a_row_have_none(self):
        members = {name: [int(own == name or row % 7 == 0) for row, own in enumerate(OWN)] for name in NAMES}
        body = {"scores": NEW, "labels": members}
        rule = {"metric": "roc", "classes": "all", "max_gap": 0.5}
        found = gate(body | {"rules": [rule], "intervals": {}})
        assert found["checks"][0]["interval"] is None
        assert "interval_omitted" in {each["code"] for each in found["warnings"]}
        assert refused(body | {"rules": [GAP]}) == [("/rules/0/confidence", "exclusive")]


class TestTables:
    RULES = json.dumps([{"metric": "roc", "min": 0.5} | of for of in ({"classes": "all"}, {"average": "macro"})])

    def test_a_table_is_the_same(self):
        columns = {f"p_{name}": column for name, column in NEW.items()} | {"animal": OWN}
        query = {"scores": ",".join(f"{name}=p_{name}" for name in NAMES), "labels": "animal", "rules": self.RULES}
        expected = gate(BODY | {"rules": json.loads(self.RULES)})
        assert json.loads(ask("gates", parquet_body(pa.table(columns)), PARQUET, **query).body) == expected
        rows = zip(*columns.values(), strict=True)
        text = "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)])
        assert json.loads(ask("gates", text, "text/csv", **query).body) == expected

    def test_names_with_a_prefix(self):
        columns = {f"p_{name}": column for name, column in NEW.items()} | {"labels": OWN}
        found = json.loads(
            ask("gates", parquet_body(pa.table(columns)), PARQUET, scores="p_cat,p_dog,p_owl", rules=self.RULES).body
        )
        assert found["checks"][0]["slices"]["class"] == [*NAMES]
        assert [each["code"] for each in found["warnings"]] == ["renamed_classes"]

    def test_a_baseline_needs_a_table_of_its_own(self):
        query = {"scores": "cat,dog,owl", "baseline_scores": "cat", "rules": self.RULES}
        body = parquet_body(pa.table({**NEW, "labels": OWN}))
        assert refused(body, content_type=PARQUET, **query) == [("/baseline_scores", "exclusive")]


ROC = {"metric": "roc", "min": 0.5}
HIGHEST = {"decide": "highest", "min": 0}
EXCLUSIVE = "/confidence", "exclusive"
DROPS = {"rules": [{"metric": "roc", "classes": "all", "max_drop": 0.5}]}


@pytest.mark.parametrize(
    ("rule", "pointer", "code"),
    [
        (ROC, "/classes", "missing"),
        (ROC | {"classes": "some"}, "/classes", "not_one_of"),
        (ROC | {"classes": ["cat", "cat"]}, "/classes", "duplicate"),
        (ROC | {"classes": ["cat", "cow"]}, "/classes/1", "unknown_class"),
        (ROC | {"classes": "all", "average": "macro"}, "/average", "exclusive"),
        (ROC | {"classes": "all", "slices": ["x"]}, "/slices", "exclusive"),
        (ROC | {"average": "macro", "slices": ["x"]}, "/slices", "exclusive"),
        (ROC | {"average": "median"}, "/average", "not_one_of"),
        (ROC | {"average": "overall"}, "/average", "exclusive"),
        (ROC | {"average": "hand_till", "confidence": 0.9}, "/confidence", "exclusive"),
        ({"metric": "pr", "average": "hand_till", "min": 0}, "/average", "exclusive"),
        ({"metric": "gini", "average": "macro", "min": 0}, "/average", "exclusive"),
        ({"metric": "accuracy", "average": "overall", "at_threshold": 1, "min": 0}, "/decide", "missing"),
        (HIGHEST | {"metric": "mcc", "average": "overall", "confidence": 0.9}, "/confidence", "exclusive"),
        (HIGHEST | {"metric": "f1", "average": "macro", "confidence": 0.9}, "/confidence", "exclusive"),
        (HIGHEST | {"metric": "f1", "average": "macro", "at_threshold": 1}, "/decide", "exclusive"),
        ({"metric": "recall", "classes": "all", "at_share": 0.1, "min": 0}, "/at_share", "exclusive"),
        ({"metric": "recall", "classes": "all", "best": "f1", "min": 0}, "/best", "exclusive"),
        ({"metric": "ks", "classes": "all", "max_gap": 0.1, "confidence": 0.9}, "/confidence", "exclusive"),
        (HIGHEST | {"metric": "f1", "classes": "all", "min": None, "max_gap": 0.1, "confidence": 0.9}, *EXCLUSIVE),
        ({"metric": "roc", "classes": ["cat"], "max_gap": 0.1}, "/classes", "exclusive"),
        ({"metric": "roc", "average": "macro", "max_gap": 0.1}, "/max_gap", "exclusive"),
        (ROC | {"average": "macro", "confidence": 0.9, "expected": 0.9}, "/expected", "exclusive"),
        (ROC | {"classes": "all", "confidence": 0.9, "expected": 0.9}, "/expected", "exclusive"),
        ({"metric": "roc", "classes": "all", "max_drop": 0.1}, "/max_drop", "missing"),
        (
            {"metric": "tpr_at_fpr", "at": 0.1, "classes": "all", "max_drop": 0.1, "confidence": 0.9},
            "/confidence",
            "exclusive",
        ),
    ],
)
def test_a_rule_that_does_not_go_with_classes(rule, pointer, code):
    assert refused(BODY | {"rules": [rule]}) == [(f"/rules/0{pointer}", code)]


def test_rules_of_classes_need_scores_of_classes():
    body = alone("cat")
    for rule, place in ((ROC | {"classes": "all"}, "classes"), (ROC | {"average": "macro"}, "average")):
        assert refused(body | {"rules": [rule]}) == [(f"/rules/0/{place}", "exclusive")]
        assert refusals("plans", body | {"rules": [rule]}) == [(f"/rules/0/{place}", "exclusive")]
    assert refused(body | {"rules": [ROC | {"decide": "highest"}]}) == [("/rules/0/decide", "exclusive")]


@pytest.mark.parametrize(
    ("rule", "pointer"),
    [
        ({"metric": "recall", "classes": "all", "decide": "highest", "min": 0}, "/decide"),
        (ROC | {"average": "hand_till"}, "/average"),
        (ROC | {"average": "macro", "confidence": 0.9}, "/confidence"),
    ],
)
def test_several_labels_a_row(rule, pointer):
    members = {name: [int(own == name) for own in OWN] for name in NAMES}
    assert refused({"scores": NEW, "labels": members, "rules": [rule]}) == [(f"/rules/0{pointer}", "exclusive")]


class TestBaselines:
    def test_classes_in_another_order(self):
        turned = {"scores": dict(reversed(OLD.items())), "labels": OWN}
        expected = gate(PAIRED | DROPS)
        assert gate(BODY | {"baseline": turned, "paired": True} | DROPS) == expected

    def test_other_classes(self):
        fewer = {"scores": {name: OLD[name] for name in ("cat", "dog")}, "labels": ["cat"] * ROWS}
        assert refused(BODY | {"baseline": fewer} | DROPS) == [("/baseline/scores", "unknown_class")]

    def test_other_labels(self):
        turned = {"scores": OLD, "labels": [*OWN[1:], OWN[0]]}
        row = next(row for row, own in enumerate(OWN) if own != turned["labels"][row])
        wrong = [(f"/baseline/labels/{row}", "not_paired")]
        assert refused(BODY | {"baseline": turned, "paired": True} | DROPS) == wrong
        members = {name: [int(own == name) for own in OWN] for name in NAMES}
        other = {"scores": OLD, "labels": members}
        assert refused(BODY | {"baseline": other, "paired": True} | DROPS) == [("/baseline/labels", "not_paired")]

    def test_other_rows_weights_or_clusters(self):
        fewer = {"scores": {name: column[:-1] for name, column in OLD.items()}, "labels": OWN[:-1]}
        assert refused(BODY | {"baseline": fewer, "paired": True} | DROPS) == [("/paired", "not_paired")]
        heavy = BASELINE | {"weights": [2] * ROWS}
        assert refused(BODY | {"baseline": heavy, "paired": True} | DROPS) == [("/baseline/weights/0", "not_paired")]
        ours, theirs = ["a"] * ROWS, ["b"] * ROWS
        both = BODY | {"clusters": ours, "baseline": BASELINE | {"clusters": theirs}, "paired": True}
        assert refused(both | DROPS) == [("/baseline/clusters/0", "not_paired")]

    def test_clusters_that_may_span_both(self):
        rule = {"metric": "roc", "average": "macro", "max_drop": 0.1, "confidence": 0.9}
        clusters = {"clusters": [row // 2 for row in range(ROWS)]}
        body = BODY | clusters | {"baseline": BASELINE | clusters, "rules": [rule]}
        assert refused(body) == [("/rules/0/confidence", "exclusive")]
        assert gate(body | {"paired": True})["checks"][0]["interval"]["design_effect"] is not None

    def test_a_sample_is_no_baseline_of_classes(self):
        found = errors("gates", BODY | {"baseline": alone("cat")} | DROPS)
        assert found[0]["pointer"].startswith("/baseline/")

    def test_rows_that_look_the_same(self):
        found = gate(BODY | {"baseline": BASELINE} | DROPS)
        assert "maybe_paired" in {each["code"] for each in found["warnings"]}
        other = {"scores": OLD, "labels": [*OWN[1:], OWN[0]]}
        for body in (
            BODY | {"baseline": other},
            PAIRED,
            BODY | {"baseline": {"scores": NEW, "labels": OWN}, "paired": True},
        ):
            assert "maybe_paired" not in {each["code"] for each in gate(body | DROPS)["warnings"]}

    def test_a_number_that_the_baseline_lacks(self):
        shares = {"scores": {name: [0.5 if own == name else 0.25 for own in OWN] for name in NAMES}, "labels": OWN}
        rules = {"rules": [{"metric": "log_loss", "average": "overall", "max": 1}]}
        (check,), (warning,) = (gate(shares | {"baseline": BASELINE} | rules)[name] for name in ("checks", "warnings"))
        assert (check["baseline"], warning["code"]) == (None, "no_baseline")

    def test_without_rules(self):
        assert refused(BODY) == [("/rules", "missing")]
        assert refused(BODY | {"paired": True, "rules": [ROC | {"classes": "all"}]}) == [("/paired", "missing")]


class TestFieldsOfOneClass:
    @pytest.mark.parametrize("name", ["ids", "slices", "positive_label", "counts", "groups"])
    def test_they_are_refused(self, name):
        value = {"ids": [*range(ROWS)], "slices": {"x": OWN}, "positive_label": "cat", "counts": {"tp": [1]}}
        rules = {"rules": [ROC | {"classes": "all"}]}
        assert refused(BODY | rules | {name: value.get(name, "d")}) == [(f"/{name}", "exclusive")]

    def test_absent_ones_are_left_out(self):
        """Java's generated classes send empty lists and maps."""
        empty = {"ids": [], "slices": {}, "where": {}, "counts": None}
        rules = {"rules": [ROC | {"classes": "all"}]}
        assert gate(BODY | rules | empty) == gate(BODY | rules)
