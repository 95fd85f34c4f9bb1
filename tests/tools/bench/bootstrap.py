"""A stratified bootstrap of the ROC area of a sample of distinct scores: ours, and scipy's with two statistics."""

from dataclasses import dataclass

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.sample import Sample
from service.inference.bootstrap import percentile_ends, replicates
from service.inference.draws import draws
from service.inference.strata import strata
from tests.tools.bench import agreement

LEVEL = 0.95
BATCH = 100
"""How many resamples scipy makes at a time for a vectorised statistic; 20, or all at once, are slower."""

FAR = 23.0
"""Six standard errors of the distance between two bootstraps' ends, as a share of the replicates' spread, times √B."""


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """One sample, and how often it is resampled."""

    sample: Sample
    resamples: int

    def ours(self) -> tuple[np.ndarray, tuple[float, float]]:
        """The replicates and the ends of the percentile interval, starting from the sample."""
        table = ConfusionTable.of(self.sample)
        values = replicates(strata(self.sample, table), {"roc": "roc"}, self.resamples, seed=0)["roc"][0]
        return values, percentile_ends(values, LEVEL)

    def scipys(self) -> tuple[np.ndarray, tuple[float, float]]:
        """The same from scipy, each resample's area being scikit-learn's."""
        from scipy import stats
        from sklearn.metrics import roc_auc_score

        both = self._classes()
        labels = np.repeat([1, 0], [column.size for column in both])
        found = stats.bootstrap(
            both,
            lambda positives, negatives: roc_auc_score(labels, np.concatenate((positives, negatives))),
            n_resamples=self.resamples,
            vectorized=False,
            method="percentile",
            confidence_level=LEVEL,
            rng=np.random.default_rng(0),
        )
        return found.bootstrap_distribution, tuple(found.confidence_interval)

    def vectorised(self, batch: int = BATCH) -> tuple[np.ndarray, tuple[float, float]]:
        """The same from scipy with a statistic of many resamples at once, the fastest that we could write.

        It sorts integers in place, twice the rank of a score, plus 1 for a negative; it needs distinct scores.
        """
        from scipy import stats

        ranks = 2 * self.sample.scores.argsort().argsort().astype(np.int32)
        positives, negatives = ranks[self.sample.labels], ranks[~self.sample.labels] + 1
        found = stats.bootstrap(
            (positives, negatives),
            _areas,
            n_resamples=self.resamples,
            batch=batch,
            vectorized=True,
            method="percentile",
            confidence_level=LEVEL,
            rng=np.random.default_rng(0),
        )
        return found.bootstrap_distribution, tuple(found.confidence_interval)

    def check(self) -> int:
        """Check our first replicates against their resamples' areas, scipy's two against each other, and the ends."""
        ours, ends = self.ours()
        scipys, scipys_ends = self.scipys()
        vectorised, _ = self.vectorised(batch=self.resamples)  # in one batch, it draws the same resamples as the other
        compared = agreement.near(ours[:20], self._rebuilt(20)[: ours.size]) + agreement.near(scipys, vectorised)
        np.testing.assert_allclose(ends, scipys_ends, rtol=0, atol=FAR / np.sqrt(self.resamples) * scipys.std())
        return compared + len(ends)

    def _rebuilt(self, resamples: int) -> list[float]:
        """scikit-learn's areas of our first resamples, whose examples are drawn in order of falling score."""
        from sklearn.metrics import roc_auc_score

        drawn = []
        for number, column in enumerate(self._classes()):
            _, counts = draws(np.ones(column.size), np.random.SeedSequence(0, spawn_key=(0, number)))
            falling = np.sort(column)[::-1]
            drawn.append([np.repeat(falling, row) for row in counts.counts(resamples)])
        labels = np.sort(self.sample.labels)[::-1]
        return [roc_auc_score(labels, np.concatenate(both)) for both in zip(*drawn, strict=True)]

    def _classes(self) -> tuple[np.ndarray, np.ndarray]:
        return self.sample.scores[self.sample.labels], self.sample.scores[~self.sample.labels]


def _areas(positives: np.ndarray, negatives: np.ndarray, axis: int = -1) -> np.ndarray:
    """Σ over the negatives of the positives above, by sorting; the last bit marks a negative."""
    both = np.concatenate((positives, negatives), axis=axis)
    both.sort(axis=axis)
    both &= 1
    below = np.cumsum(both, axis=axis, dtype=np.int32)
    wins = below.sum(axis=axis, dtype=np.float64) - np.einsum("...i,...i->...", below, both, dtype=np.float64)
    return wins / (positives.shape[axis] * negatives.shape[axis])
