"""Guesses from names which columns of a table, or fields of a JSON body, stand for missing ones.

Used in messages and a warning only; no result depends on it.
"""

from urllib.parse import quote_plus

from service.curves.evaluation import CurvesWarning
from service.wire.usual_names import likely


def likely_counts_or_groups(header: list[str]) -> dict[str, str]:
    """Guess which names stand for the columns of counts or of groups, if there are enough: {column: name}."""
    counts = likely(header, ["tp", "fp", "fn", "tn", "threshold"])
    if {"tp", "fp"} <= counts.keys():
        return _renamed(counts)
    masses = likely(header, ["positives", "negatives"])
    ends = likely(header, ["score"]) or likely(header, ["score_from", "score_to"])
    return _renamed(ends | masses) if len(masses) > 1 and ("score" in ends or len(ends) > 1) else {}


def _renamed(found: dict[str, str]) -> dict[str, str]:
    return {key: name for key, name in found.items() if key != name}


def unused_threshold(header: list[str]) -> dict[str, CurvesWarning]:
    """Warn of a column that looks like the threshold of counts by another name: {column: warning}."""
    detail = "The column {!r} is not used. If it holds the thresholds, give its name as threshold."
    return {
        name: CurvesWarning("unused_threshold", detail.format(name)) for name in likely(header, ["threshold"]).values()
    }


def unused_weights(header: list[str]) -> dict[str, CurvesWarning]:
    """Warn of a column that looks like weights by another name, if there are no `weights`: {column: warning}.

    Other columns are ignored on purpose; weights change every number.
    """
    might_be = [name for name in header if "w" in name or "W" in name]  # most tables have none
    if not might_be or "weights" in header:
        return {}
    detail = "The column {!r} is not used. If it holds the weights of the examples, give its name as weights."
    found = likely(might_be, ["weights"]).values()
    return {name: CurvesWarning("unused_weights", detail.format(name)) for name in found}


_USUAL_CLUSTERS = ("patient", "patient_id", "user", "user_id", "subject", "session", "document", "group")
"""What columns are called that say which rows belong together."""


def likely_clusters(header: list[str]) -> list[str]:
    """The columns that seem to say which rows belong together, by their names."""
    return [name for name in header if name.lower() in _USUAL_CLUSTERS and header.count(name) == 1]


def unused_clusters(name: str) -> CurvesWarning:
    """Warn of such a column that repeats its values and is not used."""
    detail = (
        f"The column {name!r} repeats its values, and is not used. If rows with the same value are not independent, "
        "give its name as clusters; otherwise intervals are too narrow."
    )
    return CurvesWarning("unused_clusters", detail)


def did_you_mean(found: dict[str, str]) -> str:
    """Suggest the parameters that name the missing columns; empty if no name is recognised."""
    parameters = "&".join(f"{key}={quote_plus(name)}" for key, name in found.items())
    return f" Did you mean {parameters}?" if parameters else ""
