"""What is evaluated: a sample, soft labels, counts or groups, once for tables, for queries and for JSON bodies.

Knows names of columns and parameters; nothing of tables, nor of what is valid.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Input:
    """One kind of evaluation.

    needs    its columns: a table of a sample has all of these, one of counts or groups at least one of them.
    may      its other columns.
    named    those that a table has only if a parameter names them.
    options  what the labels and the scores mean.
    inside   the object of a document that holds the columns; empty if they are fields of the document.
    own      the options that this object holds.
    """

    needs: tuple[str, ...]
    may: tuple[str, ...]
    options: tuple[str, ...] = ("lower_is_positive",)
    inside: str = ""
    own: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All its columns."""
        return (*self.needs, *self.may, *self.named)


MEANING = ("positive_label", "lower_is_positive")
TOTALS = ("positives", "negatives")
"""Totals of counts; for a table of groups, the names of its columns."""

CLOSED_ENDS = "closed"
"""Which ends of a group belong to it."""

SOFT_LABELS = "soft_labels"
"""The column of soft labels."""

BASELINE = "baseline_scores"
"""The column of a baseline's scores; its labels and weights are the table's."""

SLICES = "slices"
FOLDS = "folds"
"""The columns that define slices."""

IDS = "ids"
"""The column that names rows."""

CLUSTERS = "clusters"
"""The column that says which rows belong together."""

PLAIN = Input(("scores", "labels"), ("weights",), MEANING, named=(IDS,))
SAMPLE = Input(("scores", "labels"), ("weights",), MEANING, named=(IDS, CLUSTERS))
SOFT = Input(("scores", SOFT_LABELS), ("weights",))
PAIRED = Input(("scores", "labels"), ("weights", BASELINE), MEANING, named=(IDS, CLUSTERS))
CLASSES = Input(("scores", "labels"), ("weights",), named=(CLUSTERS,))
COUNTS = Input(("tp", "fp"), ("fn", "tn", "threshold"), inside="counts", own=TOTALS)
GROUPS = Input(
    ("score", "score_from", "score_to"),
    (*TOTALS, "positives_squared", "negatives_squared"),
    inside="groups",
    own=(CLOSED_ENDS,),
)

SAMPLE_COLUMNS, COUNTS_COLUMNS = PLAIN.columns, COUNTS.columns
GROUP_ENDS, GROUP_MASSES = GROUPS.needs, GROUPS.may
GROUPS_COLUMNS = tuple(name for name in GROUPS.columns if name not in TOTALS)
"""The columns of groups besides those called like totals."""

COLUMN_PARAMETERS = (*SAMPLE_COLUMNS, CLUSTERS, SOFT_LABELS, BASELINE, SLICES, *COUNTS_COLUMNS, *GROUPS_COLUMNS)
"""Parameters that name columns of a table."""

CSV_PARAMETERS = ("delimiter", "decimal", "escape", "header")
"""Parameters of CSV."""

MISSING = "missing"
"""What happens to a row with an empty cell in a column that is used."""

HOW_TO_READ = (*CSV_PARAMETERS, MISSING)
OF_ONE_EVALUATION = (
    *(*SAMPLE_COLUMNS, CLUSTERS, *COUNTS_COLUMNS, *GROUPS_COLUMNS),
    *(*TOTALS, *MEANING, CLOSED_ENDS, *HOW_TO_READ),
)
"""The parameters that say how a table that is one evaluation is read."""

PICTURE_PARAMETERS = ("chart", "side", "theme", "title", "mark", "scale")
"""The query parameters that go with a picture, whatever the body is."""

DRAWS = ("charts", "side", "theme", "title", "mark")
"""Those of pictures within an answer."""
