"""The measured rows, as a Parquet file, and their exact areas, computed in an obvious way."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CHUNK = 5_000_000
"""Rows made at a time: memory stays small, and the file depends only on the number of rows."""


def write(path: Path, rows: int) -> None:
    """Write the columns p, a score, and y, whether it is a positive; one in ten is. Hardly any score occurs twice."""
    schema = pa.schema([("p", pa.float64()), ("y", pa.bool_())])
    with pq.ParquetWriter(path, schema, compression="none") as writer:
        for number, start in enumerate(range(0, rows, CHUNK)):
            random = np.random.default_rng([20261123, number])
            size = min(CHUNK, rows - start)
            labels = random.random(size) < 0.1
            logits = random.normal(size=size) + 1.2 * labels - 2
            columns = {"p": 1 / (1 + np.exp(-logits)), "y": labels}
            writer.write_table(pa.table(columns, schema), row_group_size=500_000)


def exact_areas(path: Path) -> dict[str, float]:
    """The ROC area and average precision by their definitions, with ties.

    ROC area: the share of pairs of a positive and a negative that are in order, ties counting one half. Average
    precision: the mean, over all positives, of the precision at their score, added up with more digits than a double
    has.
    """
    table = pq.read_table(path)
    scores, labels = table["p"].to_numpy(), table["y"].to_numpy()
    positives, negatives = np.sort(scores[labels]), np.sort(scores[~labels])
    below, up_to = (np.searchsorted(negatives, positives, side=side) for side in ("left", "right"))
    pairs = int(below.sum()) + int(up_to.sum())
    tp = positives.size - np.searchsorted(positives, positives, side="left")
    fp = negatives.size - below
    return {
        "roc": pairs / (2 * positives.size * negatives.size),
        "average_precision": float(np.mean(tp.astype(np.longdouble) / (tp + fp))),
    }
