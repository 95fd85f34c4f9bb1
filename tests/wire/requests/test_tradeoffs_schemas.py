"""The checked request for trade-offs."""

from service.curves.density import BetaDensity
from service.wire.requests.tradeoffs_schemas import TradeoffsRequestSchema

SAMPLE = {"scores": [0.9, 0.7, 0.7, 0.5], "labels": [1, 0, 1, 0]}


def test_options_are_plain_numbers_whatever_columns_are():
    given = {"indices": ["jaccard"], "min_recall": 1, "lambda_range": [0, 0.5], "lambda_density": {"a": 2, "b": 3}}
    options = TradeoffsRequestSchema().load(SAMPLE | given).options
    assert (options.indices, options.min_precision, options.min_recall) == ({"jaccard"}, 0.0, 1.0)
    assert options.lambda_range == (0.0, 0.5)
    assert options.lambda_density == BetaDensity(2, 3)
    assert options.at_lambda is None
