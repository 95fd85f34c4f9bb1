"""Small and big requests with their correct answers."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import orjson

from tests.support.asking import ask


@dataclass(frozen=True)
class Question:
    """A JSON body for /v1/curves and its answer, byte by byte."""

    body: bytes
    answer: bytes


@cache
def question(rows: int, *include: str, seed: int = 5) -> Question:
    """A sample of distinct scores; without `include`, the request asks for everything."""
    document = {"scores": None, "labels": None} | ({"include": include} if include else {})
    random = np.random.default_rng(seed)
    scores = random.random(rows)
    document["scores"] = scores
    document["labels"] = (random.random(rows) < scores).astype(np.int64)
    body = orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)
    right = ask("curves", body)
    assert right.status == 200, right.body
    return Question(body, right.body)


def small(seed: int = 5) -> Question:
    """The call of 50 rows that must not be affected by other requests."""
    return question(50, seed=seed)
