"""How often each example occurs in a bootstrap resample of whole clusters.

    1. Clusters with positives only, with negatives only and with both are drawn apart, each as many as there are.
    2. A kind of example is drawn as often as its cluster.
    3. Each class is scaled to what it weighs in the data: curves are those at the prevalence of these data.

Knows strata with clusters, and draws. Source: Davison & Hinkley 1997, "Bootstrap methods and their application",
section 3.8.
"""

import numpy as np

from service.curves.arrays import FloatArray
from service.inference.draws import draws
from service.inference.strata import Strata


class ClusterDraws:
    """The counts of both classes, resample after resample."""

    def __init__(self, strata: Strata, seed: int, stream: int) -> None:
        assert strata.clustered is not None  # noqa: S101  # only clusters are drawn here
        self._classes = [*zip(strata.classes, strata.clustered, strict=True)]
        self._count = 1 + max(int(each.of_kinds.max()) for each in strata.clustered)
        positive, negative = (np.bincount(each.of_kinds, minlength=self._count) > 0 for each in strata.clustered)
        self._kinds = []
        for number, members in enumerate((positive & ~negative, negative & ~positive, positive & negative)):
            numbers = np.flatnonzero(members)
            if numbers.size:
                own = np.random.SeedSequence(seed, spawn_key=(stream, number))
                self._kinds.append((numbers, draws(np.ones(numbers.size), own)[1]))

    def counts(self, resamples: int) -> list[FloatArray]:
        """Counts of positives and of negatives in the next b resamples, (b, kinds) each; both are in every resample."""
        drawn = np.zeros((resamples, self._count))
        for numbers, each in self._kinds:
            drawn[:, numbers] = each.counts(resamples)
        found = []
        for stratum, clusters in self._classes:
            counts = drawn[:, clusters.of_kinds] * stratum.examples
            masses = counts @ (np.ones(stratum.examples.size) if stratum.weights is None else stratum.weights)
            found.append(counts * (float(stratum.masses.sum()) / masses)[:, np.newaxis])
        return found
