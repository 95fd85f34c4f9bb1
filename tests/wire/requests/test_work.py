"""The estimated work of a request: everything that costs time is counted, and nothing else."""

import pytest

from service.operations import OPERATIONS
from service.settings import Settings
from service.wire.requests.curves_schemas import MOST_PARTIAL, MOST_PREVALENCES
from service.wire.requests.gates_schemas import MOST_RULES
from service.wire.requests.interval_schemas import MOST_OPERATING_POINTS
from tests.support.costs.tables import counts, sample

BIG = Settings().big_work
ROC = {"metric": "roc", "min": 0.5}
DROP = {"metric": "tpr_at_fpr", "at": 0.1, "max_drop": 0.1, "confidence": 0.9}
AT = {"metric": "precision", "at_threshold": 0.5, "min": 0.1}
SPLIT = {"metric": "precision", "at_threshold": 0.5, "max_drop": 0.1, "confidence": 0.9}
INDEX = {"metric": "f_measure", "at": 0.5, "min": 0.5}


def work(operation, *parts):
    document = {}
    for part in parts:
        document |= part
    return OPERATIONS[operation].schema.load(document).work


def curves(*parts):
    return work("curves", *parts)


def gate(*rules, **options):
    pair = sample(1000) | {"baseline": sample(1000, seed=2) | {"labels": sample(1000)["labels"]}}
    return work("gates", pair, {"rules": list(rules)}, options)


@pytest.mark.parametrize("include", ["auc", "points", "interpolated_pr", "achievable_pr"])
def test_each_part_of_the_curves_is_work(include):
    rest = [name for name in ("auc", "points", "interpolated_pr", "achievable_pr") if name != include]
    least = 0 if include == "auc" else 2500  # the work of a row is that of the areas
    assert curves(sample(1000)) - curves(sample(1000), {"include": rest}) >= least


def test_rows_that_only_a_cut_table_has_are_work():
    few, auc = sample(4), {"include": ["points"]}
    assert curves(few, auc, {"thresholds": [at / 9000 for at in range(9000)]}) > BIG
    assert curves(few, auc, {"tuning": sample(9000)}) > BIG
    assert curves(sample(9000), auc, {"thresholds": [0.5]}) < BIG


@pytest.mark.parametrize(
    ("totals", "steps", "is_big"),
    [
        ((1900, 10**15), {}, True),
        ((1900, 10**9), {}, False),
        ((1900, 10**15), {"every": 1}, True),
        ((1900.5, 10**15), {}, False),
        ((10**15, 10**15), {"every": 10**12}, True),
        ((10**15, 10**15), {"every": 2 * 10**12}, False),
        ((1000, 1000), {"every": 0.5}, True),
        ((1000, 1000), {"every": 0.5**40}, True),
        ((3000, 1000), {"every": 1}, False),
        ((4000, 1000), {"every": 1}, True),
        ((1e150, 1e150), {"every": 1e-300}, True),
        ((1000, 1000), {"at_recall": [0.5] * 600}, False),
        ((1000, 1000), {"at_recall": [0.5] * 700}, True),
    ],
)
def test_points_are_work_and_more_so_where_they_are_rational(totals, steps, is_big):
    """Their number depends on the totals: a table of one row may have thousands."""
    table = counts([1], [3], *totals)
    assert (curves(table, {"interpolation": steps} if steps else {}) > BIG) == is_big


def test_the_default_interpolation_lists_all_rows_of_few_positives():
    one = {"include": ["interpolated_pr"]}
    assert curves(counts([1000] * 9000, range(9000), 1000, 9000), one) > BIG
    assert curves(counts([1001] * 9000, range(9000), 1001, 9000), one) < BIG


def test_reading_points_is_work():
    auc, point = {"include": ["auc"]}, {"metric": "tpr_at_fpr", "at": 0.5}
    few, many = ({"operating_points": [point] * size} for size in (100, MOST_OPERATING_POINTS))
    assert curves(sample(4), auc, few) < BIG < curves(sample(4), auc, many)
    assert work("tradeoffs", sample(4), {"at_lambda": [0.5] * 2000}) < BIG
    assert work("tradeoffs", sample(4), {"at_lambda": [0.5] * 4000}) > BIG
    assert work("tradeoffs", sample(4), {"at_lambda": [0.5] * 4000, "indices": ["jaccard"]}) < BIG


def test_parts_of_curves_are_work():
    auc, part = {"include": ["auc"]}, {"over": "fpr", "to": 0.5}
    one, many = ({"partial": [part] * size} for size in (1, MOST_PARTIAL))
    assert curves(sample(4), auc, one) < BIG < curves(sample(4), auc, many)
    assert curves(sample(10_000), auc, {"partial": [part] * 10}) > curves(sample(4), auc, {"partial": [part] * 10})


