"""One server under load, over all rounds."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from tests.tools.bench.load import Measured


@dataclass(frozen=True)
class Throughput:
    """How many requests were answered, and how fast.

    rate, least, most   answers a second: the median of the rounds, the lowest and the highest.
    p50, p99            seconds from the first byte sent to the last one received, over the answers of all rounds.
    answers             how many there were.
    client              the largest share of a processor that the load took in a round.
    """

    rate: float
    least: float
    most: float
    p50: float
    p99: float
    answers: int
    client: float

    @classmethod
    def of(cls, rounds: Sequence[Measured]) -> Self:
        rates = [measured.rate for measured in rounds]
        latencies = np.concatenate([measured.latencies for measured in rounds])
        return cls(
            rate=statistics.median(rates),
            least=min(rates),
            most=max(rates),
            p50=float(np.quantile(latencies, 0.5)),
            p99=float(np.quantile(latencies, 0.99)),
            answers=latencies.size,
            client=max(measured.client for measured in rounds),
        )
