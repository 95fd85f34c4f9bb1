"""Which rows of two evaluations belong together: the same examples row by row, or the same clusters.

Knows samples; nothing of their statistics.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from service.curves.bounds import Arranged
from service.curves.clusters import numbered_together
from service.curves.confusion import Evaluation
from service.curves.errors import DomainError, NotPaired, counted_rows
from service.curves.sample import Sample


def with_common_clusters(evaluations: Sequence[Evaluation | Arranged], *, paired: bool) -> list[Evaluation | Arranged]:
    """Number the clusters of all samples together; if they are paired, those without any get those of another."""
    columns = enumerate(each.clusters if isinstance(each, Sample) else None for each in evaluations)
    given = {place: clusters for place, clusters in columns if clusters is not None}
    numbered = dict(zip(given, numbered_together([*given.values()]), strict=True))
    if paired and numbered:
        numbered = dict.fromkeys(range(len(evaluations)), next(iter(numbered.values()))) | numbered
    return [
        replace(each, clusters=numbered[place]) if isinstance(each, Sample) and place in numbered else each
        for place, each in enumerate(evaluations)
    ]


def may_have_common_clusters(evaluations: Sequence[Evaluation | Arranged]) -> bool:
    """Whether both are samples with clusters, of which one is in both or has several rows."""
    numbers = [each.clusters.numbers for each in evaluations if isinstance(each, Sample) and each.clusters is not None]
    return len(numbers) > 1 and bool((np.bincount(np.concatenate(numbers)) > 1).any())


def check_paired(evaluation: Evaluation | Arranged, baseline: Evaluation | Arranged | None) -> None:
    """Raise NotPaired unless both are samples with the same labels, weights and, if given, clusters, row by row."""
    if not isinstance(evaluation, Sample) or not isinstance(baseline, Sample):
        raise NotPaired("Counts and groups do not identify single examples, so they cannot be paired.", "paired")
    if evaluation.rows != baseline.rows:
        lengths = f"The evaluation has {counted_rows(evaluation.rows)} and the baseline {baseline.rows}"
        detail = f"{lengths}, so they cannot be paired."
        raise NotPaired(detail, "paired")
    ours, theirs = (np.ones(1) if each.weights is None else each.weights for each in (evaluation, baseline))
    differences = [("labels", evaluation.labels != baseline.labels), ("weights", ours != theirs)]
    if evaluation.clusters is not None and baseline.clusters is not None:
        one, other = numbered_together([evaluation.clusters, baseline.clusters])
        differences.append(("clusters", one.numbers != other.numbers))
    for name, differs in differences:
        rows = np.flatnonzero(differs)
        if rows.size:
            with blaming_baseline():
                detail = (
                    f"Row {rows[0]}, counting from 0, has different {name} in the two evaluations, so they cannot "
                    "be paired."
                )
                raise NotPaired(detail, name, int(rows[0]))


@contextmanager
def blaming_baseline() -> Iterator[None]:
    """Tag errors raised in the block as about the baseline."""
    try:
        yield
    except DomainError as error:
        error.evaluation = "baseline"
        raise