def test_costs_are_work():
    auc, one, many = {"include": ["auc"]}, [0.5], [0.5] * MOST_PREVALENCES
    assert (
        curves(sample(4), auc, {"costs": {"prevalence": one}})
        < BIG
        < curves(sample(4), auc, {"costs": {"prevalence": many}})
    )


@pytest.mark.parametrize("method", ["bootstrap", "bca"])
def test_resamples_are_work(method):
    auc = {"include": ["auc"]}

    def how(resamples):
        return {"intervals": {"method": method, "resamples": resamples}}

    plain = curves(sample(1000), auc, {"intervals": {"method": "auto", "resamples": 10_000}})
    assert plain < 1000
    assert curves(sample(1000), auc, how(10_000)) > 50 * BIG
    assert curves(sample(6), auc, how(1000)) < BIG < curves(sample(100), auc, how(10_000))
    # From counts, as many examples are drawn as there are or, by kind, as many kinds.
    crowded, whole = counts(range(9), range(9), 250, 250), counts(range(9), range(9), 10**15, 10**15)
    assert curves(crowded, auc, how(1000)) > 1.5 * curves(whole, auc, how(1000)) > 1000


def test_the_jackknife_is_work():
    few = {"include": ["auc"], "intervals": {"method": "bootstrap", "resamples": 100, "level": 0.9}}
    bca = {"include": ["auc"], "intervals": {"method": "bca", "resamples": 100, "level": 0.9}}
    assert curves(sample(1000), bca) > 10 * curves(sample(1000), few)


def evaluations(number, rows, name="model {}"):
    return {"evaluations": [{"name": name.format(each)} | sample(rows) for each in range(number)]}


def test_every_pair_of_evaluations_is_work():
    assert work("comparisons", evaluations(2, 1000)) < BIG / 4
    assert work("comparisons", evaluations(10, 100)) < BIG < work("comparisons", evaluations(10, 500))
    assert work("comparisons", evaluations(30, 2)) > BIG


def test_long_names_are_work():
    """The answer has both names for every ordered pair."""
    long = "{}" + "\N{GRINNING FACE}" * 98
    assert work("comparisons", evaluations(10, 2, long)) > work("comparisons", evaluations(10, 2)) + 1500


class TestGates:
    def test_rules_are_work(self):
        assert gate(ROC) < gate(ROC, ROC) < gate(ROC, AT) < gate(ROC, INDEX)
        assert gate(*[ROC] * MOST_RULES) < BIG
        indices = [INDEX | {"at": at / 100} for at in range(20)]
        assert gate(*indices) > BIG > gate(*[INDEX] * 20)  # one reading of each place

    def test_rows_of_both_are_work(self):
        alone = gate(ROC)
        assert gate(ROC, baseline=sample(3000)) > alone + 400
        curve = [{"metric": "tpr_at_fpr", "at": at / 100, "min": 0.1} for at in range(30)]
        assert gate(*curve, baseline=sample(9000)) > gate(*curve) + 30 * 200

    def test_intervals_are_work(self):
        assert gate(AT | {"confidence": 0.9}) > gate(AT)
        assert gate(AT, intervals={}) == gate(AT | {"confidence": 0.9})

    def test_resamples_are_work_where_they_are_drawn(self):
        few, many = (gate(DROP, intervals={"resamples": resamples}) for resamples in (100, 10_000))
        assert many > 50 * few > 5 * gate(ROC)
        assert gate(DROP) > BIG
        assert gate(ROC, intervals={"resamples": 10_000}) == gate(ROC, intervals={})
        curve = {"metric": "tpr_at_fpr", "at": 0.5, "max_drop": 0.1}
        how = {"resamples": 100, "level": 0.9, "method": "bootstrap"}
        assert gate(DROP, curve, intervals=how) > gate(DROP, intervals=how) + 2 * 100 * 30
        assert gate(DROP, DROP, intervals=how) < gate(DROP, intervals=how) + 500  # drawn once
        levels = [DROP | {"confidence": 0.9 + step / 1000} for step in range(50)]
        assert gate(*levels, intervals={"resamples": 1000}) > gate(DROP, intervals={"resamples": 1000}) + 50 * 200

    def test_what_two_paired_shares_make_is_work(self):
        recall = SPLIT | {"metric": "recall"}
        assert gate(SPLIT, paired=True) > BIG > gate(recall, paired=True)
        assert gate(SPLIT, SPLIT, paired=True) < gate(SPLIT, paired=True) + 1000  # one interval for both
        assert gate(SPLIT, SPLIT | {"confidence": 0.8}, paired=True) > 1.5 * gate(SPLIT, paired=True)
        assert gate(SPLIT, paired=False) < BIG
        drop = {name: value for name, value in SPLIT.items() if name != "confidence"}
        assert gate(drop, paired=True) < BIG < gate(drop, paired=True, intervals={})
