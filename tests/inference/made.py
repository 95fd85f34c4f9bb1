"""Strata to resample, and their examples one by one."""

from __future__ import annotations

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.sample import Sample
from service.inference.resampled import RESAMPLED_AREAS
from service.inference.strata import Strata, Stratum, paired_strata, strata
from tests import reference_bootstrap
from tests.support.strategies import Data

AREA_STATISTICS = {area: area for area in RESAMPLED_AREAS}


def strata_of(sample: Sample | Counts) -> Strata:
    return strata(sample, ConfusionTable.of(sample))


def paired(first: Sample, second: Sample) -> Strata:
    return paired_strata((first, second), (ConfusionTable.of(first), ConfusionTable.of(second)))


def pair_of(data: tuple[Data, Data]) -> Strata:
    return paired(data[0].sample(), data[1].sample())


def made(size: int, share: float = 0.5, levels: int | None = None, seed: int = 1, *, weights: bool = False) -> Sample:
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(size) < share * size)
    scores = random.normal(1.5 * labels, 1)
    scores = scores if levels is None else np.round(scores * levels) / levels
    return Sample(scores, labels, random.random(size) + 0.1 if weights else None)


def listed(stratum: Stratum, evaluation: int, kinds: np.ndarray | None) -> list[reference_bootstrap.Example]:
    """Whatever has a count, as (row, weight)."""
    weights = np.ones(stratum.examples.size) if stratum.weights is None else stratum.weights
    rows = stratum.rows[evaluation]
    kinds = np.arange(rows.size) if kinds is None else kinds
    return [(int(rows[kind]), float(weights[kind])) for kind in kinds]
