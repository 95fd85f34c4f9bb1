"""Which column of scores belongs to which label: by name, as labels are compared, or by what all names share.

.pred_cat, .pred_dog  are  cat, dog,  if these are the labels
"""

import os
from collections.abc import Collection, Iterator, Sequence

from service.curves.clock import in_time
from service.curves.evaluation import CurvesWarning
from service.wire.columns import shown
from service.wire.spellings import as_number, as_text, as_truth, unquoted


def matched(labels: Sequence[object], names: Sequence[str]) -> list[int | None]:
    """The place of each label's class among the names: 3 means the class "3", and so do 3.0 and the text 3.0."""
    for read in (as_text, as_number, as_truth):
        places = {read(name): place for place, name in enumerate(names)}
        if None in places or len(places) < len(names):  # names that this does not tell apart
            continue
        if all(read(label) in places for label in labels):  # stops at the first that fits no class
            return [places[read(label)] for label in labels]
    exact = {name: place for place, name in enumerate(names)}
    return [exact.get(as_text(label)) for label in labels]


def without_affixes(labels: Collection[object], names: Sequence[str]) -> tuple[list[str], CurvesWarning] | None:
    """The names without a prefix and a suffix that all of them share, if exactly one such choice fits all labels."""
    if len(labels) > len(names):
        return None
    texts, numerals = {as_text(label) for label in labels}, {as_text(unquoted(label)) for label in labels}
    choices = [(affixes, short, {*short}) for affixes, short in _shortened(names)]
    fitting = [choice for choice in choices if texts <= choice[2]] or [each for each in choices if numerals <= each[2]]
    if len(fitting) != 1:
        return None
    ((affixes, short, _),) = fitting
    shared = " and ".join(f"the {what} {shown(text)}" for what, text in affixes.items() if text)
    detail = f"The names of the scores share {shared}, which the labels lack and which is left out: "
    detail += f"{shown(names[0])} has the scores for the class {shown(short[0])}."
    return short, CurvesWarning("renamed_classes", detail)


def _shortened(names: Sequence[str]) -> Iterator[tuple[dict[str, str], list[str]]]:
    """All ways of dropping a shared beginning and a shared end, of which at least one is not empty."""
    prefix = os.path.commonprefix([*names])  # noqa: RUF071  # of names, not of paths
    suffix = os.path.commonprefix([name[::-1] for name in names])[::-1]  # noqa: RUF071  # likewise
    room = min(map(len, names))
    for first in in_time(range(len(prefix) + 1)):
        for last in range(min(len(suffix), room - first - 1) + 1):
            short = [name[first : len(name) - last] for name in names]
            if first + last and len(set(short)) == len(short):
                yield {"prefix": prefix[:first], "suffix": suffix[len(suffix) - last :]}, short
